import type { EdmValue, EntityColumn } from '../../../model/edm.ts'
import { XML_DECLARATION, xmlAttribute, xmlName, xmlText } from '../../../model/xml.ts'
import { contextAddress, linkTypesOf } from './links.ts'
import { DATA, DATA_SERVICES, META } from './namespaces.ts'
import type { PayloadFormat, PropertyAnswer, ServicePlace, Version } from './shape.ts'
import { type PointValue, primitiveText } from './texts.ts'
import { MEMBER_TYPE, membersOf, typeFragment } from './types.ts'

/** Writes a property of an entry as an element (Atom Format 4.0, section 7; OData 3.0 Atom Format). */
export function propertyWriter(
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
  payloadFormat: PayloadFormat,
  place: ServicePlace,
): string {
  const { version } = payloadFormat
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

/** Preserves white space at the ends of a text. */
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
