import { toGeoPoint } from '../../model/geometry.ts'
import type { Literal } from '../../rdf/term.ts'
import { GEO, XSD } from '../../rdf/vocab.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { lastSegment } from './document.ts'

/** Longer texts are collapsed, still longer ones truncated; in characters. */
const LONG = 400
const MAX_LENGTH = 20_000

/** The numbers of XML Schema, by the ends of their IRIs. */
const NUMBER =
  /#(?:integer|decimal|double|float|int|long|short|byte|(?:non)?(?:Positive|Negative|positive|negative)Integer|unsigned\w+)$/

/**
 * A value in the notation of a language, with its datatype or language.
 *
 * @param name of the property: a number called a year, code or id is a name and no quantity
 */
export function literalHtml(
  { value, datatype, language }: Literal,
  name: string,
  pageContext: PageContext,
): Html {
  if (language !== '') {
    const [tag = '', direction] = language.split('--')
    const text = longText(value, pageContext)
    return direction === undefined
      ? html`<span lang="${tag}">${text}</span> <small>${language}</small>`
      : html`<span lang="${tag}" dir="${direction}">${text}</span> <small>${language}</small>`
  }
  if (datatype === XSD.string)
    return /^https?:\/\/[^\s<>"]+$/.test(value)
      ? html`<a href="${value}" rel="nofollow">${value}</a>`
      : longText(value, pageContext)
  return html`${typedText(value, datatype, name, pageContext)} <small title="${datatype}">${lastSegment(datatype)}</small>`
}

function typedText(value: string, datatype: string, name: string, pageContext: PageContext): Html {
  switch (datatype) {
    case XSD.date:
      return html`<time datetime="${value}">${pageContext.date(value)}</time>`
    case XSD.dateTime:
      return html`<time datetime="${value}" title="${value}">${pageContext.date(zoned(value), 'moment')}</time>`
    case XSD.boolean:
      return html`<data value="${value}">${value === 'true' || value === '1' ? pageContext.t('yes') : pageContext.t('no')}</data>`
    case GEO.wktLiteral: {
      const point = /^\s*POINT/i.test(value) ? toGeoPoint(value) : undefined
      if (point === undefined || point === null) return longText(value, pageContext)
      const part = (degrees: number) => pageContext.number(degrees, { maximumFractionDigits: 5 })
      return html`<span title="${value}">${part(point.lat)}°, ${part(point.lon)}°</span>`
    }
    default:
      return NUMBER.test(datatype)
        ? html`<data value="${value}">${numberText(value, name, pageContext)}</data>`
        : longText(value, pageContext)
  }
}

/** A date-time without a zone is shown unchanged, not converted to the server's own zone. */
function zoned(value: string): string {
  return /(?:Z|[+-]\d\d:\d\d)$/.test(value) ? value : `${value}Z`
}

function numberText(value: string, name: string, { number }: PageContext): string {
  const read = Number(value)
  const isName = /(?:^|_)(?:id|code|year)$|(?:Id|ID|Code|Year)$/.test(name)
  if (isName || !Number.isFinite(read) || value.length > 17) return value
  return number(read, { maximumFractionDigits: 10 })
}

/** A text, collapsed if it is long; of texts in HTML only the words are shown. */
function longText(text: string, { t }: PageContext): Html {
  const value = /^\s*<(?:p|div)[\s>]/i.test(text) ? text.replace(/<[^<>]*>/g, ' ').trim() : text
  if (value.length <= LONG) return html`<span class="text" dir="auto">${value}</span>`
  const cut = value.length > MAX_LENGTH ? `${value.slice(0, MAX_LENGTH)}…` : value
  return html`<details><summary class="text">${value.slice(0, 160)}… <small>${t.many('{n} character', '{n} characters', value.length)}</small></summary><span class="text" dir="auto">${cut}</span></details>`
}
