import type { EdmValue, EntityColumn } from '../../../model/edm.ts'
import { atomEntity, atomFeed, atomProperty, atomReferences } from './atom.ts'
import { jsonEntity, jsonFeed, jsonProperty, jsonReferences } from './json.ts'
import { entityAddress, linkTypesOf } from './links.ts'
import {
  type AddressedFormat,
  type EntityRow,
  type Feed,
  membersOf,
  type ODataAnswer,
  type PayloadFormat,
  type PointValue,
  type PropertyAnswer,
  primitiveText,
  type References,
  type ServicePlace,
  type Single,
  typeText,
  valuesText,
} from './shape.ts'

interface Parts {
  readonly feed: Feed
  readonly entity: Single
  readonly property: PropertyAnswer
  readonly references: References
}

type Writers = {
  readonly [Type in keyof Parts]: (part: Parts[Type], payloadFormat: AddressedFormat) => string
}

const WRITERS: Readonly<Record<PayloadFormat['type'], Writers>> = {
  json: { feed: jsonFeed, entity: jsonEntity, property: jsonProperty, references: jsonReferences },
  verbose: {
    feed: verboseFeed,
    entity: verboseEntity,
    property: verboseProperty,
    references: verboseReferences,
  },
  atom: { feed: atomFeed, entity: atomEntity, property: atomProperty, references: atomReferences },
}

/** Writes an answer in the negotiated format and version. */
export function writeAnswer(written: ODataAnswer, payloadFormat: PayloadFormat, place: ServicePlace): string {
  const fitting = withTable(written, withFittingTypes)
  const answer = payloadFormat.version === '2.0' ? withTable(fitting, withListsAsText) : fitting
  const write = <Type extends keyof Parts>(type: Type, part: Parts[Type]) =>
    WRITERS[payloadFormat.type][type](part, { ...payloadFormat, place })
  switch (answer.type) {
    case 'feed':
      return write('feed', answer.feed)
    case 'entity':
      return write('entity', answer.entity)
    case 'property':
      return write('property', answer.property)
    case 'references':
      return write('references', answer.references)
  }
}

/** The same answer with other columns and rows; references have none. */
function withTable(answer: ODataAnswer, change: (table: Table) => Table): ODataAnswer {
  switch (answer.type) {
    case 'feed':
      return { type: 'feed', feed: { ...answer.feed, ...change(answer.feed) } }
    case 'entity': {
      const { entity } = answer
      const { columns, rows } = change({ columns: entity.columns, rows: [entity.row] })
      return { type: 'entity', entity: { ...entity, columns, row: rows[0] ?? entity.row } }
    }
    case 'property': {
      const { property } = answer
      const table = { columns: [property.column], rows: [{ id: null, values: [property.value] }] }
      const { columns, rows } = change(table)
      const [column = property.column, value = property.value] = [columns[0], rows[0]?.values[0]]
      return { type: 'property', property: { ...property, column, value } }
    }
    case 'references':
      return answer
  }
}

interface Table {
  readonly columns: readonly EntityColumn[]
  readonly rows: readonly EntityRow[]
}

/**
 * Types that hold the values: a computed or aggregated property of integers of which one on the page is beyond Edm.Int64 is
 * Edm.Decimal there, or Edm.Double where it was computed in doubles and so is no exact integer.
 */
function withFittingTypes({ columns, rows }: Table): Table {
  let table: Table = { columns, rows }
  for (const [index, { type, dynamic, annotation }] of columns.entries()) {
    if (type !== 'Edm.Int64' || !dynamic || annotation !== undefined) continue
    const large = rows.flatMap(({ values }) => (isBeyond(values[index]) ? [values[index]] : []))
    if (large.length > 0)
      table = large.some(value => typeof value === 'number')
        ? { columns: retyped(table.columns, index, 'Edm.Double'), rows: inDoubles(table.rows, index) }
        : { columns: retyped(table.columns, index, 'Edm.Decimal'), rows: table.rows }
  }
  return table
}

const [LEAST, END] = [-(2n ** 63n), 2n ** 63n]

function isBeyond(value: unknown): boolean {
  if (typeof value !== 'bigint' && typeof value !== 'number') return false
  return value < LEAST || value >= END
}

function retyped(columns: readonly EntityColumn[], index: number, type: EntityColumn['type']) {
  return columns.map((column, at) => (at === index ? { ...column, type } : column))
}

function inDoubles(rows: readonly EntityRow[], index: number): readonly EntityRow[] {
  return rows.map(row => {
    const value = row.values[index]
    if (typeof value !== 'bigint') return row
    return { ...row, values: row.values.map((own, at) => (at === index ? Number(value) : own)) }
  })
}

/**
 * For OData 2.0, which has no collections: a list becomes the text of its JSON array, so that no value is lost; the metadata
 * document declares such a property as a string.
 */
function withListsAsText({ columns, rows }: Table): Table {
  return {
    columns: columns.map(column => ({ ...column, collection: false })),
    rows: rows.map(row => ({ ...row, values: row.values.map(asText) })),
  }
}

/** A list as the text of its JSON array; any other value unchanged. */
export function asText<Known extends EdmValue | undefined>(value: Known): Known | string {
  return Array.isArray(value) ? JSON.stringify(value) : value
}

/** Writes a page of entities as verbose JSON (OData 3.0 Verbose JSON Format). */
function verboseFeed(feed: Feed, { place }: AddressedFormat): string {
  const write = rowWriter(feed, place)
  const rows: string[] = []
  for (const row of feed.rows) rows.push(write(row))
  return page(rows, feed)
}

/** Writes one entity as verbose JSON. */
function verboseEntity(single: Single, { place }: AddressedFormat): string {
  return `{"d":${rowWriter(single, place)(single.row)}}`
}

/** Writes the value of a property as verbose JSON: under its name. */
function verboseProperty({ column, value }: PropertyAnswer, { place }: AddressedFormat): string {
  return `{"d":{${JSON.stringify(column.name)}:${valueWriter(column, place)(value)}}}`
}

/** Writes references to entities as verbose JSON. */
function verboseReferences(references: References, { place }: AddressedFormat): string {
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
    return `${text}}${valuesText(writers, values)}}`
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
  }
}

function doubleJson(value: number): string {
  return Number.isFinite(value) ? String(value) : `"${primitiveText(value, { type: 'Edm.Double' }, '3.0')}"`
}
