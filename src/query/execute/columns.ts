import type { FieldType } from '../../model/field.ts'
import { aggregateType } from '../decode.ts'
import type { Dialect } from '../dialect.ts'
import { type Grouping, type Query, type RowValue, type Scalar, scalarType } from '../plan.ts'

/** The name and type of the values under one key of the rows of a query. */
export interface ResultColumn {
  readonly key: string
  readonly label: string
  readonly type: FieldType
  readonly multivalued: boolean
}

/** The keys of the values in each row of a query, in order. */
export function keysOf(plan: Query): readonly string[] {
  const columns = plan.type === 'groups' ? [...plan.keys, ...plan.select] : plan.select
  return [...new Set(columns.map(({ key }) => key))]
}

/** The columns of the rows of a query, in order, as {@link exportObjects} returns their values. */
export function columnsOf(plan: Query, dialect: Dialect): readonly ResultColumn[] {
  const column = (key: string, type: FieldType, label = key): ResultColumn => ({
    key,
    label,
    type,
    multivalued: false,
  })
  if (plan.type === 'records')
    return plan.select.map(({ key, value }) => {
      if (value.type !== 'field') return column(key, valueType(value, dialect))
      const { label, name, type, multivalued } = value.field
      return { key, label: key === name ? label : key, type, multivalued }
    })
  const keyType = (index: number): FieldType => {
    const grouping = plan.keys[index]?.grouping
    return grouping === undefined ? 'text' : groupingType(grouping, dialect)
  }
  const rowType = (value: RowValue): FieldType => {
    switch (value.type) {
      case 'key':
        return keyType(value.index)
      case 'constant':
        return value.of
      case 'aggregate':
        return aggregateType(value.aggregate)
      case 'arithmetic':
        return 'double'
    }
  }
  const labelOf = (key: string, index: number): string => {
    const grouping = plan.keys[index]?.grouping
    const value = grouping?.type === 'value' ? grouping.value : null
    // Years and months are grouped as their texts.
    const own = value?.type === 'dateFormat' ? value.operand : value
    return own?.type === 'field' && own.field.name === key ? own.field.label : key
  }
  const columns = new Map<string, ResultColumn>()
  plan.keys.forEach(({ key }, index) => {
    columns.set(key, column(key, keyType(index), labelOf(key, index)))
  })
  for (const { key, value } of plan.select)
    columns.set(
      key,
      column(key, rowType(value), value.type === 'key' ? labelOf(key, value.index) : undefined),
    )
  return [...columns.values()]
}

function valueType(value: Scalar, { numericParts }: Dialect): FieldType {
  return value.type === 'datePart' && !numericParts ? 'text' : scalarType(value)
}

/** Ranges and cells are reported as texts; so are dates, except in the older generations, which use milliseconds. */
function groupingType(grouping: Grouping, dialect: Dialect): FieldType {
  if (grouping.type !== 'value') return 'text'
  const type = valueType(grouping.value, dialect)
  return (type === 'date' || type === 'datetime') && !dialect.isoKeys ? 'int' : type
}
