import type { EdmValue, EntityColumn } from '../../../model/edm.ts'
import { entityAddress, linkTypesOf } from './links.ts'
import type {
  AddressedFormat,
  EntityRow,
  Feed,
  PropertyAnswer,
  References,
  ServicePlace,
  Single,
} from './shape.ts'
import { type PointValue, primitiveText } from './texts.ts'
import { membersOf, typeText } from './types.ts'

/** Writes a page of entities as verbose JSON (OData 3.0 Verbose JSON Format). */
export function verboseFeed(feed: Feed, { place }: AddressedFormat): string {
  const write = rowWriter(feed, place)
  const rows: string[] = []
  for (const row of feed.rows) rows.push(write(row))
  return page(rows, feed)
}

/** Writes one entity as verbose JSON. */
export function verboseEntity(single: Single, { place }: AddressedFormat): string {
  return `{"d":${rowWriter(single, place)(single.row)}}`
}

/** Writes the value of a property as verbose JSON: under its name. */
export function verboseProperty({ column, value }: PropertyAnswer, { place }: AddressedFormat): string {
  return `{"d":{${JSON.stringify(column.name)}:${valueWriter(column, place)(value)}}}`
}

/** Writes references to entities as verbose JSON. */
export function verboseReferences(references: References, { place }: AddressedFormat): string {
  const reference = (id: string) => `{"uri":${JSON.stringify(entityAddress(place, references.set, id))}}`
  if (references.type === 'one') return `{"d":${reference(references.id)}}`
  return page(references.ids.map(reference), references)
}

function page(items: readonly string[], { count, next }: Pick<Feed, 'count' | 'next'>): string {
  const counted = count === null ? '' : `"__count":"${count}",`
  const more = next === null ? '' : `,"__next":${JSON.stringify(next)}`
  return `{"d":{${counted}"results":[${items.join(',')}]${more}}}`
}

function rowWriter(
  { model, columns }: Pick<Feed, 'model' | 'columns'>,
  place: ServicePlace,
): (row: EntityRow) => string {
  const type = JSON.stringify(`${model.namespace}.${model.type}`)
  const writers = columns.map(column => {
    if (column.annotation !== undefined) return () => ''
    const name = `,${JSON.stringify(column.name)}:`
    const write = valueWriter(column, place)
    return (value: EdmValue) => name + write(value)
  })
  return ({ id, values }) => {
    let text = `{"__metadata":{"type":${type}`
    if (id !== null) {
      const address = JSON.stringify(entityAddress(place, model.set, id))
      text = `{"__metadata":{"id":${address},"uri":${address},"type":${type}`
    }
    text += '}'
    for (let index = 0; index < writers.length; index++) {
      const value = values[index]
      if (value !== undefined) text += writers[index]?.(value)
    }
    return `${text}}`
  }
}

type Write = (value: EdmValue) => string

function valueWriter(column: EntityColumn, place: ServicePlace): Write {
  const write = presentWriter(column, place)
  return value => (value === null ? 'null' : write(value))
}

function presentWriter(column: EntityColumn, place: ServicePlace): Write {
  const { type, collection } = column
  const metadata = `{"__metadata":{"type":"${typeText(column, '3.0', linkTypesOf(place))}"}`
  if (collection) return value => `${metadata},"results":${JSON.stringify(value)}}`
  switch (type) {
    case 'Edm.String':
      return value => JSON.stringify(value)
    case 'Edm.Boolean':
    case 'Edm.Int32':
      return String
    case 'Edm.Double':
      return value => doubleJson(value as number)
    case 'Edm.Int64':
    case 'Edm.Decimal':
    case 'Edm.TimeOfDay':
    case 'Edm.Duration':
      return value => `"${primitiveText(value as string | number, column, '3.0')}"`
    case 'Edm.Date':
      return value => `"/Date(${Date.parse(value as string)})/"`
    case 'Edm.DateTimeOffset':
      return value => `"/Date(${Date.parse(value as string)}+0000)/"`
    case 'Ods.GeoPoint2D': {
      const members = membersOf(column)
      return value => {
        const point = value as PointValue
        return `${metadata}${members.map(member => `,"${member}":${doubleJson(point[member])}`).join('')}}`
      }
    }
    default:
      return type satisfies never
  }
}

function doubleJson(value: number): string {
  return Number.isFinite(value) ? String(value) : `"${primitiveText(value, { type: 'Edm.Double' }, '3.0')}"`
}
