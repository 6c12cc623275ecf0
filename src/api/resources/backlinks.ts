import { type Html, html } from '../../http/html.ts'
import { parseTriples } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import { asciiAddress } from './address.ts'
import type { ValueWriter } from './values.ts'
import type { Page } from './view.ts'

/** What links to the thing: some of each kind with their number, or one page of all. */
export function backlinks(
  { visit, gathered, asked, document, suffix }: Page,
  values: ValueWriter,
): Html | '' {
  const { groups, paging } = gathered
  if (groups.length === 0) return ''
  const { say, number } = visit
  const address = suffix === null ? document : `${document}.${suffix.suffix}`
  const pageAddress = (page: number, predicate: string | null) =>
    `${asciiAddress(address)}?inverse=${page}${predicate === null ? '' : `&predicate=${encodeURIComponent(predicate)}`}`
  const listed = new Map<string, Term[]>()
  for (const { subject, predicate } of parseTriples(gathered.inverse))
    listed.set(predicate.value, [...(listed.get(predicate.value) ?? []), subject])
  const shown = groups.filter(({ predicate }) => listed.has(predicate))
  const rows = shown.map(({ predicate, count }) => {
    const subjects = listed.get(predicate) ?? []
    const more =
      asked.inverse === null && count > subjects.length
        ? html`<p class="more"><a href="${pageAddress(1, predicate)}">${say('All {n}', { n: count })}</a></p>`
        : ''
    return html`<tr><th scope="row"><span aria-hidden="true">←</span> ${values.predicate(predicate)} <span class="number-badge">${number(count)}</span></th>
<td>${values.list(subjects, predicate, 0, paging.size)}${more}</td></tr>
`
  })
  const hidden = asked.inverse === null ? groups.length - shown.length : 0
  return html`<section id="links"><h2>${say('Linked from')} <span class="number-badge">${number(paging.total)}</span></h2><table class="properties"><tbody>
${rows}</tbody></table>
${hidden > 0 ? html`<p class="more"><a href="${pageAddress(1, null)}">${say.many('{n} more kind of links', '{n} more kinds of links', hidden)}</a></p>` : ''}${
  asked.inverse === null ? '' : steps({ visit, gathered, asked }, pageAddress, asciiAddress(address))
}</section>
`
}

/** The way through the pages of links, and back. */
function steps(
  { visit: { say }, gathered: { paging }, asked }: Pick<Page, 'visit' | 'gathered' | 'asked'>,
  pageAddress: (page: number, predicate: string | null) => string,
  whole: string,
): Html {
  const last = Math.max(1, Math.ceil(paging.total / paging.size))
  const { page } = paging
  const links = [
    { rel: 'first', name: say('First'), to: 1, isThere: page > 1 },
    { rel: 'prev', name: say('Previous'), to: page - 1, isThere: page > 1 },
    { rel: 'next', name: say('Next'), to: page + 1, isThere: page < last },
    { rel: 'last', name: say('Last'), to: last, isThere: page < last },
  ].filter(({ isThere }) => isThere)
  return html`<p class="take-away">${say('Page {page} of {pages}', { page, pages: last })} ${links.map(
    ({ rel, name, to }) => html`<a rel="${rel}" href="${pageAddress(to, asked.predicate)}">${name}</a> `,
  )}<a href="${whole}">${say('Back to the whole')}</a></p>`
}
