import { iriText, literalText } from '../../rdf/ntriples.ts'
import { DCTERMS, HYDRA, RDF, VOID, XSD } from '../../rdf/vocab.ts'
import type { SitePage } from '../../site/frame.ts'
import { html } from '../../site/html.ts'
import type { Visit } from '../../site/page-context.ts'
import { fragmentsAddress, listAddress } from './address.ts'
import { expandedDocument } from './jsonld.ts'
import { dataBlock, plainText } from './page.ts'

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
  const say = (subject: string, predicate: string, object: string) =>
    lines.push(`${subject} <${predicate}> ${object} .\n`)
  const all = iriText(`${listAddress(base)}#dataset`)
  say(all, RDF.type, `<${VOID.Dataset}>`)
  say(all, RDF.type, `<${HYDRA.Collection}>`)
  say(all, DCTERMS.title, literalText('Triple pattern fragments of all datasets'))
  for (const { id, title, description, triples } of datasets) {
    const address = fragmentsAddress(base, id)
    const one = iriText(`${address}#dataset`)
    say(all, HYDRA.member, one)
    say(all, VOID.subset, one)
    say(one, RDF.type, `<${VOID.Dataset}>`)
    say(one, RDF.type, `<${HYDRA.Collection}>`)
    say(one, VOID.subset, iriText(address))
    say(one, DCTERMS.title, literalText(title))
    say(one, DCTERMS.identifier, literalText(id))
    if (description !== null) say(one, DCTERMS.description, literalText(description))
    say(one, VOID.uriLookupEndpoint, iriText(`${address}?subject=`))
    say(one, VOID.triples, literalText(String(triples), XSD.integer))
  }
  return lines.join('')
}

/**
 * The list for people.
 *
 * @param foreign parameters that links keep, as they stood in the address
 */
export function listPage(
  visit: Visit,
  datasets: readonly ListedDataset[],
  foreign: readonly string[],
): SitePage {
  const { say, site } = visit
  const query = foreign.length === 0 ? '' : `?${foreign.join('&')}`
  const rows = datasets.map(
    ({ id, title, description, triples }) =>
      html`<tr><td><a href="${fragmentsAddress(site.base, id)}${query}">${title}</a></td><td>${shortText(plainText(description))}</td><td class="number">${visit.number(triples)}</td></tr>
`,
  )
  return {
    title: say('Triple pattern fragments'),
    part: 'developers',
    isWide: true,
    head: dataBlock(expandedDocument([], null, listTriples(site.base, datasets))),
    body: html`<h1>${say('Triple pattern fragments')}</h1>
<p>${say.many('{n} dataset whose triples can be asked for one pattern at a time.', '{n} datasets whose triples can be asked for one pattern at a time.', datasets.length)}</p>
<section class="scroll" tabindex="0" aria-label="${say('Datasets')}"><table><thead><tr><th scope="col">${say('Dataset')}</th><th scope="col">${say('Description')}</th><th scope="col" class="number">${say('Triples')}</th></tr></thead><tbody>
${rows}</tbody></table></section>`,
  }
}

const LONGEST = 240

function shortText(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1).replace(/\s+\S*$/, '')}…`
}
