import { readFileSync } from 'node:fs'

type Position = readonly [lon: number, lat: number]

/** A part of the Earth, in degrees; it may reach beyond ±180. */
export interface CoastlineBox {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

interface Outline extends CoastlineBox {
  readonly line: readonly Position[]
}

interface Coastline {
  readonly land: readonly Outline[]
  readonly borders: readonly Outline[]
}

/** The coastline that the build generates from Natural Earth. */
const FILE = new URL('../../../dist/land.json', import.meta.url)

let cached: Coastline | null = null

/** Outlines of land within a box, cut at its edges, and the borders that cross it; nothing if the build generated no file. */
export function coastlineWithin(box: CoastlineBox): {
  readonly land: readonly (readonly Position[])[]
  readonly borders: readonly (readonly Position[])[]
} {
  cached ??= readCoastline()
  const { land: coastline, borders } = cached
  const around = (outlines: readonly Outline[]) =>
    [-360, 0, 360].flatMap(turn =>
      outlines
        .filter(
          ({ west, east, south, north }) =>
            west + turn < box.east && east + turn > box.west && south < box.north && north > box.south,
        )
        .map(({ line }) => line.map(([lon, lat]): Position => [lon + turn, lat])),
    )
  return {
    land: around(coastline)
      .map(ring => cutRing(ring, box))
      .filter(({ length }) => length > 2),
    borders: around(borders),
  }
}

function readCoastline(): Coastline {
  try {
    const { land: coastline, borders } = JSON.parse(readFileSync(FILE, 'utf8')) as Record<
      'land' | 'borders',
      number[][]
    >
    return { land: coastline.map(outlineOf), borders: borders.map(outlineOf) }
  } catch {
    return { land: [], borders: [] }
  }
}

function outlineOf(steps: readonly number[]): Outline {
  let [x, y] = [0, 0]
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  const line: Position[] = []
  for (let at = 0; at + 1 < steps.length; at += 2) {
    x += steps[at] ?? 0
    y += steps[at + 1] ?? 0
    west = Math.min(west, x / 100)
    east = Math.max(east, x / 100)
    south = Math.min(south, y / 100)
    north = Math.max(north, y / 100)
    line.push([x / 100, y / 100])
  }
  return { line, west, south, east, north }
}

/** The part of a ring within a box, edge after edge (Sutherland and Hodgman, 1974). */
export function cutRing(
  ring: readonly Position[],
  { west, south, east, north }: CoastlineBox,
): readonly Position[] {
  const edges: readonly (readonly [axis: 0 | 1, limit: number, sign: 1 | -1])[] = [
    [0, west, 1],
    [0, east, -1],
    [1, south, 1],
    [1, north, -1],
  ]
  let rest = ring
  for (const [axis, limit, sign] of edges) {
    const cut: Position[] = []
    let before = rest.at(-1)
    for (const here of rest) {
      if (before === undefined) break
      const isInside = (here[axis] - limit) * sign >= 0
      if (isInside !== (before[axis] - limit) * sign >= 0) {
        const part = (limit - before[axis]) / (here[axis] - before[axis])
        cut.push([before[0] + part * (here[0] - before[0]), before[1] + part * (here[1] - before[1])])
      }
      if (isInside) cut.push(here)
      before = here
    }
    rest = cut
  }
  return rest
}
