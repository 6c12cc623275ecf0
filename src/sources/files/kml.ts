import { setMember } from '../../model/lookup.ts'
import type { DataFile } from '../data-file.ts'
import type { RawGeometry } from '../reference-system.ts'
import type { RecordSource } from '../source.ts'
import { refuseWide } from '../tables/grid.ts'
import { child, childText, elementRows, type XmlElement } from './xml.ts'

/** A column that a Schema of KML declares. */
interface SchemaField {
  readonly name: string
  readonly type: string
}

/**
 * The placemarks of a KML document (OGC 07-147r2): their names, descriptions and times, the columns of `ExtendedData`, and `geometry`.
 */
export function kmlSource(data: DataFile): RecordSource {
  return {
    name: data.name,
    textual: true,
    read: () => {
      const fields: SchemaField[] = []
      return elementRows(
        data,
        path => path.at(-1) === 'Placemark' || path.at(-1) === 'Schema',
        element => {
          if (element.name !== 'Schema') return placemarkData(element, fields)
          noteSchema(element, fields)
          refuseWide(data.name, fields.length)
          return null
        },
      )
    },
  }
}

function noteSchema(schema: XmlElement, fields: SchemaField[]): void {
  for (const field of schema.children) {
    const name = field.attributes.get('name')
    if (field.name === 'SimpleField' && name !== undefined)
      fields.push({ name, type: field.attributes.get('type') ?? 'string' })
  }
}

function placemarkData(
  placemark: XmlElement,
  fields: readonly SchemaField[],
): Readonly<Record<string, unknown>> {
  const data: Record<string, unknown> = {}
  for (const { name } of fields) setMember(data, name, null)
  for (const extended of placemark.children.filter(it => it.name === 'ExtendedData'))
    readExtended(extended, data, fields)
  const name = childText(placemark, 'name')
  // Writers with a schema repeat one of the columns as the displayed name.
  const isRepeated = fields.length > 0 && (name === null || Object.values(data).includes(name))
  if (!isRepeated && !Object.hasOwn(data, 'name')) setMember(data, 'name', name)
  for (const part of ['description', 'address', 'phoneNumber']) {
    const text = childText(placemark, part)
    if (text !== null && !Object.hasOwn(data, part)) setMember(data, part, text)
  }
  readTimes(placemark, data)
  data[Object.hasOwn(data, 'geometry') ? 'shape' : 'geometry'] = geometryIn(placemark)
  return data
}

function readExtended(
  extended: XmlElement,
  data: Record<string, unknown>,
  fields: readonly SchemaField[],
): void {
  for (const part of extended.children) {
    const name = part.attributes.get('name')
    if (part.name === 'Data' && name !== undefined) setMember(data, name, childText(part, 'value'))
    if (part.name !== 'SchemaData') continue
    for (const simple of part.children) {
      const key = simple.attributes.get('name')
      if (simple.name !== 'SimpleData' || key === undefined) continue
      const type = fields.find(it => it.name === key)?.type
      const text = type === 'bool' ? simple.text.trim() : simple.text
      setMember(data, key, text === '' ? null : type === 'bool' ? /^(?:1|true)$/i.test(text) : text)
    }
  }
}

function readTimes(placemark: XmlElement, data: Record<string, unknown>): void {
  const stamp = child(placemark, 'TimeStamp')
  const span = child(placemark, 'TimeSpan')
  if (stamp !== undefined) setMember(data, 'time', childText(stamp, 'when'))
  if (span !== undefined) {
    setMember(data, 'begin', childText(span, 'begin'))
    setMember(data, 'end', childText(span, 'end'))
  }
}

function geometryIn(element: XmlElement): RawGeometry | null {
  for (const part of element.children) {
    const geometry = geometryOf(part)
    if (geometry !== null) return geometry
  }
  return null
}

function geometryOf(element: XmlElement): RawGeometry | null {
  switch (element.name) {
    case 'Point': {
      const [position] = coordinatesOf(element)
      return position === undefined ? null : { type: 'Point', coordinates: position }
    }
    case 'LineString':
      return { type: 'LineString', coordinates: coordinatesOf(element) }
    case 'LinearRing':
      return { type: 'LineString', coordinates: coordinatesOf(element) }
    case 'Polygon': {
      const rings = element.children
        .filter(it => it.name === 'outerBoundaryIs' || it.name === 'innerBoundaryIs')
        .sort((a, b) => Number(a.name === 'innerBoundaryIs') - Number(b.name === 'innerBoundaryIs'))
        .flatMap(it => it.children.filter(ring => ring.name === 'LinearRing').map(coordinatesOf))
      return rings.length === 0 ? null : { type: 'Polygon', coordinates: rings }
    }
    case 'MultiGeometry':
    case 'MultiTrack':
      return collected(element.children.flatMap(part => geometryOf(part) ?? []))
    case 'Track': {
      const positions = element.children
        .filter(it => it.name === 'coord')
        .map(it => it.text.trim().split(/\s+/).slice(0, 2).map(Number))
      return positions.length < 2 ? null : { type: 'LineString', coordinates: positions }
    }
    default:
      return null
  }
}

/** Several geometries of one type become one multi-part geometry. */
function collected(parts: readonly RawGeometry[]): RawGeometry | null {
  const [first] = parts
  if (first === undefined) return null
  const isSimple = ['Point', 'LineString', 'Polygon'].includes(first.type)
  if (!isSimple || parts.some(({ type }) => type !== first.type))
    return { type: 'GeometryCollection', geometries: parts }
  return { type: `Multi${first.type}`, coordinates: parts.map(({ coordinates }) => coordinates) }
}

function coordinatesOf(element: XmlElement): readonly (readonly number[])[] {
  const text = child(element, 'coordinates')?.text.trim() ?? ''
  if (text === '') return []
  return text
    .replace(/\s+/g, ' ')
    .replace(/ ?, ?/g, ',')
    .split(' ')
    .map(position => position.split(',').slice(0, 2).map(Number))
}
