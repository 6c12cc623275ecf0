import type { EdmValue, EntityColumn } from '../../../model/edm.ts'
import { XML_DECLARATION, xmlAttribute, xmlName, xmlText } from '../../../model/xml.ts'
import { contextAddress, entityAddress, entityPath, linkTypesOf, segment, versionQuery } from './links.ts'
import {
  type AddressedFormat,
  ATOM,
  DATA,
  DATA_SERVICES,
  type EntityRow,
  type Feed,
  MEMBER_TYPE,
  META,
  membersOf,
  type PayloadFormat,
  type PointValue,
  type PropertyAnswer,
  primitiveText,
  type References,
  SCHEME,
  type Single,
  typeFragment,
  type Version,
  valuesText,
} from './shape.ts'

/** Writes a page of entities as a feed (Atom Format 4.0, section 8; OData 3.0 Atom Format). */
export function atomFeed(feed: Feed, payloadFormat: AddressedFormat): string {
  const { model, title, updated, count, next } = feed
  const { place } = payloadFormat
  const path = `${segment(model.set)}${versionQuery(place)}`
  const write = entryWriter(feed, payloadFormat)
  const entries: string[] = []
  feed.rows.forEach((row, index) => {
    entries.push(`<entry>${write(row, index)}</entry>\n`)
  })
  return [
    `${XML_DECLARATION}<feed ${attributes(feed.context, payloadFormat)}>\n`,
    `<id>${xmlText(`${place.root}/${path}`)}</id>\n`,
    `<title type="text">${xmlText(title)}</title>\n`,
    `<updated>${xmlText(updated)}</updated>\n`,
    `<link rel="self" title="${xmlAttribute(model.set)}" href="${xmlAttribute(path)}"/>\n`,
    entries.length > 0 ? '' : NOBODY,
    counted(count),
    ...entries,
    following(next),
    '</feed>\n',
  ].join('')
}

/** Writes one entity as an entry (Atom Format 4.0, section 5). */
export function atomEntity(single: Single, payloadFormat: AddressedFormat): string {
  const write = entryWriter(single, payloadFormat)
  return `${XML_DECLARATION}<entry ${attributes(single.context, payloadFormat)}>${write(single.row, 0)}</entry>\n`
}

/** Writes references to entities (Atom Format 4.0, section 13; links of 3.0). */
export function atomReferences(references: References, { version, place }: AddressedFormat): string {
  const address = (id: string) => entityAddress(place, references.set, id)
  if (version !== '4.0') return oldReferences(references, address)
  const context = (text: string) => `m:context="${xmlAttribute(contextAddress(place, text))}"`
  if (references.type === 'one') {
    const id = xmlAttribute(address(references.id))
    return `${XML_DECLARATION}<m:ref xmlns:m="${META}" ${context('$ref')} id="${id}"/>\n`
  }
  const { ids, count, next } = references
  return [
    `${XML_DECLARATION}<feed xmlns="${ATOM}" xmlns:m="${META}" ${context('Collection($ref)')}>\n`,
    counted(count),
    ...ids.map(id => `<m:ref id="${xmlAttribute(address(id))}"/>\n`),
    following(next),
    '</feed>\n',
  ].join('')
}

function oldReferences(references: References, address: (id: string) => string): string {
  const { data, meta } = DATA_SERVICES
  if (references.type === 'one')
    return `${XML_DECLARATION}<uri xmlns="${data}">${xmlText(address(references.id))}</uri>\n`
  const { ids, count, next } = references
  return [
    `${XML_DECLARATION}<links xmlns="${data}" xmlns:m="${meta}">\n`,
    counted(count),
    ...ids.map(id => `<uri>${xmlText(address(id))}</uri>\n`),
    next === null ? '' : `<next>${xmlText(next)}</next>\n`,
    '</links>\n',
  ].join('')
}

/** A feed or an entry must have an author (RFC 4287, section 4.1.1). */
const NOBODY = '<author><name/></author>\n'

function counted(count: number | null): string {
  return count === null ? '' : `<m:count>${count}</m:count>\n`
}

function following(next: string | null): string {
  return next === null ? '' : `<link rel="next" href="${xmlAttribute(next)}"/>\n`
}

function attributes(context: string, { version, place }: AddressedFormat): string {
  const [data, meta] = version !== '4.0' ? [DATA_SERVICES.data, DATA_SERVICES.meta] : [DATA, META]
  const described = version !== '4.0' ? '' : ` m:context="${xmlAttribute(contextAddress(place, context))}"`
  return `xml:base="${xmlAttribute(`${place.root}/`)}" xmlns="${ATOM}" xmlns:d="${data}" xmlns:m="${meta}"${described}`
}

/** The content of an entry. A row that is no record gets an id that cannot be dereferenced (Atom Format 4.0, section 5.1.2). */
function entryWriter(
  { model, columns, updated }: Pick<Feed, 'model' | 'columns' | 'updated'>,
  payloadFormat: AddressedFormat,
): (row: EntityRow, index: number) => string {
  const { version, place } = payloadFormat
  const types = linkTypesOf(place)
  const writers = columns.map(column => propertyWriter(column, payloadFormat, types))
  const isOld = version !== '4.0'
  const term = xmlAttribute(`${isOld ? '' : '#'}${model.namespace}.${model.type}`)
  const category = `<category term="${term}" scheme="${isOld ? DATA_SERVICES.scheme : SCHEME}"/>`
  const title = xmlAttribute(model.set)
  const middle = `<title/><updated>${xmlText(updated)}</updated>${NOBODY.trimEnd()}<content type="application/xml"><m:properties>`
  return ({ id, values }, index) => {
    let text = `<id>odata:transient:${index + 1}</id>${category}${middle}`
    if (id !== null) {
      const path = `${entityPath(model.set, id)}${versionQuery(place)}`
      const link = `<link rel="self" title="${title}" href="${xmlAttribute(path)}"/>`
      text = `<id>${xmlText(`${place.root}/${path}`)}</id>${category}${link}${middle}`
    }
    return `${text}${valuesText(writers, values)}</m:properties></content>`
  }
}

/** Writes a property of an entry as an element (Atom Format 4.0, section 7; OData 3.0 Atom Format). */
function propertyWriter(
  column: EntityColumn,
  { version, omitNulls }: PayloadFormat,
  types: string,
): (value: EdmValue) => string {
  if (column.annotation !== undefined) return () => ''
  const name = `d:${xmlName(column.name)}`
  const absent = omitNulls ? '' : `<${name} m:null="true"/>`
  const type = typeAttribute(column, version, types)
  const content = contentWriter(column, version)
  const start = `<${name}${type}`
  const end = `</${name}>`
  return value => {
    if (value === null) return absent
    return `${start}${spaceAttribute(value)}>${content(value)}${end}`
  }
}

/** Writes the value of a property by itself (Atom Format 4.0, section 11); in 3.0 the element has its name. */
export function atomProperty(
  { column, value, context }: PropertyAnswer,
  payloadFormat: AddressedFormat,
): string {
  const { version, place } = payloadFormat
  const [data, meta] = version !== '4.0' ? [DATA_SERVICES.data, DATA_SERVICES.meta] : [DATA, META]
  const name = version !== '4.0' ? `d:${xmlName(column.name)}` : 'm:value'
  const described = version !== '4.0' ? '' : ` m:context="${xmlAttribute(contextAddress(place, context))}"`
  const start = `${XML_DECLARATION}<${name} xmlns:d="${data}" xmlns:m="${meta}"${described}`
  if (value === null) return `${start} m:null="true"/>\n`
  const type = typeAttribute(column, version, linkTypesOf(place))
  return `${start}${type}${spaceAttribute(value)}>${contentWriter(column, version)(value)}</${name}>\n`
}

/** The type attribute; strings have none. Primitive types of 4.0 are written without `#`. */
function typeAttribute(
  column: Pick<EntityColumn, 'type' | 'collection'>,
  version: Version,
  types: string,
): string {
  const { type, collection } = column
  if (type === 'Edm.String' && !collection) return ''
  const fragment = typeFragment(column, version, types)
  const isPrimitive = type !== 'Ods.GeoPoint2D' && !collection
  return ` m:type="${xmlAttribute(isPrimitive ? fragment.replace('#', '') : fragment)}"`
}

function spaceAttribute(value: EdmValue): string {
  return typeof value === 'string' && /^\s|\s$/.test(value) ? ' xml:space="preserve"' : ''
}

function contentWriter(column: EntityColumn, version: Version): (value: EdmValue) => string {
  if (column.collection) {
    const name = version !== '4.0' ? 'd:element' : 'm:element'
    return value =>
      (value as readonly string[])
        .map(text => `<${name}${spaceAttribute(text)}>${xmlText(text)}</${name}>`)
        .join('')
  }
  if (column.type === 'Ods.GeoPoint2D') {
    const type = typeAttribute(MEMBER_TYPE, version, '')
    const members = membersOf(column)
    return value =>
      members
        .map(member => {
          const text = primitiveText((value as PointValue)[member], MEMBER_TYPE, version)
          return `<d:${member}${type}>${text}</d:${member}>`
        })
        .join('')
  }
  if (column.type === 'Edm.String') return value => xmlText(value as string)
  return value => xmlText(primitiveText(value as string | number | boolean, column, version))
}
