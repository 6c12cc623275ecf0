import type { EdmValue } from '../../model/edm.ts'
import type { GeoPoint, Value } from '../../model/value.ts'
import type { RecordRow } from '../decode.ts'
import type { SourcedColumn } from './columns.ts'
import { edmValue } from './computed.ts'
import { type ApplyRow, applySteps } from './rows.ts'

/**
 * A reader of the values of records for the columns of an answer, in column order.
 *
 * @param published when the records were published: `YYYY-MM-DDTHH:MM:SS[.f…]Z`
 */
export function valuesReader(
  columns: readonly SourcedColumn[],
  published: string,
): (row: RecordRow) => readonly EdmValue[] {
  const readers = columns.map(column => reader(column, published))
  return row => readers.map(read => read(row))
}

function reader(
  { source, type, collection }: SourcedColumn,
  published: string,
): (row: RecordRow) => EdmValue {
  switch (source.type) {
    case 'id':
      return ({ record }) => record.id
    case 'timestamp':
      return () => published
    case 'constant':
      return () => source.value
    case 'computed':
      return ({ computed }) => edmValue(source.kind, source.epoch, computed[source.index] ?? null)
    case 'field': {
      const { index } = source
      if (collection) return ({ record }) => (record.values[index] ?? []) as readonly string[]
      if (type === 'Ods.GeoPoint2D') return ({ record }) => pointValue(record.values[index] ?? null)
      if (type === 'Edm.String') return ({ record }) => textValue(record.values[index] ?? null)
      return ({ record }) => (record.values[index] ?? null) as EdmValue
    }
    case 'elements':
      return row => elements(source, row).map(([value]) => String(value))
    case 'elementCount':
      return row => elements(source, row).length
  }
}

function elements(
  { index, steps }: Extract<SourcedColumn['source'], { type: 'elements' | 'elementCount' }>,
  { record }: RecordRow,
): readonly ApplyRow[] {
  const values = (record.values[index] ?? []) as readonly string[]
  return applySteps(
    steps,
    values.map(value => [value]),
  )
}

function pointValue(value: Value): EdmValue {
  if (value === null) return null
  const { lat, lon } = value as GeoPoint
  return { latitude: lat, longitude: lon }
}

/** A text; of a shape its GeoJSON. */
function textValue(value: Value): EdmValue {
  return value === null || typeof value === 'string' ? value : JSON.stringify(value)
}
