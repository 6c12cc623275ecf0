import { ShapeReader } from '../../model/shape-reader.ts'
import { GEO } from '../../rdf/vocab.ts'
import { datatypeOf, type OtherPart } from './dictionary-parts.ts'
import type { GridBox } from './grid.ts'

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
