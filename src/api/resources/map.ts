import { toGeoShape } from '../../model/geometry.ts'
import type { Geometry } from '../../model/value.ts'
import { type Html, html } from '../../site/html.ts'
import type { Translator } from '../../site/page-context.ts'
import { type CoastlineBox, coastlineWithin } from './coastline.ts'

type Position = readonly [lon: number, lat: number]

/** The parts of geometries that are drawn. */
interface Drawing {
  readonly points: Position[]
  readonly lines: (readonly Position[])[]
  readonly rings: (readonly Position[])[]
}

/** Width of a map and the greatest height, in the units of its picture. */
const WIDTH = 480
const MAX_HEIGHT = 480
const MIN_HEIGHT = 200
/** Maximum number of positions that are all drawn; of more, every second, third … is. */
const MAX_POSITIONS = 6000
/** Minimum extent of a map, in degrees, so that a point has surroundings. */
const LEAST = 16
/** Steps of coasts and borders that are shorter are left out, in units of the picture. */
const LEAST_STEP = 1.5
/** Maximum length of the text of a geometry that is read for a map, in characters. */
const MAX_TEXT = 4_000_000

/**
 * A picture of geometries in their bounding box, with a graticule that shows the location; null for texts that are no
 * geometry. Plate carrée, its scale true in the middle.
 *
 * @param texts well-known texts, longitude before latitude (OGC GeoSPARQL 1.1, section 8.8.4)
 */
export function mapOf(texts: readonly string[], t: Translator): Html | null {
  const drawing: Drawing = { points: [], lines: [], rings: [] }
  for (const text of texts) {
    const geometry = text.length > MAX_TEXT ? undefined : toGeoShape(text)
    if (geometry !== undefined && geometry !== null) collect(geometry, drawing)
  }
  const box = boxOf([...drawing.points, ...drawing.lines.flat(), ...drawing.rings.flat()])
  if (box === null) return null
  const frame = frameOf(box)
  const lon = (box.west + box.east) / 2
  const lat = (box.south + box.north) / 2
  const zoom = Math.max(1, Math.min(16, Math.floor(Math.log2(360 / Math.max(frame.east - frame.west, 1e-4)))))
  const [x, y] = [lon.toFixed(5).replace(/\.?0+$/, ''), lat.toFixed(5).replace(/\.?0+$/, '')]
  const where = `${degrees(lat, 'N', 'S')} ${degrees(lon, 'E', 'W')}`
  return html`<figure class="place"><svg viewBox="0 0 ${WIDTH} ${frame.height}" direction="ltr" role="img" aria-label="${t('Map around {place}', { place: where })}">
<rect class="sea" width="${WIDTH}" height="${frame.height}"/>
${surroundings(frame)}${graticule(frame)}${drawn(drawing, frame)}</svg>
<figcaption><a href="geo:${y},${x}">${where}</a> · <a href="https://www.openstreetmap.org/?mlat=${y}&mlon=${x}#map=${zoom}/${y}/${x}">OpenStreetMap</a></figcaption></figure>
`
}

function collect(geometry: Geometry, into: Drawing): void {
  if (geometry.type === 'GeometryCollection') {
    for (const part of geometry.geometries) collect(part, into)
    return
  }
  const { type: kind, coordinates } = geometry
  const at = <Depth>() => coordinates as unknown as Depth
  switch (kind) {
    case 'Point':
      into.points.push(at<Position>())
      return
    case 'MultiPoint':
      into.points.push(...at<readonly Position[]>())
      return
    case 'LineString':
      into.lines.push(at<readonly Position[]>())
      return
    case 'MultiLineString':
      into.lines.push(...at<readonly (readonly Position[])[]>())
      return
    case 'Polygon':
      into.rings.push(...at<readonly (readonly Position[])[]>())
      return
    case 'MultiPolygon':
      into.rings.push(...at<readonly (readonly (readonly Position[])[])[]>().flat())
      return
    default: {
      kind satisfies never
    }
  }
}

function boxOf(positions: readonly Position[]): CoastlineBox | null {
  if (positions.length === 0) return null
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [lon, lat] of positions) {
    west = Math.min(west, lon)
    east = Math.max(east, lon)
    south = Math.min(south, lat)
    north = Math.max(north, lat)
  }
  return { west, south, east, north }
}

interface Frame extends CoastlineBox {
  readonly height: number
  readonly x: (lon: number) => number
  readonly y: (lat: number) => number
}

/** The part of the Earth that a map shows: the box with a margin, not too flat and not too high. */
function frameOf({ west, south, east, north }: CoastlineBox): Frame {
  const [lon, lat] = [(west + east) / 2, (south + north) / 2]
  const shrink = Math.max(0.1, Math.cos((lat * Math.PI) / 180))
  let width = Math.max((east - west) * 1.16, LEAST / shrink)
  let rise = Math.max((north - south) * 1.16, LEAST * 0.6)
  const ratio = rise / (width * shrink)
  if (ratio > MAX_HEIGHT / WIDTH) width = (rise / shrink) * (WIDTH / MAX_HEIGHT)
  if (ratio < MIN_HEIGHT / WIDTH) rise = width * shrink * (MIN_HEIGHT / WIDTH)
  const height = Math.round((WIDTH * rise) / (width * shrink))
  return {
    west: lon - width / 2,
    east: lon + width / 2,
    south: lat - rise / 2,
    north: lat + rise / 2,
    height,
    x: value => round(((value - lon) / width + 0.5) * WIDTH),
    y: value => round((0.5 - (value - lat) / rise) * height),
  }
}

const STEPS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 45]

function graticule({ west, east, south, north, height, x, y }: Frame): Html {
  const step = STEPS.find(size => (east - west) / size <= 5) ?? 90
  const meridians = multiples(step, west, east)
  const parallels = multiples(step, Math.max(south, -90), Math.min(north, 90))
  return html`<g class="grid">${meridians.map(
    lon =>
      html`<line x1="${x(lon)}" y1="0" x2="${x(lon)}" y2="${height}"/><text x="${x(lon) + 3}" y="${height - 5}">${degrees(lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon, 'E', 'W')}</text>`,
  )}${parallels.map(
    lat =>
      html`<line x1="0" y1="${y(lat)}" x2="${WIDTH}" y2="${y(lat)}"/><text x="4" y="${y(lat) - 4}">${degrees(lat, 'N', 'S')}</text>`,
  )}</g>
`
}

/** Land and borders of countries, drawn at the visible resolution. */
function surroundings(frame: Frame): Html {
  const { land: coastline, borders } = coastlineWithin(frame)
  const path = (line: readonly Position[]) => {
    const steps: string[] = []
    let [lastX, lastY] = [Infinity, Infinity]
    for (const [lon, lat] of line) {
      const [x, y] = [frame.x(lon), frame.y(lat)]
      if (Math.abs(x - lastX) + Math.abs(y - lastY) < LEAST_STEP) continue
      steps.push(`${x} ${y}`)
      lastX = x
      lastY = y
    }
    return steps.length < 2 ? '' : `M${steps.join('L')}`
  }
  const coasts = coastline.map(path).filter(text => text.includes('L'))
  return html`<path class="land" fill-rule="evenodd" d="${coasts.map(text => `${text}Z`).join('')}"/><path class="border" d="${borders.map(path).join('')}"/>
`
}

function multiples(step: number, from: number, to: number): readonly number[] {
  const first = Math.ceil(from / step)
  const count = Math.min(12, Math.max(0, Math.floor(to / step) - first + 1))
  return Array.from({ length: count }, (_, index) => (first + index) * step)
}

function drawn({ points, lines, rings }: Drawing, frame: Frame): Html {
  const positions = [...lines, ...rings].reduce((sum, { length }) => sum + length, 0)
  const every = Math.ceil(positions / MAX_POSITIONS)
  const path = (line: readonly Position[]) => {
    const steps: string[] = []
    line.forEach(([lon, lat], index) => {
      if (index % every !== 0 && index !== line.length - 1) return
      const step = `${frame.x(lon)} ${frame.y(lat)}`
      if (step !== steps.at(-1)) steps.push(step)
    })
    return `M${steps.join('L')}`
  }
  const markers = points.slice(0, 500)
  return html`${rings.length === 0 ? '' : html`<path class="area" fill-rule="evenodd" d="${rings.map(ring => `${path(ring)}Z`).join('')}"/>`}${
    lines.length === 0 ? '' : html`<path class="line" d="${lines.map(path).join('')}"/>`
  }${markers.map(
    ([lon, lat]) =>
      html`<circle class="halo" cx="${frame.x(lon)}" cy="${frame.y(lat)}" r="${markers.length > 20 ? 4 : 11}"/><circle class="point" cx="${frame.x(lon)}" cy="${frame.y(lat)}" r="${markers.length > 20 ? 2 : 4}"/>`,
  )}
`
}

const round = (value: number) => Math.round(value * 10) / 10

function degrees(value: number, positive: string, negative: string): string {
  const text = Math.abs(value)
    .toFixed(4)
    .replace(/\.?0+$/, '')
  return `${text}°${text === '0' ? '' : value > 0 ? positive : negative}`
}
