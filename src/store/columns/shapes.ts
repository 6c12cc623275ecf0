import { GEO } from '../../rdf/vocab.ts'
import { grown } from './bytes.ts'
import { datatypeOf, type OtherPart } from './dictionary-parts.ts'
import type { GridBox } from './grid.ts'

/** Reads the positions of lines and areas from well-known text, in the one form that {@link ShapeReader} knows. */

const [OPEN, CLOSE, COMMA, SPACE, POINT, MINUS, ZERO, NINE] = [...Buffer.from('(), .-09')] as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
]

/** The kinds that are read, and how deep their lists of positions lie. */
const DEPTHS = { LINESTRING: 1, MULTILINESTRING: 2, POLYGON: 2, MULTIPOLYGON: 3 } as const
type ShapeKind = keyof typeof DEPTHS
const KINDS = (Object.keys(DEPTHS) as ShapeKind[]).map(kind => ({ kind, name: Buffer.from(kind) }))

/** Digits that a double represents exactly, and the powers of ten that divide them with one rounding. */
const EXACT_DIGITS = 15
const POWERS = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))

/**
 * Reads valid lines and areas of two coordinates as publishing writes them: `POLYGON((2 48, 3 48, 3 49, 2 48))`. Any other text,
 * valid or not, is left to a parser.
 */
export class ShapeReader {
  kind: ShapeKind = 'POLYGON'
  /** Longitudes and latitudes in turn, of which {@link size} are of the shape that was read last. */
  positions = new Float64Array(2048)
  size = 0
  /** Ends of its lists of positions, as indexes of numbers; and of the areas of several, as indexes of such ends. */
  readonly ends: number[] = []
  readonly areaEnds: number[] = []
  private bytes = Buffer.alloc(0)
  private at = 0
  private end = 0

  /** Reads a text; false for another than those it knows. */
  read(bytes: Buffer, from: number, to: number): boolean {
    Object.assign(this, { bytes, at: from, end: to, size: 0 })
    this.ends.length = 0
    this.areaEnds.length = 0
    const found = KINDS.find(({ name }) => name.every((byte, at) => bytes[from + at] === byte))
    if (found === undefined) return false
    this.kind = found.kind
    this.at += found.name.length
    this.skipSpaces()
    return this.readLists(DEPTHS[found.kind]) && this.at === to
  }

  /** Reads lists within each other, the innermost of positions. */
  private readLists(depth: number): boolean {
    if (!this.take(OPEN)) return false
    do {
      if (depth === 1) {
        if (!this.readPosition()) return false
        continue
      }
      if (!this.readLists(depth - 1)) return false
    } while (this.take(COMMA))
    if (!this.take(CLOSE)) return false
    if (depth === 1) return this.endPositions()
    if (depth === 2 && this.kind === 'MULTIPOLYGON') this.areaEnds.push(this.ends.length)
    return true
  }

  /** A line has two positions, a ring four, of which the last is the first. */
  private endPositions(): boolean {
    const { positions, size, ends } = this
    const from = ends.at(-1) ?? 0
    ends.push(size)
    if (!this.kind.endsWith('POLYGON')) return size - from >= 4
    const isClosed = positions[from] === positions[size - 2] && positions[from + 1] === positions[size - 1]
    return size - from >= 8 && isClosed
  }

  private readPosition(): boolean {
    this.positions = grown(this.positions, this.size + 2)
    const longitude = this.readNumber()
    if (!this.skipSpaces()) return false
    const latitude = this.readNumber()
    this.positions[this.size] = longitude
    this.positions[this.size + 1] = latitude
    this.size += 2
    return !Number.isNaN(longitude + latitude)
  }

  /** A decimal number; NaN for any other text. */
  private readNumber(): number {
    const { bytes, end, at: from } = this
    let at = from
    const isNegative = bytes[at] === MINUS
    if (isNegative) at++
    let [value, digits, decimals] = [0, 0, -1]
    for (; at < end; at++) {
      const byte = bytes[at] as number
      if (byte === POINT && decimals < 0) decimals = 0
      else if (byte >= ZERO && byte <= NINE) {
        value = 10 * value + byte - ZERO
        digits++
        if (decimals >= 0) decimals++
      } else break
    }
    this.at = at
    if (digits === 0 || decimals === 0) return Number.NaN
    if (digits > EXACT_DIGITS) return Number(bytes.toString('latin1', from, at))
    const number = decimals > 0 ? value / (POWERS[decimals] as number) : value
    return isNegative ? -number : number
  }

  private take(byte: number): boolean {
    if (this.at >= this.end || this.bytes[this.at] !== byte) return false
    this.at++
    if (byte === COMMA) this.skipSpaces()
    return true
  }

  private skipSpaces(): boolean {
    const from = this.at
    while (this.at < this.end && this.bytes[this.at] === SPACE) this.at++
    return this.at > from
  }
}

/** Numbers of a box: west, south, east, north. */
const SIDES = 4

/** The boxes of the shapes of a part, in memory that all threads share; of NaN for what {@link ShapeReader} does not read. */
export function boxesOfShapes(part: OtherPart): Float64Array {
  const boxes = new Float64Array(new SharedArrayBuffer(8 * SIDES * part.count))
  const reader = new ShapeReader()
  const { bytes, offsets } = part.texts
  for (let place = 0; place < part.count; place++) {
    const isShape =
      datatypeOf(part, place) === GEO.wktLiteral &&
      reader.read(bytes, offsets[place] as number, offsets[place + 1] as number)
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
