import { lookup } from './lookup.ts'
import { numberText } from './number.ts'
import { ShapeReader } from './shape-reader.ts'
import type { Geometry } from './value.ts'

/** Parsed WKT, in the form of GeoJSON and not yet validated. */
export type WktGeometry =
  | { readonly type: string; readonly coordinates: readonly unknown[] }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly WktGeometry[] }

const KINDS: Readonly<Record<string, string>> = {
  POINT: 'Point',
  MULTIPOINT: 'MultiPoint',
  LINESTRING: 'LineString',
  MULTILINESTRING: 'MultiLineString',
  POLYGON: 'Polygon',
  MULTIPOLYGON: 'MultiPolygon',
  GEOMETRYCOLLECTION: 'GeometryCollection',
}

/** A reference system before the geometry; only those that equal WGS 84 at the precision of maps. */
const PREFIX = /^SRID=(?:4326|4258|4269|4171);\s*/i
const LONGITUDE_FIRST = /^https?:\/\/www\.opengis\.net\/def\/crs\/OGC\/1\.3\/CRS84$/
const LATITUDE_FIRST = /^https?:\/\/www\.opengis\.net\/def\/crs\/EPSG\/[^/]+\/(?:4326|4258|4269|4171)$/

/** The text of a geo:wktLiteral as WKT of longitudes and latitudes, and the name of its reference system; null for other systems. */
export function withoutSystem(
  text: string,
): { readonly wkt: string; readonly latitudeFirst: string | null } | null {
  const [, system, wkt = ''] = /^\s*(?:<([^>]*)>\s*)?(.*)$/s.exec(text) ?? []
  if (system === undefined || LONGITUDE_FIRST.test(system)) return { wkt, latitudeFirst: null }
  return LATITUDE_FIRST.test(system) ? { wkt: exchanged(wkt), latitudeFirst: system } : null
}

const PAIR = /([(,]\s*)([-+.\de]+)(\s+)([-+.\de]+)/gi

/** The first two numbers of each position in the other order. */
export function exchanged(wkt: string): string {
  return wkt.replace(PAIR, '$1$4$3$2')
}

const TOKEN = /\s*([(),]|[a-z]+|[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)/iy

const MAX_NESTING = 64

/** Thrown within the parser only. */
const MALFORMED = Symbol('malformed')

/** What reads most shapes, some four times faster than the parser. */
const READER = new ShapeReader()

/**
 * Parses the well-known text of a geometry (OGC 06-103r4, section 7.2), all seven kinds, with or without Z, M and `SRID=4326;` or the IRI of a
 * reference system, whose order of axes it has.
 * Undefined for an invalid text.
 */
export function parseWkt(literal: string): WktGeometry | undefined {
  const text = literal.startsWith('<') ? withoutSystem(literal)?.wkt : literal
  if (text === undefined || !/^[a-z]/i.test(text)) return undefined
  if (READER.read(text)) return { type: KINDS[READER.kind] as string, coordinates: READER.coordinates() }
  const start = PREFIX.exec(text)?.[0].length ?? 0
  try {
    const tokens = tokensOf(text, start)
    const geometry = readGeometry(tokens, 0)
    return tokens.peek() === undefined ? geometry : undefined
  } catch (error) {
    if (error === MALFORMED) return undefined
    throw error
  }
}

interface Tokens {
  peek(): string | undefined
  next(): string
}

function tokensOf(text: string, start: number): Tokens {
  const end = text.trimEnd().length
  let at = start
  const read = (): string | undefined => {
    if (at >= end) return undefined
    TOKEN.lastIndex = at
    const match = TOKEN.exec(text)
    if (match?.[1] === undefined) throw MALFORMED
    at = TOKEN.lastIndex
    return match[1].toUpperCase()
  }
  let ahead = read()
  return {
    peek: () => ahead,
    next() {
      if (ahead === undefined) throw MALFORMED
      const token = ahead
      ahead = read()
      return token
    },
  }
}

function readGeometry(tokens: Tokens, depth: number): WktGeometry {
  const word = tokens.next()
  const type = lookup(KINDS, word) ?? lookup(KINDS, word.replace(/ZM?$|M$/, ''))
  if (type === undefined || depth > MAX_NESTING) throw MALFORMED
  if (/^(?:Z|M|ZM)$/.test(tokens.peek() ?? '')) tokens.next()
  const empty = tokens.peek() === 'EMPTY'
  if (empty) tokens.next()
  if (type === 'GeometryCollection') {
    const geometries = empty ? [] : readList(tokens, () => readGeometry(tokens, depth + 1))
    return { type, geometries }
  }
  if (empty) return { type, coordinates: [] }
  if (type === 'MultiPoint') return { type, coordinates: readList(tokens, () => readPoint(tokens)) }
  if (type !== 'Point') return { type, coordinates: readCoordinates(tokens, 0) }
  return { type, coordinates: readPoint(tokens) }
}

/** A position, bare as in MULTIPOINT (1 2, 3 4) or in its own parentheses. */
function readPoint(tokens: Tokens): readonly number[] {
  if (tokens.peek() !== '(') return readPosition(tokens)
  const [position, ...others] = readList(tokens, () => readPosition(tokens))
  if (position === undefined || others.length > 0) throw MALFORMED
  return position
}

/** A list of positions, or of lists of them. */
function readCoordinates(tokens: Tokens, depth: number): readonly unknown[] {
  if (depth > 3) throw MALFORMED
  return readList(tokens, () =>
    tokens.peek() === '(' ? readCoordinates(tokens, depth + 1) : readPosition(tokens),
  )
}

function readList<Item>(tokens: Tokens, item: () => Item): readonly Item[] {
  if (tokens.next() !== '(') throw MALFORMED
  const items: Item[] = []
  for (;;) {
    items.push(item())
    const token = tokens.next()
    if (token === ')') return items
    if (token !== ',') throw MALFORMED
  }
}

function readPosition(tokens: Tokens): readonly number[] {
  const numbers: number[] = []
  while (!/^[(),]?$/.test(tokens.peek() ?? '')) {
    const number = Number(tokens.next())
    if (!Number.isFinite(number)) throw MALFORMED
    numbers.push(number)
  }
  if (numbers.length < 2 || numbers.length > 4) throw MALFORMED
  return numbers
}

/** A GeoJSON geometry as WKT (OGC Simple Features, section 7). */
export function wktText(geometry: Geometry): string {
  if (geometry.type === 'GeometryCollection') {
    const parts = geometry.geometries.map(wktText)
    return `GEOMETRYCOLLECTION${parts.length === 0 ? ' EMPTY' : `(${parts.join(', ')})`}`
  }
  const name = geometry.type.toUpperCase()
  if (geometry.coordinates.length === 0) return `${name} EMPTY`
  if (geometry.type === 'Point') return `${name}(${positionText(geometry.coordinates)})`
  return `${name}${nestedText(geometry.coordinates)}`
}

function nestedText(coordinates: readonly unknown[]): string {
  const parts = coordinates.map(part => {
    const list = part as readonly unknown[]
    return typeof list[0] === 'number' ? positionText(list) : nestedText(list)
  })
  return `(${parts.join(', ')})`
}

function positionText(coordinates: readonly unknown[]): string {
  return `${numberText(coordinates[0] as number)} ${numberText(coordinates[1] as number)}`
}
