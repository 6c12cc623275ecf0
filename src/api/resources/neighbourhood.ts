import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'

/** A resource at a distance of one link. */
export interface Neighbour {
  readonly address: string
  readonly label: string
  /** Label of the link. */
  readonly via: string
}

/** A resource and its neighbours at a distance of one link. */
export interface Neighbourhood {
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
