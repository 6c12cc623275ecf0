import type { EdmValue, EntityColumn } from '../../../model/edm.ts'
import { contextAddress, entityAddress, entityPath, linkTypesOf, versionQuery } from './links.ts'
import {
  type AddressedFormat,
  type EntityRow,
  type Feed,
  membersOf,
  type PayloadFormat,
  type PointValue,
  type PropertyAnswer,
  primitiveText,
  type References,
  type Single,
  typeFragment,
  type Version,
  valuesText,
} from './shape.ts'

/** Writes a page of entities as JSON light (JSON Format 4.0, section 12; JSON Format 3.0). */
export function jsonFeed(feed: Feed, payloadFormat: AddressedFormat): string {
  const write = rowWriter(feed, payloadFormat)
  const names = namesOf(payloadFormat.version)
  const rows: string[] = []
  for (const row of feed.rows) rows.push(`{${write(row).slice(1)}}`)
  const count = feed.count === null ? '' : `,"${names.prefix}count":${countText(feed.count, payloadFormat)}`
  const next = feed.next === null ? '' : `,"${names.prefix}nextLink":${JSON.stringify(feed.next)}`
  return `{${context(feed.context, payloadFormat)}${count},"value":[${rows.join(',')}]${next}}`
}

/** Writes one entity as JSON light (JSON Format 4.0, section 6). */
export function jsonEntity(single: Single, payloadFormat: AddressedFormat): string {
  return `{${context(single.context, payloadFormat)}${rowWriter(single, payloadFormat)(single.row)}}`
}

/** Writes the value of a property as JSON light: the parts of a point become members of the object itself (JSON Format 4.0, section 11). */
export function jsonProperty(answer: PropertyAnswer, payloadFormat: AddressedFormat): string {
  const { column, value } = answer
  const names = namesOf(payloadFormat.version)
  const head = context(answer.context, payloadFormat)
  if (value === null)
    return payloadFormat.version !== '4.0' ? `{${head},"odata.null":true}` : `{${head},"value":null}`
  const type = needsType(column, value, payloadFormat)
    ? `,"${names.prefix}type":"${typeFragment(column, payloadFormat.version, linkTypesOf(payloadFormat.place))}"`
    : ''
  const text = valueWriter(column, { ...payloadFormat, level: 'minimal' })(value)
  if (column.type !== 'Ods.GeoPoint2D') return `{${head}${type},"value":${text}}`
  return `{${head}${type}${text === '{}' ? '' : `,${text.slice(1, -1)}`}}`
}

/** Writes references to entities as JSON light (JSON Format 4.0, sections 13 and 14; links of 3.0). */
export function jsonReferences(references: References, payloadFormat: AddressedFormat): string {
  const isOld = payloadFormat.version !== '4.0'
  const { set } = references
  const { place } = payloadFormat
  const [name, links] = isOld ? ['url', `${set}/$links`] : ['@odata.id', '$ref']
  const reference = (id: string) => `"${name}":${JSON.stringify(entityAddress(place, set, id))}`
  if (references.type === 'one') return `{${context(links, payloadFormat)},${reference(references.id)}}`
  const { prefix } = namesOf(payloadFormat.version)
  const { ids, count, next } = references
  const head = context(isOld ? links : 'Collection($ref)', payloadFormat)
  const counted = count === null ? '' : `,"${prefix}count":${countText(count, payloadFormat)}`
  const more = next === null ? '' : `,"${prefix}nextLink":${JSON.stringify(next)}`
  return `{${head}${counted},"value":[${ids.map(id => `{${reference(id)}}`).join(',')}]${more}}`
}

const NAMES = {
  '4.0': { prefix: '@odata.', context: '@odata.context' },
  '3.0': { prefix: 'odata.', context: 'odata.metadata' },
} as const

function namesOf(version: Version): (typeof NAMES)[keyof typeof NAMES] {
  return NAMES[version === '4.0' ? '4.0' : '3.0']
}

function context(text: string, { version, place }: AddressedFormat): string {
  return `"${namesOf(version).context}":${JSON.stringify(contextAddress(place, text))}`
}

function countText(count: number, { version, ieee754 }: PayloadFormat): string {
  return version !== '4.0' || ieee754 ? `"${count}"` : String(count)
}

/** The members of the JSON of an entity, each with a comma before it. */
function rowWriter(
  { model, columns }: Pick<Feed, 'model' | 'columns'>,
  payloadFormat: AddressedFormat,
): (row: EntityRow) => string {
  const writers = columns.map(column => memberWriter(column, payloadFormat))
  const type = JSON.stringify(`${payloadFormat.version !== '4.0' ? '' : '#'}${model.namespace}.${model.type}`)
  const control = controlWriter(type, model.set, payloadFormat)
  return ({ id, values }) => control(id) + valuesText(writers, values)
}

/** The control information of an entity; a row that is no record has no address (Aggregation 4.0, section 3). */
function controlWriter(
  type: string,
  set: string,
  { version, level, place }: AddressedFormat,
): (id: string | null) => string {
  const transient = version === '4.0' ? ',"@odata.id":null' : ''
  if (level === 'minimal') return id => (id === null ? transient : '')
  return id => {
    if (id === null) return transient
    const address = JSON.stringify(entityAddress(place, set, id))
    return version === '4.0'
      ? `,"@odata.type":${type},"@odata.id":${address},"@odata.readLink":${address}`
      : `,"odata.type":${type},"odata.id":${address},"odata.editLink":${JSON.stringify(`${entityPath(set, id)}${versionQuery(place)}`)}`
  }
}

function memberWriter(column: EntityColumn, payloadFormat: AddressedFormat): (value: EdmValue) => string {
  if (column.annotation === 'count')
    return count =>
      `,${JSON.stringify(`${column.name}@odata.count`)}:${countText(Number(count), payloadFormat)}`
  const name = JSON.stringify(column.name)
  const plain = `,${name}:`
  const absent = payloadFormat.omitNulls ? '' : `${plain}null`
  const write = valueWriter(column, payloadFormat)
  const type = typeFragment(column, payloadFormat.version, linkTypesOf(payloadFormat.place))
  const typed = `,${JSON.stringify(`${column.name}@odata.type`)}:"${type}"${plain}`
  const isComplex = column.type === 'Ods.GeoPoint2D' && !column.collection
  if (isComplex || (payloadFormat.level === 'minimal' && !column.dynamic))
    return value => (value === null ? absent : plain + write(value))
  return value => {
    if (value === null) return absent
    return (needsType(column, value, payloadFormat) ? typed : plain) + write(value)
  }
}

/** True for types that are evident from JSON (JSON Format 4.0, section 4.5.3). */
function isReported({ type, collection }: EntityColumn, value: EdmValue): boolean {
  if (collection) return false
  if (type === 'Edm.Double') return Number.isFinite(value)
  return type === 'Edm.String' || type === 'Edm.Boolean'
}

/** True if the type is requested, or evident neither from the metadata document nor from JSON. */
function needsType(column: EntityColumn, value: EdmValue, { level }: PayloadFormat): boolean {
  return (level === 'full' || column.dynamic) && !isReported(column, value)
}

type Write = (value: EdmValue) => string

function valueWriter(column: EntityColumn, payloadFormat: AddressedFormat): Write {
  const { type, collection, dynamic } = column
  const { version, level, ieee754, place } = payloadFormat
  if (collection) return value => JSON.stringify(value)
  switch (type) {
    case 'Edm.String':
      return value => JSON.stringify(value)
    case 'Edm.Boolean':
      return String
    case 'Edm.Double':
    case 'Edm.Int32':
      return value => numberJson(value as number)
    case 'Edm.Int64':
    case 'Edm.Decimal':
      if (version === '4.0' && !ieee754) return value => numberJson(value as number | bigint)
      return value => `"${primitiveText(value as number | bigint, column, version)}"`
    case 'Edm.Date':
    case 'Edm.DateTimeOffset':
    case 'Edm.TimeOfDay':
    case 'Edm.Duration':
      return value => `"${primitiveText(value as string | number, column, version)}"`
    case 'Ods.GeoPoint2D': {
      const prefix = namesOf(version).prefix
      const typed = level === 'full' || dynamic
      const fragment = typeFragment(column, version, linkTypesOf(place))
      return pointWriter(column, typed ? `"${prefix}type":"${fragment}"` : '')
    }
  }
}

function pointWriter(column: EntityColumn, head: string): Write {
  const members = membersOf(column)
  return value => {
    const point = value as PointValue
    const parts = members.map(member => `"${member}":${numberJson(point[member])}`)
    return `{${(head === '' ? parts : [head, ...parts]).join(',')}}`
  }
}

/** Infinite numbers and NaN, which JSON does not have, are written as strings (JSON Format 4.0, section 7.1). */
function numberJson(value: number | bigint): string {
  return typeof value === 'bigint' || Number.isFinite(value)
    ? String(value)
    : `"${primitiveText(value, { type: 'Edm.Double' }, '4.0')}"`
}
