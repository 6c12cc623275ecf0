import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import { encodeOutline, type Line } from './outline.ts'

/** The module of coastlines that the build generates for maps, separate from that of borders; from Natural Earth. */
export const COASTLINE_MODULE = 'lodestone:land'

/** The text of the module of outlines. */
export function coastlineModule(): string {
  const rings = coastlines('110m').flatMap(ring => cutAtEdges(ring, 'ring'))
  return `export const coastline = ${JSON.stringify(encodeOutline(rings))}`
}

/** The text of the module of borders. */
export function bordersModule(): string {
  const lines = borders('110m').flatMap(line => cutAtEdges(line, 'path'))
  return `export const borders = ${JSON.stringify(encodeOutline(lines))}`
}

/**
 * The text of the file for maps that the server draws: coastlines and borders between countries of Natural Earth at
 * 1 : 50 million, each line as steps in hundredths of a degree.
 */
export function coastlineFile(): string {
  return JSON.stringify({ land: coastlines('50m').map(stepsOf), borders: borders('50m').map(stepsOf) })
}

function stepsOf(line: Line): readonly number[] {
  let [x, y] = [0, 0]
  return line.flatMap(([lon, lat], at) => {
    const [stepX, stepY] = [Math.round(lon * 100) - x, Math.round(lat * 100) - y]
    if (at > 0 && stepX === 0 && stepY === 0) return []
    x += stepX
    y += stepY
    return [stepX, stepY]
  })
}

/** Longitudes are between this and its negative. */
const EDGE = 180

/**
 * The parts of a line on a map of the world: it is cut at the 180th meridian and continues at the other edge, so that nothing
 * is drawn twice. A ring remains a ring, closed along the edge.
 */
export function cutAtEdges(line: Line, type: 'ring' | 'path'): readonly Line[] {
  const whole = unrolled(line)
  const longitudes = whole.map(([lon]) => lon)
  if (Math.max(...longitudes) <= EDGE && Math.min(...longitudes) >= -EDGE) return [whole]
  return [0, -2 * EDGE, 2 * EDGE].flatMap(shift => {
    const shifted = whole.map(([lon, lat]) => [lon + shift, lat] as const)
    const eastern = clipped([shifted], type, lon => lon + EDGE, -EDGE)
    return clipped(eastern, type, lon => EDGE - lon, EDGE)
  })
}

/** A line that crosses the 180th meridian continues beyond it. */
function unrolled(line: Line): Line {
  let turns = 0
  let before: Line[number] | null = null
  return line.map(([lon, lat]) => {
    const step = before === null ? 0 : lon - before[0]
    // At the pole itself longitude steps are no crossings.
    if (Math.abs(step) > EDGE && lat > -89) turns -= Math.sign(step)
    before = [lon, lat]
    return [lon + 2 * EDGE * turns, lat] as const
  })
}

/**
 * The parts of lines on one side of a meridian (Sutherland and Hodgman's algorithm for rings).
 *
 * @param inside positive on the retained side, 0 on the meridian
 */
function clipped(
  lines: readonly Line[],
  type: 'ring' | 'path',
  inside: (lon: number) => number,
  meridian: number,
): readonly Line[] {
  return lines.flatMap(line => {
    const parts: [number, number][][] = [[]]
    for (const [at, [lon, lat]] of line.entries()) {
      const before = line[at - 1]
      if (before !== undefined && inside(before[0]) * inside(lon) < 0) {
        const share = (meridian - before[0]) / (lon - before[0])
        parts.at(-1)?.push([meridian, before[1] + share * (lat - before[1])])
        if (type === 'path' && inside(lon) < 0) parts.push([])
      }
      if (inside(lon) >= 0) parts.at(-1)?.push([lon, lat])
    }
    return parts.filter(part => new Set(part.map(String)).size > (type === 'ring' ? 2 : 1)).map(closed(type))
  })
}

/** Closes a ring, also if its beginning was cut off. */
function closed(type: 'ring' | 'path'): (part: Line) => Line {
  return part => {
    const [first] = part
    return type === 'path' || first === undefined || String(first) === String(part.at(-1))
      ? part
      : [...part, first]
  }
}

/** The rings of Natural Earth's coastlines at a scale. */
function coastlines(scale: string): readonly Line[] {
  const coastline = topology(`land-${scale}`)
  const { features } = feature(coastline, coastline.objects.land as GeometryCollection)
  return features.flatMap(({ geometry }) => {
    if (geometry.type === 'Polygon') return geometry.coordinates as unknown as readonly Line[]
    return geometry.type === 'MultiPolygon' ? (geometry.coordinates.flat() as unknown as readonly Line[]) : []
  })
}

function borders(scale: string): readonly Line[] {
  const countries = topology(`countries-${scale}`)
  const { coordinates } = mesh(
    countries,
    countries.objects.countries as GeometryCollection,
    (a, b) => a !== b,
  )
  return coordinates as unknown as readonly Line[]
}

function topology(name: string): Topology {
  const file = createRequire(import.meta.url).resolve(`world-atlas/${name}.json`)
  return JSON.parse(readFileSync(file, 'utf8')) as Topology
}
