import type { EdmValue, EntityColumn } from '../../../model/edm.ts'
import { atomEntity, atomFeed, atomProperty, atomReferences } from './atom.ts'
import { jsonEntity, jsonFeed, jsonProperty, jsonReferences } from './json.ts'
import type {
  AddressedFormat,
  EntityRow,
  Feed,
  ODataAnswer,
  PayloadFormat,
  PropertyAnswer,
  References,
  ServicePlace,
  Single,
} from './shape.ts'
import { verboseEntity, verboseFeed, verboseProperty, verboseReferences } from './verbose.ts'

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
    default:
      return answer satisfies never
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
    default:
      return answer satisfies never
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
