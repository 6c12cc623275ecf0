import { iriText, literalText } from '../../rdf/ntriples.ts'
import { DCTERMS, HYDRA, RDF, VOID, XSD } from '../../rdf/vocab.ts'
import type { SitePage } from '../../site/frame.ts'
import { html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { fragmentsAddress, listAddress } from './address.ts'
import { expandedDocument } from './jsonld.ts'
import { dataBlock, fragmentTermText } from './page.ts'

/** A dataset in the list of all. */
export interface ListedDataset {
  readonly id: string
  readonly title: string
  readonly description: string | null
  readonly triples: number
}

/** All datasets with fragments as N-Triples: members of one collection, each with its address and size. */
export function listTriples(base: string, datasets: readonly ListedDataset[]): string {
  const lines: string[] = []
  const t = (subject: string, predicate: string, object: string) =>
    lines.push(`${subject} <${predicate}> ${object} .\n`)
  const all = iriText(`${listAddress(base)}#dataset`)
  t(all, RDF.type, `<${VOID.Dataset}>`)
  t(all, RDF.type, `<${HYDRA.Collection}>`)
  t(all, DCTERMS.title, literalText('Triple pattern fragments of all datasets'))
  for (const { id, title, description, triples } of datasets) {
    const address = fragmentsAddress(base, id)
    const one = iriText(`${address}#dataset`)
    t(all, HYDRA.member, one)
    t(all, VOID.subset, one)
    t(one, RDF.type, `<${VOID.Dataset}>`)
    t(one, RDF.type, `<${HYDRA.Collection}>`)
    t(one, VOID.subset, iriText(address))
    t(one, DCTERMS.title, literalText(title))
    t(one, DCTERMS.identifier, literalText(id))
    if (description !== null) t(one, DCTERMS.description, literalText(description))
    t(one, VOID.uriLookupEndpoint, iriText(`${address}?subject=`))
    t(one, VOID.triples, literalText(String(triples), XSD.integer))
  }
  return lines.join('')
}

/**
 * The list as an HTML page.
 *
 * @param foreign parameters that links keep, as in the address
 */
export function listPage(
  pageContext: PageContext,
  datasets: readonly ListedDataset[],
  foreign: readonly string[],
): SitePage {
  const { t, site } = pageContext
  const query = foreign.length === 0 ? '' : `?${foreign.join('&')}`
  const rows = datasets.map(
    ({ id, title, description, triples }) =>
      html`<tr><td><a href="${fragmentsAddress(site.base, id)}${query}">${title}</a></td><td>${shortText(fragmentTermText(description))}</td><td class="number">${pageContext.number(triples)}</td></tr>
`,
  )
  return {
    title: t('Triple pattern fragments'),
    part: 'developers',
    isWide: true,
    head: dataBlock(expandedDocument([], null, listTriples(site.base, datasets))),
    body: html`<h1>${t('Triple pattern fragments')}</h1>
<p>${t.many('{n} dataset whose triples can be asked for one pattern at a time.', '{n} datasets whose triples can be asked for one pattern at a time.', datasets.length)}</p>
<section class="scroll" tabindex="0" aria-label="${t('Datasets')}"><table><thead><tr><th scope="col">${t('Dataset')}</th><th scope="col">${t('Description')}</th><th scope="col" class="number">${t('Triples')}</th></tr></thead><tbody>
${rows}</tbody></table></section>`,
  }
}

const MAX_LENGTH = 240

function shortText(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1).replace(/\s+\S*$/, '')}…`
}
