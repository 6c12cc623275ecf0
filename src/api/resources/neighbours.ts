import { memoised } from '../../model/memoised.ts'
import { parseTriples, type Triple } from '../../rdf/ntriples-reader.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { asciiAddress } from './address.ts'
import { type Gathered, lastSegment } from './document.ts'
import type { LinkSelection } from './links.ts'
import { isAddress, type ResourcePage, type ValueWriter } from './values.ts'

/** Maximum resources of each direction in a picture. */
const SHOWN = 8

/** The neighbours of a thing at a distance of one link, the first of each kind of link before the second of any kind. */
export function neighbourhoodOf(
  { thing, title, groups, links: found }: Gathered,
  own: readonly Triple[],
  values: ValueWriter,
): Neighbourhood {
  const isOther = (iri: string) => iri !== thing.iri && isAddress(iri)
  const outgoing = own.flatMap(({ predicate, object }) =>
    object.type === 'iri' && isOther(object.value) ? [{ via: predicate.value, iri: object.value }] : [],
  )
  const triples = found.map(each => each.triples).join('')
  const incoming = [...parseTriples(triples)].flatMap(({ subject, predicate }) =>
    isOther(subject.value) ? [{ via: predicate.value, iri: subject.value }] : [],
  )
  const shownIn = someOfEach(incoming)
  const shownOut = someOfEach(outgoing)
  const labels = [title, ...[...shownIn, ...shownOut].map(({ iri }) => values.label(iri))]
  const neighbour = ({ via, iri }: Link): Neighbour => {
    const label = values.label(iri)
    const isOneOfMany = labels.filter(other => other === label).length > 1
    return {
      address: values.address(iri),
      label: isOneOfMany ? `${label} (${lastSegment(iri)})` : label,
      via: values.predicateLabel(via),
    }
  }
  const links = groups.reduce((sum, { count }) => sum + count, 0)
  return {
    label: title,
    incoming: shownIn.map(neighbour),
    moreIncoming: shownIn.length < SHOWN ? 0 : links - shownIn.length,
    outgoing: shownOut.map(neighbour),
    moreOutgoing: new Set(outgoing.map(({ iri }) => iri)).size - shownOut.length,
  }
}

interface Link {
  readonly via: string
  readonly iri: string
}

/** Some links, each to another resource: the first of each kind, then the second of each, and so on. */
function someOfEach(links: readonly Link[]): readonly Link[] {
  const visible = new Set<string>()
  const kinds = new Map<string, Link[]>()
  for (const link of links) {
    if (visible.has(link.iri)) continue
    visible.add(link.iri)
    memoised(kinds, link.via, () => []).push(link)
  }
  const max = Math.max(0, ...[...kinds.values()].map(({ length }) => length))
  const turns = Array.from({ length: max }, (_, at) =>
    [...kinds.values()].flatMap(kind => kind[at] ?? []),
  ).flat()
  const chosen = new Set(turns.slice(0, SHOWN))
  return [...kinds.values()].flat().filter(link => chosen.has(link))
}

/** A resource at a distance of one link. */
export interface Neighbour {
  readonly address: string
  readonly label: string
  /** Label of the link. */
  readonly via: string
}

/** A resource and its neighbours at a distance of one link. */
interface Neighbourhood {
  readonly label: string
  /** Resources that link to it, and the number of further ones. */
  readonly incoming: readonly Neighbour[]
  readonly moreIncoming: number
  /** Resources that it links to, and the number of further ones. */
  readonly outgoing: readonly Neighbour[]
  readonly moreOutgoing: number
}

/** Dimensions of the picture: as wide as a phone screen, so that its text is not scaled down there. */
const WIDTH = 380
const BOX = 42
const ROW = 50
const MORE = 26
const INDENT = 40
const TRUNK = 16
/** Widths of text that fit into a box, in units of a narrow letter. */
const LABEL = 36
const VIA = 44
const OWN = 38

/**
 * A picture of a resource with what links to it above, and what it links to below. Its boxes are links; the tables of
 * the page have the same content.
 */
export function neighbourhoodPicture(pageContext: PageContext, around: Neighbourhood): Html | '' {
  const { label, incoming, moreIncoming, outgoing, moreOutgoing } = around
  if (incoming.length + outgoing.length === 0) return ''
  const { t } = pageContext
  const above = incoming.length * ROW + (moreIncoming > 0 ? MORE : 0)
  const below = above + BOX
  const first = below + (ROW - BOX)
  const height = first + outgoing.length * ROW + (moreOutgoing > 0 ? MORE : 0)
  const described = t('Resources that {name} is linked with', { name: label })
  const more = (count: number, y: number, target: string) =>
    count === 0
      ? ''
      : html`<a href="${target}"><text class="via" x="${INDENT + 12}" y="${y + 12}">${t.many('{n} more', '{n} more', count)}</text></a>`
  return html`<section class="neighbours"><h2>${t('Neighbourhood')}</h2>
<svg viewBox="0 0 ${WIDTH} ${height}" direction="ltr" role="group" aria-label="${described}">
${incoming.map(
  (each, at) => html`${edgeIn(at * ROW + BOX / 2, above)}${box(each, at * ROW)}
`,
)}${more(moreIncoming, incoming.length * ROW, '#links')}<rect class="own" x="1" y="${above + 1}" width="${WIDTH - 2}" height="${BOX - 2}" rx="8"/><text class="name" x="14" y="${above + 26}">${fitted(label, OWN)}</text>
${outgoing.map(
  (each, at) => html`${edgeOut(below, first + at * ROW + BOX / 2)}${box(each, first + at * ROW)}
`,
)}${more(moreOutgoing, first + outgoing.length * ROW, '#properties')}</svg></section>
`
}

function box({ address, label, via }: Neighbour, y: number): Html {
  return html`<a href="${address}"><rect x="${INDENT}" y="${y + 1}" width="${WIDTH - INDENT - 1}" height="${BOX - 2}" rx="8"/><text class="via" x="${INDENT + 12}" y="${y + 16}">${fitted(via, VIA)}</text><text class="name" x="${INDENT + 12}" y="${y + 33}">${fitted(label, LABEL)}</text></a>`
}

/** From a box down to the top of the middle. */
function edgeIn(y: number, top: number): Html {
  return html`<path d="M${INDENT} ${y}H${TRUNK + 8}Q${TRUNK} ${y} ${TRUNK} ${y + 8}V${top - 4}"/><path class="head" d="M${TRUNK - 4} ${top - 7}h8l-4 7z"/>`
}

/** From the bottom of the middle down to a box. */
function edgeOut(bottom: number, y: number): Html {
  return html`<path d="M${TRUNK} ${bottom}V${y - 8}Q${TRUNK} ${y} ${TRUNK + 8} ${y}H${INDENT - 4}"/><path class="head" d="M${INDENT - 7} ${y - 4}v8l7-4z"/>`
}

/** A text truncated to a width; letters beyond Latin, Greek, Cyrillic and similar scripts count as two. */
export function fitted(text: string, width: number): string {
  let used = 0
  const letters = [...text.replace(/\s+/g, ' ')]
  for (const [at, letter] of letters.entries()) {
    used += (letter.codePointAt(0) ?? 0) > 0x2e7f ? 2 : /[mwMW@%]|\p{Lu}/u.test(letter) ? 1.3 : 1
    if (used > width)
      return `${letters
        .slice(0, Math.max(1, at - 1))
        .join('')
        .trimEnd()}…`
  }
  return letters.join('')
}

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
