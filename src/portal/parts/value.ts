import { DEFAULT_ZONE } from '../../http/parameters.ts'
import { coarsePrecision, type Field, type FieldType, isNumberedName, isQuantity } from '../../model/field.ts'
import { shownDigits } from '../../model/number.ts'
import type { Value } from '../../model/value.ts'
import { EXPLORE_V21 } from '../../query/dialect.ts'
import { valueJson } from '../../query/execute/record-json.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { type Html, html } from '../../site/html.ts'
import { messageKey, type PageContext } from '../../site/page-context.ts'
import { cutText } from './cut-text.ts'

/** Maximum characters of a text in a cell; the page of its record shows the whole text. */
const MAX_LENGTH = 160

/** Formatting of a value. */
export interface ValueStyle {
  /** Decimals that every number has. */
  readonly decimals?: number
  /** True within a link, which must not contain another. */
  readonly isInLink?: boolean
}

/** A value of a record in an answer, formatted for display by its type. */
export function valueCell(
  pageContext: PageContext,
  value: unknown,
  field: Field,
  style: ValueStyle = {},
): Html {
  if (value === null || value === undefined) return noneMark(pageContext.t('no value'))
  if (!Array.isArray(value)) return one(pageContext, value, field, style)
  const shown = shortList(value)
  const rest = value.length - shown.length
  const items = shown.map((item, at) => html`${at === 0 ? '' : ', '}${one(pageContext, item, field, style)}`)
  if (rest === 0) return html`${items}`
  const all = value.map(String).join(', ').slice(0, 1000)
  return html`<span title="${all}">${items} <span class="soft">${pageContext.t.many('{n} more', '{n} more', rest)}</span></span>`
}

/** A value of a record, formatted like one of an answer. */
export function recordCell(pageContext: PageContext, value: Value, field: Field): Html {
  const shown = valueJson(value, field.type, { dialect: EXPLORE_V21, timezone: DEFAULT_ZONE })
  return valueCell(pageContext, shown, field)
}

/** A dash in place of a value. @param label what it means, for screen readers */
export function noneMark(label: string): Html {
  return html`<span class="none" role="img" aria-label="${label}">–</span>`
}

/** The class of cells with quantities, which are right-aligned, so that their digits are below one another. */
export function numberClass(field: Field): Html {
  return isQuantity(field) ? html` class="number"` : html``
}

/** The first items of a list that fit into a cell, at least one. */
function shortList(list: readonly unknown[]): readonly unknown[] {
  let length = 0
  const end = list.findIndex((item, at) => {
    length += String(item).length + 2
    return at > 0 && length > MAX_LENGTH
  })
  return end < 0 ? list : list.slice(0, end)
}

function one(pageContext: PageContext, value: unknown, field: Field, style: ValueStyle): Html {
  if (coarsePrecision(field) !== null) return html`<time datetime="${String(value)}">${String(value)}</time>`
  switch (field.type) {
    case 'int':
    case 'double':
      return html`<data value="${String(value)}">${numberText(pageContext, typeof value === 'bigint' ? value : Number(value), field, style)}</data>`
    case 'date':
      return html`<time datetime="${String(value)}">${pageContext.date(String(value))}</time>`
    case 'datetime':
      return html`<time datetime="${String(value)}" title="${String(value)}">${pageContext.date(String(value), 'moment')}</time>`
    case 'boolean':
      return html`${value === true ? pageContext.t('yes') : pageContext.t('no')}`
    case 'geo_point_2d':
      return html`${pointText(pageContext, value)}`
    case 'geo_shape':
      return html`<span class="soft">${shapeText(pageContext, value)}</span>`
    default:
      return textCell(String(typeof value === 'object' ? JSON.stringify(value) : value), style)
  }
}

function textCell(text: string, { isInLink = false }: ValueStyle): Html {
  if (!isInLink && /^https?:\/\//.test(text) && isIri(text))
    return html`<a href="${text}" rel="nofollow noopener">${cutText(text, 60)}</a>`
  return shortText(text)
}

/** A text as far as it fits into a cell or a list; a longer one has its beginning as a title. */
export function shortText(text: string): Html {
  const cut = cutText(text, MAX_LENGTH)
  return cut === text ? html`${text}` : html`<span title="${cutText(text, 1000)}">${cut}</span>`
}

/** A number with the decimals of its field; names that are no quantities have no thousands separators. */
function numberText(
  pageContext: PageContext,
  value: number | bigint,
  field: Field,
  { decimals = 0 }: ValueStyle,
): string {
  if (isNumberedName(field)) return String(value)
  const max = field.annotations.decimals?.[0]
  const isDeclared = typeof max === 'number' && max >= 0 && max <= 20
  const digits = isDeclared ? { maximumFractionDigits: max } : shownDigits(value, 6)
  const { maximumFractionDigits } = digits
  if (maximumFractionDigits === undefined) return pageContext.number(value, digits)
  return pageContext.number(value, {
    ...digits,
    minimumFractionDigits: Math.min(decimals, maximumFractionDigits),
  })
}

function pointText(pageContext: PageContext, value: unknown): string {
  const { lon, lat } = (value ?? {}) as { readonly lon?: number; readonly lat?: number }
  const part = (degrees: number | undefined) =>
    pageContext.number(degrees ?? 0, { minimumFractionDigits: 4, maximumFractionDigits: 4 })
  return `${part(lat)}°, ${part(lon)}°`
}

function shapeText(pageContext: PageContext, value: unknown): string {
  const { geometry } = (value ?? {}) as { readonly geometry?: { readonly type?: string } }
  return geometry?.type ?? pageContext.t('shape')
}

/** The types of fields as visitors and publishers read them. */
export const TYPE_NAMES: Readonly<Record<FieldType, string>> = {
  text: messageKey('Text'),
  int: messageKey('Whole number'),
  double: messageKey('Decimal number'),
  boolean: messageKey('Yes or no'),
  date: messageKey('Date'),
  datetime: messageKey('Date and time'),
  geo_point_2d: messageKey('Point on the map'),
  geo_shape: messageKey('Shape on the map'),
}
