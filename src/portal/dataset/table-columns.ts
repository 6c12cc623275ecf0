import { type Field, isGeo, isQuantity, isTemporal } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import type { Html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { valueCell } from '../parts/value.ts'

/** A column of a table: a field, and the layout for its values on the page. */
export interface ShownColumn {
  readonly field: Field
  /** Numbers, dates and points stay on one line; columns of long texts are wide. */
  readonly kind: 'number' | 'line' | 'text' | 'long'
  /** Unit of its values; null if unknown. */
  readonly unit: string | null
  /** Decimals of all its numbers, so that their decimal points are aligned. */
  readonly decimals: number
}

type RecordObject = Readonly<Record<string, unknown>>

/** Characters of a text from which on its column is wide, and up to which it stays on one line. */
const LONG = 40
const SHORT = 14
const MAX_DECIMALS = 3

/** The columns of a page of records. */
export function shownColumnsOf(
  fields: readonly Field[],
  records: readonly RecordObject[],
): readonly ShownColumn[] {
  return fields.map(field => {
    const values = records.map(record => lookup(record, field.name))
    const unit = field.annotations.unit?.[0]
    return {
      field,
      kind: kindOf(field, values),
      unit: unit === undefined ? null : String(unit),
      decimals: field.type === 'double' ? decimalsOf(values) : 0,
    }
  })
}

/** A value of a record in its column. */
export function columnCell(
  pageContext: PageContext,
  value: unknown,
  { field, decimals }: ShownColumn,
  isInLink = false,
): Html {
  return valueCell(pageContext, value, field, { decimals, isInLink })
}

function kindOf(field: Field, values: readonly unknown[]): ShownColumn['kind'] {
  if (isQuantity(field)) return 'number'
  if (isTemporal(field.type) || isGeo(field.type) || field.type !== 'text') return 'line'
  const lengths = values.map(value => (value === null || value === undefined ? 0 : String(value).length))
  const maxLength = Math.max(0, ...lengths)
  if (maxLength <= SHORT && !values.some(value => String(value).includes('\n'))) return 'line'
  const given = lengths.filter(length => length > 0)
  return given.reduce((sum, length) => sum + length, 0) / given.length > LONG ? 'long' : 'text'
}

function decimalsOf(values: readonly unknown[]): number {
  const lengths = values.map(value => /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0)
  const max = Math.max(0, ...lengths)
  return max <= MAX_DECIMALS ? max : 0
}
