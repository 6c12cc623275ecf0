import { lookup, setMember } from '../../model/lookup.ts'
import { words } from '../../model/words.ts'
import type { DataFile } from '../data-file.ts'
import type { RawGeometry } from '../reference-system.ts'
import type { RecordSource } from '../source.ts'
import { elementRows, type XmlElement } from './xml.ts'

/** Elements of waypoints, routes and tracks in GPX 1.1 in addition to positions. */
const DETAILS: readonly string[] = words('ele time name cmt desc src sym type number fix sat hdop vdop pdop')

/** A line of a description written by this project: the name of a column and its value. */
const DESCRIBED = /^([^:\n]{1,200}): (.*)$/

/**
 * The waypoints, routes and tracks of a GPX document, with their details, the elements of `extensions`, and `geometry`: a point,
 * a line, or a line for each segment.
 */
export function gpxSource(data: DataFile): RecordSource {
  const head = data.head.toString('utf8')
  const own = !/<gpx[^>]*creator="Lodestone"/.test(head)
    ? null
    : /<gpx[^>]*xmlns:c="urn:lodestone:columns"/.test(head)
      ? 'extensions'
      : 'description'
  return {
    name: data.name,
    textual: true,
    read: () =>
      elementRows(
        data,
        path => path.length === 2 && ['wpt', 'rte', 'trk'].includes(path[1] ?? ''),
        element => dataOf(element, own),
      ),
  }
}

/** @param own where this project wrote the columns; null in other files */
function dataOf(
  element: XmlElement,
  own: 'extensions' | 'description' | null,
): Readonly<Record<string, unknown>> {
  const data: Record<string, unknown> = {}
  if (own !== 'extensions')
    for (const detail of element.children) {
      if (!DETAILS.includes(detail.name)) continue
      const text = detail.text.trim()
      setMember(data, detail.name, text === '' ? null : text)
    }
  for (const extensions of element.children.filter(it => it.name === 'extensions'))
    readExtensions(extensions, data)
  const columns = own === 'description' ? describedColumns(data) : null
  const values = columns ?? data
  values[Object.hasOwn(values, 'geometry') ? 'shape' : 'geometry'] = geometryOf(element)
  return values
}

function readExtensions({ children }: XmlElement, data: Record<string, unknown>): void {
  for (const extension of children) {
    if (extension.children.length > 0) readExtensions(extension, data)
    else setMember(data, extension.name, extension.text.trim() === '' ? null : extension.text)
  }
}

/** The columns that this project wrote as lines of a description, including the column used as the name. */
function describedColumns(data: Readonly<Record<string, unknown>>): Record<string, unknown> | null {
  const { desc, name, ...rest } = data
  const columns: Record<string, unknown> = { ...rest }
  if (typeof desc === 'string') {
    let last: string | undefined
    for (const line of desc.split('\n')) {
      const [, key, value] = DESCRIBED.exec(line) ?? []
      if (key !== undefined) {
        setMember(columns, key, value)
        last = key
      } else if (last === undefined) return null
      else setMember(columns, last, `${String(lookup(columns, last))}\n${line}`)
    }
  }
  if (name !== undefined && !Object.values(columns).includes(name)) setMember(columns, 'name', name)
  return columns
}

function geometryOf(element: XmlElement): RawGeometry | null {
  if (element.name === 'wpt') return { type: 'Point', coordinates: positionOf(element) }
  if (element.name === 'rte')
    return {
      type: 'LineString',
      coordinates: element.children.filter(it => it.name === 'rtept').map(positionOf),
    }
  const segments = element.children
    .filter(it => it.name === 'trkseg')
    .map(segment => segment.children.filter(it => it.name === 'trkpt').map(positionOf))
    .filter(positions => positions.length > 0)
  const lines = segments.filter(positions => positions.length > 1)
  if (segments.length === 1 && lines.length === 0) return { type: 'Point', coordinates: segments[0]?.[0] }
  if (lines.length === 0)
    return segments.length === 0 ? null : { type: 'MultiPoint', coordinates: segments.flat() }
  return lines.length === 1
    ? { type: 'LineString', coordinates: lines[0] }
    : { type: 'MultiLineString', coordinates: lines }
}

function positionOf({ attributes }: XmlElement): readonly number[] {
  return [Number(attributes.get('lon')), Number(attributes.get('lat'))]
}
