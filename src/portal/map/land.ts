import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import { encodeLines, type Line } from './outline.ts'

/** The modules that the build gives the maps: outlines of land and borders between countries, from Natural Earth. */
export const LAND_MODULE = 'lodestone:land'
export const BORDERS_MODULE = 'lodestone:borders'

/** The text of the module of outlines. */
export function landModule(): string {
  const land = topology('land-110m')
  const shape = feature(land, land.objects.land as GeometryCollection)
  const rings = shape.features.flatMap(({ geometry }): readonly Line[] => {
    if (geometry.type === 'Polygon') return geometry.coordinates as unknown as readonly Line[]
    return geometry.type === 'MultiPolygon' ? (geometry.coordinates.flat() as unknown as readonly Line[]) : []
  })
  return `export const land = ${JSON.stringify(encodeLines(rings.flatMap(unrolled)))}`
}

/** The text of the module of borders. */
export function bordersModule(): string {
  const countries = topology('countries-110m')
  const borders = mesh(countries, countries.objects.countries as GeometryCollection, (a, b) => a !== b)
  const lines = borders.coordinates as unknown as readonly Line[]
  return `export const borders = ${JSON.stringify(encodeLines(lines.flatMap(unrolled)))}`
}

/** A line that crosses the 180th meridian goes on beyond it, and once more on the other side of the map. */
export function unrolled(line: Line): readonly Line[] {
  let turns = 0
  let before: Line[number] | null = null
  const whole = line.map(([lon, lat]) => {
    const step = before === null ? 0 : lon - before[0]
    // Around the pole itself there is nothing to cross.
    if (Math.abs(step) > 180 && lat > -89) turns -= Math.sign(step)
    before = [lon, lat]
    return [lon + 360 * turns, lat] as const
  })
  const east = Math.max(...whole.map(([lon]) => lon))
  const west = Math.min(...whole.map(([lon]) => lon))
  if (east <= 181 && west >= -181) return [whole]
  const shift = east > 181 ? -360 : 360
  return [whole, whole.map(([lon, lat]) => [lon + shift, lat] as const)]
}

function topology(name: string): Topology {
  const file = createRequire(import.meta.url).resolve(`world-atlas/${name}.json`)
  return JSON.parse(readFileSync(file, 'utf8')) as Topology
}
