/** Canonical address of a dataset's fragments: what clients are told, and what the search form expands. */
export function fragmentsAddress(base: string, dataset: string): string {
  return `${base}/api/tpf/${encodeURIComponent(dataset)}`
}

/** Characters that an IRI may not hold, though a request line may. */
const ILLEGAL = /[^!#$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~\u{a0}-\u{10ffff}]/gu

/** The IRI of the page that was asked for: public address and raw request target, byte for byte as far as IRIs allow. */
export function pageIri(base: string, target: string): string {
  return (
    new URL(base).origin +
    (target.startsWith('/') ? target : `/${target}`).replace(ILLEGAL, encodeURIComponent)
  )
}

/** The IRI of the fragment that a page belongs to: the page's without its `page` parameter. */
export function fragmentIri(page: string): string {
  const at = page.indexOf('?')
  if (at < 0) return page
  const kept = page
    .slice(at + 1)
    .split('&')
    .filter(part => !/^page(=|$)/.test(part))
  return kept.length === 0 ? page.slice(0, at) : `${page.slice(0, at)}?${kept.join('&')}`
}

/** The IRI of one page of a fragment. */
export function numberedPage(fragment: string, page: number): string {
  return `${fragment}${fragment.includes('?') ? '&' : '?'}page=${page}`
}
