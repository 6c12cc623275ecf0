import { parseTriples } from '../../rdf/ntriples-reader.ts'
import { type Html, html } from '../../site/html.ts'
import { asciiAddress } from './address.ts'
import type { LinkSelection } from './links.ts'
import type { ValueWriter } from './values.ts'
import type { ResourcePage } from './view.ts'

/** The resources that link to the thing, by dataset and predicate: some of each kind with their number, or a page of all. */
export function backlinks(
  { pageContext, gathered, requested, document, suffix }: ResourcePage,
  values: ValueWriter,
): Html | '' {
  const { groups, paging, links, thing } = gathered
  if (groups.length === 0) return ''
  const { t, number, href } = pageContext
  const address = suffix === null ? document : `${document}.${suffix.suffix}`
  const pageAddress = (page: number, { predicate, from }: LinkSelection) =>
    `${asciiAddress(address)}?inverse=${page}${predicate === null ? '' : `&predicate=${encodeURIComponent(predicate)}`}${
      from === null ? '' : `&from=${encodeURIComponent(from)}`
    }`
  const isOwn = groups.every(({ source }) => source.id === thing.dataset.id)
  const totals = new Map<string, number>()
  for (const { source, count } of groups) totals.set(source.id, (totals.get(source.id) ?? 0) + count)
  const shown = links.filter(({ triples }) => triples !== '')
  const rows = shown.map(({ group, triples }, at) => {
    const { source, predicate, count } = group
    const subjects = [...parseTriples(triples)].map(({ subject }) => subject)
    const selection = { predicate, from: isOwn ? null : source.id }
    const more =
      requested.inverse === null && count > subjects.length
        ? html`<p class="more"><a href="${pageAddress(1, selection)}">${t('All {n}', { n: count })}</a></p>`
        : ''
    const isFirst = !isOwn && shown[at - 1]?.group.source.id !== source.id
    const heading = isFirst
      ? html`<tr class="dataset"><th scope="rowgroup" colspan="2"><a href="${href(`/explore/dataset/${encodeURIComponent(source.id)}/`)}">${source.title}</a> <a class="number-badge" href="${pageAddress(1, { predicate: null, from: source.id })}">${number(totals.get(source.id) ?? 0)}</a></th></tr>
`
      : ''
    return html`${heading}<tr><th scope="row"><span aria-hidden="true">←</span> ${values.predicate(predicate)} <span class="number-badge">${number(count)}</span></th>
<td>${values.list(subjects, predicate, 0, paging.size)}${more}</td></tr>
`
  })
  const hiddenGroups = requested.inverse === null ? groups.length - shown.length : 0
  const whole: LinkSelection = { predicate: null, from: null }
  return html`<section id="links"><h2>${t('Linked from')} <span class="number-badge">${number(paging.total)}</span></h2><table class="properties"><tbody>
${rows}</tbody></table>
${hiddenGroups > 0 ? html`<p class="more"><a href="${pageAddress(1, whole)}">${t.many('{n} more kind of links', '{n} more kinds of links', hiddenGroups)}</a></p>` : ''}${
  requested.inverse === null
    ? ''
    : steps({ pageContext, gathered, requested }, pageAddress, asciiAddress(address))
}</section>
`
}

/** The navigation through the pages of links, and back. */
function steps(
  {
    pageContext: { t },
    gathered: { paging },
    requested,
  }: Pick<ResourcePage, 'pageContext' | 'gathered' | 'requested'>,
  pageAddress: (page: number, selection: LinkSelection) => string,
  whole: string,
): Html {
  const last = Math.max(1, Math.ceil(paging.total / paging.size))
  const { page } = paging
  const links = [
    { rel: 'first', name: t('First'), to: 1, isThere: page > 1 },
    { rel: 'prev', name: t('Previous'), to: page - 1, isThere: page > 1 },
    { rel: 'next', name: t('Next'), to: page + 1, isThere: page < last },
    { rel: 'last', name: t('Last'), to: last, isThere: page < last },
  ].filter(({ isThere }) => isThere)
  return html`<p class="take-away">${t('Page {page} of {pages}', { page, pages: last })} ${links.map(
    ({ rel, name, to }) => html`<a rel="${rel}" href="${pageAddress(to, requested)}">${name}</a> `,
  )}<a href="${whole}">${t('Back to the whole')}</a></p>`
}
