import { type Html, html } from '../../http/html.ts'
import type { Visit } from '../../http/site/visit.ts'
import type { Field } from '../../model/field.ts'
import { isIri } from '../../rdf/iri.ts'

/** Characters of a text in a cell; the whole of it stands on the page of its record. */
const LONGEST = 160

/** A value of a record, as answers of queries give it, as its type is written for people. */
export function valueCell(visit: Visit, value: unknown, field: Field): Html {
  if (value === null || value === undefined)
    return html`<span class="none" aria-label="${visit.say('no value')}">–</span>`
  if (Array.isArray(value)) {
    const shown = value
      .slice(0, 20)
      .map((item, at) => html`${at === 0 ? '' : ', '}${one(visit, item, field)}`)
    return html`${shown}${value.length > 20 ? '…' : ''}`
  }
  return one(visit, value, field)
}

/** True for values that are written to the right, so that their digits stand below one another. */
export function isNumber({ type, annotations }: Field): boolean {
  return (type === 'int' || type === 'double') && annotations.id === undefined
}

function one(visit: Visit, value: unknown, field: Field): Html {
  switch (field.type) {
    case 'int':
    case 'double':
      return html`<data value="${String(value)}">${numberText(visit, Number(value), field)}</data>`
    case 'date':
      return html`<time datetime="${String(value)}">${visit.date(String(value))}</time>`
    case 'datetime':
      return html`<time datetime="${String(value)}">${visit.date(String(value), 'moment')}</time>`
    case 'boolean':
      return html`${value === true ? visit.say('yes') : visit.say('no')}`
    case 'geo_point_2d':
      return html`${pointText(visit, value)}`
    case 'geo_shape':
      return html`<span class="soft">${shapeText(visit, value)}</span>`
    default:
      return textCell(String(typeof value === 'object' ? JSON.stringify(value) : value))
  }
}

function textCell(text: string): Html {
  if (/^https?:\/\//.test(text) && isIri(text))
    return html`<a href="${text}" rel="nofollow noopener">${text.length > 60 ? `${text.slice(0, 57)}…` : text}</a>`
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
  return cut === text ? html`${text}` : html`<span title="${text.slice(0, 1000)}">${cut}</span>`
}

/** A number with the decimals of its field; what is a name and not a quantity has no marks between its thousands. */
function numberText(visit: Visit, value: number, { name, annotations }: Field): string {
  if (annotations.id !== undefined || /(?:^|_)(?:id|code|year)$|id$/i.test(name)) return String(value)
  const decimals = annotations.decimals?.[0]
  const digits =
    typeof decimals === 'number' ? { maximumFractionDigits: decimals } : { maximumFractionDigits: 6 }
  return visit.number(value, digits)
}

function pointText(visit: Visit, value: unknown): string {
  const { lon, lat } = (value ?? {}) as { readonly lon?: number; readonly lat?: number }
  const part = (degrees: number | undefined) =>
    visit.number(degrees ?? 0, { minimumFractionDigits: 4, maximumFractionDigits: 4 })
  return `${part(lat)}°, ${part(lon)}°`
}

function shapeText(visit: Visit, value: unknown): string {
  const { geometry } = (value ?? {}) as { readonly geometry?: { readonly type?: string } }
  return geometry?.type ?? visit.say('shape')
}
