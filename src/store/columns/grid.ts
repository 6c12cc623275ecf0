import { ShapeReader } from '../../model/shape-reader.ts'
import { GEO } from '../../rdf/vocab.ts'
import { sharedUint32 } from './bytes.ts'
import { datatypeOf, type OtherPart, type PointPart } from './dictionary-parts.ts'
import { placesByNumber } from './sorting.ts'

/** A range of longitudes and of latitudes, bounds inclusive. */
export interface GridBox {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/** True where two boxes have a position in common. */
export function touch(one: GridBox, other: GridBox): boolean {
  return (
    one.west <= other.east && one.east >= other.west && one.south <= other.north && one.north >= other.south
  )
}

/** The indexes of points by the cell of a grid that contains them. */
export interface PointGrid {
  readonly box: GridBox
  /** Cells along each axis. */
  readonly side: number
  /** The first index of each cell, row by row from the south; one entry more than there are cells. */
  readonly starts: Uint32Array
  readonly places: Uint32Array
}

/** Average number of points per cell. */
const POINTS_A_CELL = 4
const MAX_SIDE = 1024

/** Builds the grid of points, in memory that all threads share. */
export function makeGrid({ longitudes, latitudes, count }: PointPart): readonly SharedArrayBuffer[] {
  const frame = new Float64Array(new SharedArrayBuffer(5 * Float64Array.BYTES_PER_ELEMENT))
  const side = Math.max(1, Math.min(MAX_SIDE, Math.ceil(Math.sqrt(count / POINTS_A_CELL))))
  frame.set([...extent(longitudes), ...extent(latitudes), side])
  const box = boxOf(frame)
  const cells = new Uint32Array(count)
  for (let place = 0; place < count; place++) {
    const column = cellOf(longitudes[place] as number, box.west, box.east, side)
    cells[place] = cellOf(latitudes[place] as number, box.south, box.north, side) * side + column
  }
  const { starts, places } = placesByNumber(cells, side * side, sharedUint32)
  return [frame.buffer, starts.buffer, places.buffer] as readonly SharedArrayBuffer[]
}

export function openGrid([frame, starts, places]: readonly SharedArrayBuffer[]): PointGrid {
  const numbers = new Float64Array(frame as SharedArrayBuffer)
  return {
    box: boxOf(numbers),
    side: numbers[4] as number,
    starts: new Uint32Array(starts as SharedArrayBuffer),
    places: new Uint32Array(places as SharedArrayBuffer),
  }
}

/** Calls back for the points of cells that a box touches: all points in the box, and some near it. */
export function forEachNear(
  { box, side, starts, places }: PointGrid,
  near: GridBox,
  call: (place: number) => void,
): void {
  if (near.west > box.east || near.east < box.west || near.south > box.north || near.north < box.south) return
  const [first, last] = [near.west, near.east].map(lon => cellOf(lon, box.west, box.east, side)) as [
    number,
    number,
  ]
  const [low, high] = [near.south, near.north].map(lat => cellOf(lat, box.south, box.north, side)) as [
    number,
    number,
  ]
  for (let row = low; row <= high; row++) {
    const end = starts[row * side + last + 1] as number
    for (let at = starts[row * side + first] as number; at < end; at++) call(places[at] as number)
  }
}

function extent(values: Float64Array): readonly [least: number, max: number] {
  let [least, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number
    if (value < least) least = value
    if (value > max) max = value
  }
  return [least, max]
}

function boxOf(frame: Float64Array): GridBox {
  const [west, east, south, north] = frame as unknown as readonly [number, number, number, number]
  return { west, south, east, north }
}

/** Monotonic in the value, so that the cells of a box are those between the cells of its corners. */
function cellOf(value: number, least: number, max: number, side: number): number {
  const cell = max > least ? Math.floor(((value - least) / (max - least)) * side) : 0
  return Math.max(0, Math.min(side - 1, cell))
}

/** Numbers of a box: west, south, east, north. */
const SIDES = 4

/**
 * The boxes of the shapes of a part, in memory that all threads share; of NaN for what {@link ShapeReader} does not read.
 *
 * @param check called before each shape; what it throws ends this
 */
export function boxesOfShapes(part: OtherPart, check: () => void): Float64Array {
  const boxes = new Float64Array(new SharedArrayBuffer(8 * SIDES * part.count))
  const reader = new ShapeReader()
  for (let place = 0; place < part.count; place++) {
    check()
    const isShape = datatypeOf(part, place) === GEO.wktLiteral && reader.read(part.texts.get(place))
    if (isShape) setBox(boxes, SIDES * place, reader)
    else boxes.fill(Number.NaN, SIDES * place, SIDES * place + SIDES)
  }
  return boxes
}

function setBox(boxes: Float64Array, at: number, { positions, size }: ShapeReader): void {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (let next = 0; next < size; next += 2) {
    const longitude = positions[next] as number
    const latitude = positions[next + 1] as number
    if (longitude < west) west = longitude
    if (longitude > east) east = longitude
    if (latitude < south) south = latitude
    if (latitude > north) north = latitude
  }
  boxes.set([west, south, east, north], at)
}

/** A box of {@link boxesOfShapes}; null where the shape has none. */
export function boxAt(boxes: Float64Array, place: number): GridBox | null {
  const at = SIDES * place
  const west = boxes[at] as number
  if (Number.isNaN(west)) return null
  return {
    west,
    south: boxes[at + 1] as number,
    east: boxes[at + 2] as number,
    north: boxes[at + 3] as number,
  }
}
