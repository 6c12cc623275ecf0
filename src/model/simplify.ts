import { rectangleRing } from './geometry.ts'
import type { Geometry } from './value.ts'

type Line = readonly (readonly number[])[]
type Polygon = readonly Line[]

/**
 * A geometry with fewer positions, for drawing: its positions are moved to the nearest ones of a grid, and of consecutive ones that
 * are equal then, or on one line, only those remain that are seen; neighbours still share their border. What is smaller than a cell
 * of the grid is a rectangle or line that can still be seen; holes, and islands beside others, are left out then.
 *
 * @param step degrees between the lines of the grid
 */
export function simplified(geometry: Geometry, step: number): Geometry {
  if (geometry.type === 'GeometryCollection')
    return { type: geometry.type, geometries: geometry.geometries.map(part => simplified(part, step)) }
  const { type } = geometry
  const parts = geometry.coordinates as unknown
  switch (type) {
    case 'Point':
    case 'MultiPoint':
      return geometry
    case 'LineString':
      return { type, coordinates: simpleLine(parts as Line, step) }
    case 'MultiLineString':
      return { type, coordinates: (parts as Polygon).map(line => simpleLine(line, step)) }
    case 'Polygon':
      return { type, coordinates: simplePolygon(parts as Polygon, step) ?? rectangle(parts as Polygon) }
    case 'MultiPolygon': {
      const polygons = parts as readonly Polygon[]
      const simple = polygons.map(polygon => simplePolygon(polygon, step)).filter(it => it !== null)
      return { type, coordinates: simple.length > 0 ? simple : [rectangle(polygons.flat())] }
    }
  }
}

function onGrid(line: Line, step: number): Line {
  const digits = Math.min(12, Math.max(0, Math.ceil(1 - Math.log10(step))))
  const xs: number[] = []
  const ys: number[] = []
  for (const [lon = 0, lat = 0] of line) {
    const [x, y] = [Math.round(lon / step), Math.round(lat / step)]
    // A position on the way to the next one is not seen.
    while (xs.length > 1 && isBetween(xs, ys, x, y)) {
      xs.pop()
      ys.pop()
    }
    if (x === xs.at(-1) && y === ys.at(-1)) continue
    xs.push(x)
    ys.push(y)
  }
  const degrees = (cell = 0) => Number((cell * step).toFixed(digits))
  return xs.map((x, at) => [degrees(x), degrees(ys[at])])
}

/** True if the last position is on the way from the one before to the next one: a way there and back is seen. */
function isBetween(xs: readonly number[], ys: readonly number[], x: number, y: number): boolean {
  const [x1 = 0, x2 = 0] = xs.slice(-2)
  const [y1 = 0, y2 = 0] = ys.slice(-2)
  const isOnLine = (x2 - x1) * (y - y2) === (y2 - y1) * (x - x2)
  return isOnLine && (x2 - x1) * (x - x2) + (y2 - y1) * (y - y2) >= 0
}

function simpleLine(line: Line, step: number): Line {
  const found = onGrid(line, step)
  return found.length > 1 ? found : [line[0] ?? [], line.at(-1) ?? []]
}

/** Null where nothing is left of its outer ring. */
function simplePolygon(rings: Polygon, step: number): Polygon | null {
  const [outer, ...holes] = rings.map(ring => onGrid(ring, step))
  if (outer === undefined || outer.length < 4) return null
  return [outer, ...holes.filter(({ length }) => length >= 4)]
}

/** The rectangle around rings. */
function rectangle(rings: Polygon): Polygon {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const ring of rings)
    for (const [lon = 0, lat = 0] of ring) {
      west = Math.min(west, lon)
      east = Math.max(east, lon)
      south = Math.min(south, lat)
      north = Math.max(north, lat)
    }
  return [rectangleRing(west, south, east, north)]
}
