import { positionsOf, toGeoShape } from '../../../model/geometry.ts'
import type { Geometry } from '../../../model/value.ts'
import { plain } from '../../../sparql/result-formats.ts'
import { borders } from './borders.ts'
import { coastlinePolygons } from './coastline.ts'
import { svg } from './elements.ts'
import { boxOfAll } from './map-data.ts'
import type { MessageRow } from './query-messages.ts'

const WKT = 'http://www.opengis.net/ont/geosparql#wktLiteral'

/** Maximum number of places, and the size of the drawing in its own units. */
const MAX_PLACES = 5000
const WIDTH = 800
const HEIGHT = 400
/** Minimum extent in degrees, so that a single town has surroundings. */
const LEAST_SPAN = 4

interface Place {
  readonly geometry: Geometry
  readonly name: string
}

/** A part of the world on the drawing: plate carrée, true to scale at its middle latitude. */
interface View {
  readonly x: (lon: number) => number
  readonly y: (lat: number) => number
}

/** The places of an answer as a drawing: a circle for each point, and shapes. */
export function answerMap(rows: readonly MessageRow[], label: string): SVGElement {
  const places = rows.flatMap(placesOf).slice(0, MAX_PLACES)
  const view = viewOf(places)
  const drawing = svg('svg', { class: 'answer-map', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img' })
  drawing.setAttribute('aria-label', label)
  drawing.append(outline(coastlinePolygons(), 'shore', view), outline(borders(), 'border', view))
  for (const { geometry, name } of places)
    drawing.append(svg('g', {}, svg('title', {}, name), ...shapesOf(geometry, view)))
  return drawing
}

/** Lines of the world below the places; corners have their latitude first. */
function outline(
  lines: readonly (readonly (readonly [number, number])[])[],
  kind: string,
  view: View,
): SVGElement {
  const d = lines
    .map(line =>
      pathOf(
        line.map(([lat, lon]) => [lon, lat]),
        view,
      ),
    )
    .join('')
  return svg('path', { class: kind, d })
}

function placesOf(row: MessageRow): readonly Place[] {
  const name = row
    .flatMap(term =>
      term === null || (term.type === 'literal' && term.datatype === WKT) ? [] : [plain(term)],
    )
    .slice(0, 4)
    .join(' · ')
  return row.flatMap(term => {
    if (term?.type !== 'literal' || term.datatype !== WKT) return []
    // The optional reference system before it is ignored: it is the same for all values here.
    const geometry = toGeoShape(term.value.replace(/^\s*<[^>]*>\s*/, ''))
    return geometry === null || geometry === undefined ? [] : [{ geometry, name }]
  })
}

function viewOf(places: readonly Place[]): View {
  const world = { south: -90, west: -180, north: 90, east: 180 }
  const { south, west, north, east } =
    boxOfAll(places.flatMap(({ geometry }) => positionsOf(geometry))) ?? world
  const middle = (south + north) / 2
  const squeeze = Math.max(0.2, Math.cos((middle * Math.PI) / 180))
  const wide = Math.max(LEAST_SPAN, east - west) * squeeze * 1.1
  const high = Math.max(LEAST_SPAN, north - south) * 1.1
  const scale = Math.min(WIDTH / wide, HEIGHT / high)
  const centre = (west + east) / 2
  return {
    x: lon => WIDTH / 2 + (lon - centre) * squeeze * scale,
    y: lat => HEIGHT / 2 - (lat - middle) * scale,
  }
}

function shapesOf(geometry: Geometry, view: View): readonly SVGElement[] {
  if (geometry.type === 'GeometryCollection') return geometry.geometries.flatMap(each => shapesOf(each, view))
  if (geometry.type === 'Point' || geometry.type === 'MultiPoint')
    return positionsOf(geometry).map(([lon, lat]) =>
      svg('circle', { class: 'place', cx: round(view.x(lon)), cy: round(view.y(lat)), r: '4' }),
    )
  const isArea = geometry.type === 'Polygon' || geometry.type === 'MultiPolygon'
  const d = linesOf(geometry.coordinates)
    .map(line => pathOf(line, view) + (isArea ? 'Z' : ''))
    .join('')
  return [svg('path', { class: isArea ? 'place' : 'place line', d, 'fill-rule': 'evenodd' })]
}

/** A line as a path; it is split where it crosses the 180th meridian. */
function pathOf(line: readonly (readonly [number, number])[], { x, y }: View): string {
  return line
    .map(([lon, lat], at) => {
      const before = line[at - 1]
      const isBroken = before === undefined || Math.abs(lon - before[0]) > 180
      return `${isBroken ? 'M' : 'L'}${round(x(lon))} ${round(y(lat))}`
    })
    .join('')
}

/** The lists of positions in nested coordinates. */
function linesOf(coordinates: unknown): readonly (readonly (readonly [number, number])[])[] {
  if (!Array.isArray(coordinates)) return []
  const [first] = coordinates as readonly unknown[]
  if (Array.isArray(first) && typeof first[0] === 'number')
    return [coordinates as unknown as readonly (readonly [number, number])[]]
  return coordinates.flatMap(linesOf)
}

function round(value: number): string {
  return value.toFixed(1)
}
