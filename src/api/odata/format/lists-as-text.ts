import type { EdmValue, EntityColumn } from '../../../model/edm.ts'
import type { Feed, ODataAnswer, PropertyAnswer, Single } from './shape.ts'

/**
 * The same answer for OData 2.0, which has no collections: a list becomes the text of its JSON array, so that no value is
 * lost; the metadata document declares such a property as a string.
 */
export function withListsAsText(answer: ODataAnswer): ODataAnswer {
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
