import type { EdmValue, EntityColumn } from '../../../model/edm.ts'
import { atomEntity, atomFeed, atomProperty, atomReferences } from './atom.ts'
import { jsonEntity, jsonFeed, jsonProperty, jsonReferences } from './json.ts'
import type {
  EntityRow,
  Feed,
  ODataAnswer,
  PayloadFormat,
  PropertyAnswer,
  ServicePlace,
  Single,
} from './shape.ts'
import { verboseEntity, verboseFeed, verboseProperty, verboseReferences } from './verbose.ts'

/** Writes an answer in the negotiated format and version. */
export function writeAnswer(written: ODataAnswer, payloadFormat: PayloadFormat, place: ServicePlace): string {
  const fitting = withFittingTypes(written)
  const answer = payloadFormat.version === '2.0' ? withListsAsText(fitting) : fitting
  switch (payloadFormat.type) {
    case 'json':
      return inJson(answer, payloadFormat, place)
    case 'verbose':
      return inVerbose(answer, place)
    case 'atom':
      return inAtom(answer, payloadFormat, place)
    default:
      return payloadFormat.type satisfies never
  }
}

function inJson(answer: ODataAnswer, payloadFormat: PayloadFormat, place: ServicePlace): string {
  switch (answer.type) {
    case 'feed':
      return jsonFeed(answer.feed, payloadFormat, place)
    case 'entity':
      return jsonEntity(answer.entity, payloadFormat, place)
    case 'property':
      return jsonProperty(answer.property, payloadFormat, place)
    case 'references':
      return jsonReferences(answer.references, payloadFormat, place)
    default:
      return answer satisfies never
  }
}

function inVerbose(answer: ODataAnswer, place: ServicePlace): string {
  switch (answer.type) {
    case 'feed':
      return verboseFeed(answer.feed, place)
    case 'entity':
      return verboseEntity(answer.entity, place)
    case 'property':
      return verboseProperty(answer.property, place)
    case 'references':
      return verboseReferences(answer.references, place)
    default:
      return answer satisfies never
  }
}

function inAtom(answer: ODataAnswer, payloadFormat: PayloadFormat, place: ServicePlace): string {
  switch (answer.type) {
    case 'feed':
      return atomFeed(answer.feed, payloadFormat, place)
    case 'entity':
      return atomEntity(answer.entity, payloadFormat, place)
    case 'property':
      return atomProperty(answer.property, payloadFormat, place)
    case 'references':
      return atomReferences(answer.references, payloadFormat, place)
    default:
      return answer satisfies never
  }
}

/**
 * The same answer with types that hold its values: a computed or aggregated property of integers of which one on the page is
 * beyond Edm.Int64 is Edm.Decimal there, or Edm.Double where it was computed in doubles and so is no exact integer.
 */
function withFittingTypes(answer: ODataAnswer): ODataAnswer {
  switch (answer.type) {
    case 'feed': {
      const { feed } = answer
      return { type: 'feed', feed: { ...feed, ...fitting(feed.columns, feed.rows) } }
    }
    case 'entity': {
      const { entity } = answer
      const { columns, rows } = fitting(entity.columns, [entity.row])
      return { type: 'entity', entity: { ...entity, columns, row: rows[0] ?? entity.row } }
    }
    case 'property':
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

function fitting(columns: readonly EntityColumn[], rows: readonly EntityRow[]): Table {
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
 * The same answer for OData 2.0, which has no collections: a list becomes the text of its JSON array, so that no value is
 * lost; the metadata document declares such a property as a string.
 */
function withListsAsText(answer: ODataAnswer): ODataAnswer {
  switch (answer.type) {
    case 'feed': {
      const { feed } = answer
      const rows = feed.rows.map(row => ({ ...row, values: row.values.map(asText) }))
      return { type: 'feed', feed: { ...feed, ...withoutCollections(feed), rows } }
    }
    case 'entity': {
      const { entity } = answer
      const row = { ...entity.row, values: entity.row.values.map(asText) }
      return { type: 'entity', entity: { ...entity, ...withoutCollections(entity), row } }
    }
    case 'property': {
      const { column, value, context } = answer.property
      const property: PropertyAnswer = { column: single(column), value: asText(value), context }
      return { type: 'property', property }
    }
    case 'references':
      return answer
    default:
      return answer satisfies never
  }
}

/** A list as the text of its JSON array; any other value unchanged. */
export function asText<Known extends EdmValue | undefined>(value: Known): Known | string {
  return Array.isArray(value) ? JSON.stringify(value) : value
}

function withoutCollections({ columns }: Feed | Single): Pick<Feed, 'columns'> {
  return { columns: columns.map(single) }
}

function single(column: EntityColumn): EntityColumn {
  return column.collection ? { ...column, collection: false } : column
}
