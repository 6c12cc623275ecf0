import { localTarget, parseQueryValue } from '../../http/query-string.ts'

/** Address of the list of all datasets with fragments. */
export function listAddress(base: string): string {
  return `${base}/api/tpf`
}

/** Canonical address of a dataset's fragments: what clients are given, and what the search form expands. */
export function fragmentsAddress(base: string, dataset: string): string {
  return `${listAddress(base)}/${encodeURIComponent(dataset)}`
}

/** Address of the quad pattern fragments of the portal, in which each dataset is a graph. */
export function portalQuadsAddress(base: string): string {
  return `${base}/api/qpf`
}

/** Characters that are illegal in an IRI, but legal in a request line: also a percent sign without two digits (RFC 3987, section 2.2). */
const ILLEGAL = /%(?![0-9a-f]{2})|[^!$%&'()*+,\-./0-9:;=?@A-Z_a-z~\u{a0}-\u{10ffff}]/giu

/** The IRI of the page that is requested: public address and raw request target, byte for byte as far as IRIs allow. */
export function pageIri(base: string, target: string): string {
  return base + localTarget(target).replace(ILLEGAL, encodeURIComponent)
}

/** The IRI of the fragment that a page belongs to: the page's without its `page` parameter. */
export function fragmentIri(page: string): string {
  const at = page.indexOf('?')
  if (at < 0) return page
  const cached = partsOf(page).filter(part => nameOf(part) !== 'page')
  return cached.length === 0 ? page.slice(0, at) : `${page.slice(0, at)}?${cached.join('&')}`
}

/** The IRI of one page of a fragment. */
export function numberedPage(fragment: string, page: number): string {
  return `${fragment}${fragment.includes('?') ? '&' : '?'}page=${page}`
}

/**
 * The parameters of a page's IRI, byte for byte, that are not part of the pattern: an API key, for example. The form
 * repeats them, so that clients that follow it send them again.
 *
 * @param own names of the parameters of the pattern
 */
export function foreignParameters(page: string, own: ReadonlySet<string>): readonly string[] {
  return partsOf(page).filter(part => part !== '' && !own.has(nameOf(part)))
}

/**
 * The template of a dataset's fragments (RFC 6570), with parameters that every address keeps.
 *
 * @param places the parameters of a pattern
 */
export function fragmentsTemplate(
  address: string,
  places: readonly string[],
  foreign: readonly string[],
): string {
  const [before, after] = [places.join(','), foreign.join('&')]
  return after === '' ? `${address}{?${before}}` : `${address}?${after}{&${before}}`
}

function partsOf(iri: string): readonly string[] {
  const at = iri.indexOf('?')
  return at < 0 ? [] : iri.slice(at + 1).split('&')
}

/** The name of a parameter, as query strings are read: a percent sign without two digits is literal. */
function nameOf(part: string): string {
  const name = part.split('=', 1)[0] ?? ''
  return parseQueryValue(name) ?? name
}
