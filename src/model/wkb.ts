import type { WktGeometry } from './wkt.ts'
import { words } from './words.ts'

const KINDS = words('Point LineString Polygon MultiPoint MultiLineString MultiPolygon GeometryCollection')

/** Flags of the extended form: Z, M and a reference system. */
const EXTENDED = { z: 0x80000000, m: 0x40000000, srid: 0x20000000 } as const

/** Codes of reference systems whose degrees equal those of WGS 84 at the precision of maps. */
const DEGREES: ReadonlySet<number> = new Set([4326, 4258, 4269, 4171])

const MAX_NESTING = 32

/** Thrown within the reader only. */
const MALFORMED = Symbol('malformed')

/** Parses the well-known binary of a geometry in hexadecimal digits, see {@link parseWkb}. Undefined for an invalid text. */
export function parseWkbHex(text: string): WktGeometry | undefined {
  const isHex = text.length % 2 === 0 && /^[0-9a-f]{18,}$/i.test(text)
  return isHex ? parseWkb(Buffer.from(text, 'hex')) : undefined
}

/**
 * Parses the well-known binary of a geometry (OGC 06-103r4, section 8.2), also with Z, M and the extended form with the reference
 * system 4326, or another one of degrees that equals it. Undefined for invalid bytes.
 */
export function parseWkb(bytes: Uint8Array): WktGeometry | undefined {
  const reader = new Reader(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  try {
    const geometry = reader.geometry(0)
    return reader.isAtEnd() ? geometry : undefined
  } catch (error) {
    if (error === MALFORMED || error instanceof RangeError) return undefined
    throw error
  }
}

class Reader {
  private readonly view: DataView
  private at = 0
  private little = true

  constructor(view: DataView) {
    this.view = view
  }

  isAtEnd(): boolean {
    return this.at === this.view.byteLength
  }

  geometry(depth: number): WktGeometry {
    if (depth > MAX_NESTING) throw MALFORMED
    this.little = this.view.getUint8(this.at++) === 1
    const code = this.count()
    if ((code & EXTENDED.srid) !== 0 && !DEGREES.has(this.count())) throw MALFORMED
    const plain = code & 0x1fffffff
    const variant = Math.floor(plain / 1000)
    const type = KINDS[(plain % 1000) - 1]
    if (type === undefined || variant > 3) throw MALFORMED
    const flags = ((code & EXTENDED.z) !== 0 ? 1 : 0) + ((code & EXTENDED.m) !== 0 ? 1 : 0)
    const dimensions = 2 + flags + (variant === 3 ? 2 : variant > 0 ? 1 : 0)
    const position = () => this.position(dimensions)
    switch (type) {
      case 'Point':
        return { type, coordinates: position() }
      case 'LineString':
        return { type, coordinates: this.list(position) }
      case 'Polygon':
        return { type, coordinates: this.list(() => this.list(position)) }
      case 'GeometryCollection':
        return { type, geometries: this.list(() => this.geometry(depth + 1)) }
      default:
        return { type, coordinates: this.list(() => this.part(type, depth)) }
    }
  }

  private part(type: string, depth: number): unknown {
    const part = this.geometry(depth + 1)
    if (`Multi${part.type}` !== type || !('coordinates' in part)) throw MALFORMED
    return part.coordinates
  }

  private list<Item>(item: () => Item): readonly Item[] {
    const length = this.count()
    if (length > this.view.byteLength - this.at) throw MALFORMED
    return Array.from({ length }, item)
  }

  private position(dimensions: number): readonly number[] {
    return Array.from({ length: dimensions }, () => {
      const value = this.view.getFloat64(this.at, this.little)
      this.at += 8
      if (!Number.isFinite(value)) throw MALFORMED
      return value
    })
  }

  private count(): number {
    const value = this.view.getUint32(this.at, this.little)
    this.at += 4
    return value
  }
}
