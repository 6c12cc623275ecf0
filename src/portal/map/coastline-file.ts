import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import type { Line } from './outline.ts'

/**
 * The text of the file for maps that the server draws: coastlines and borders between countries of Natural Earth at
 * 1 : 50 million, each line as steps in hundredths of a degree.
 */
export function coastlineFile(): string {
  const coastline = topology('land-50m')
  const countries = topology('countries-50m')
  const shape = feature(coastline, coastline.objects.land as GeometryCollection)
  const rings = shape.features.flatMap(({ geometry }): readonly Line[] => {
    if (geometry.type === 'Polygon') return geometry.coordinates as unknown as readonly Line[]
    return geometry.type === 'MultiPolygon' ? (geometry.coordinates.flat() as unknown as readonly Line[]) : []
  })
  const borders = mesh(countries, countries.objects.countries as GeometryCollection, (a, b) => a !== b)
  return JSON.stringify({
    land: rings.map(stepsOf),
    borders: (borders.coordinates as unknown as readonly Line[]).map(stepsOf),
  })
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

function topology(name: string): Topology {
  const file = createRequire(import.meta.url).resolve(`world-atlas/${name}.json`)
  return JSON.parse(readFileSync(file, 'utf8')) as Topology
}
