const [OPEN, CLOSE, COMMA, SPACE, POINT, MINUS, ZERO, NINE] = [0x28, 0x29, 0x2c, 0x20, 0x2e, 0x2d, 0x30, 0x39]

/** The kinds that are read, and how deep their lists of positions lie. */
const DEPTHS = { LINESTRING: 1, MULTILINESTRING: 2, POLYGON: 2, MULTIPOLYGON: 3 } as const
type ShapeKind = keyof typeof DEPTHS
const KINDS = Object.keys(DEPTHS) as ShapeKind[]

/** Digits that a double represents exactly, and the powers of ten that divide them with one rounding. */
const EXACT_DIGITS = 15
const POWERS = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))

/** Numbers for which there is room at first, and maximum number of them after the next text. */
const FIRST_SIZE = 2048
const MAX_SIZE = 2 ** 20

/**
 * Reads valid lines and areas of two coordinates as publishing writes them: `POLYGON((2 48, 3 48, 3 49, 2 48))`. Any other text,
 * valid or not, is left to a parser.
 */
export class ShapeReader {
  kind: ShapeKind = 'POLYGON'
  /** Longitudes and latitudes in turn, of which {@link size} are of the shape that was read last. */
  positions = new Float64Array(FIRST_SIZE)
  size = 0
  /** Ends of its lists of positions, as indexes of numbers; and of the areas of several, as indexes of such ends. */
  readonly ends: number[] = []
  readonly areaEnds: number[] = []
  private text = ''
  private at = 0

  /** Reads a text; false for another than those it knows. */
  read(text: string): boolean {
    const kind = KINDS.find(name => text.startsWith(name))
    if (kind === undefined) return false
    Object.assign(this, { kind, text, at: kind.length, size: 0 })
    if (this.positions.length > MAX_SIZE) this.positions = new Float64Array(FIRST_SIZE)
    this.ends.length = 0
    this.areaEnds.length = 0
    this.skipSpaces()
    return this.readLists(DEPTHS[kind]) && this.at === text.length
  }

  /** The coordinates of the shape that was read last, as in GeoJSON. */
  coordinates(): readonly unknown[] {
    const lists = this.ends.map((end, at) => {
      const list: (readonly [longitude: number, latitude: number])[] = []
      for (let next = this.ends[at - 1] ?? 0; next < end; next += 2)
        list.push([this.positions[next] as number, this.positions[next + 1] as number])
      return list
    })
    if (this.kind === 'LINESTRING') return lists[0] as readonly unknown[]
    if (this.kind !== 'MULTIPOLYGON') return lists
    return this.areaEnds.map((end, at) => lists.slice(this.areaEnds[at - 1] ?? 0, end))
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
    if (this.size + 2 > this.positions.length) {
      const larger = new Float64Array(2 * this.positions.length)
      larger.set(this.positions)
      this.positions = larger
    }
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
    const { text, at: from } = this
    let at = from
    const isNegative = text.charCodeAt(at) === MINUS
    if (isNegative) at++
    let [value, digits, decimals] = [0, 0, -1]
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === POINT && decimals < 0) decimals = 0
      else if (code >= ZERO && code <= NINE) {
        value = 10 * value + code - ZERO
        digits++
        if (decimals >= 0) decimals++
      } else break
    }
    this.at = at
    if (digits === 0 || decimals === 0) return Number.NaN
    if (digits > EXACT_DIGITS) return Number(text.slice(from, at))
    const number = decimals > 0 ? value / (POWERS[decimals] as number) : value
    return isNegative ? -number : number
  }

  private take(code: number): boolean {
    if (this.text.charCodeAt(this.at) !== code) return false
    this.at++
    if (code === COMMA) this.skipSpaces()
    return true
  }

  private skipSpaces(): boolean {
    const from = this.at
    while (this.text.charCodeAt(this.at) === SPACE) this.at++
    return this.at > from
  }
}
