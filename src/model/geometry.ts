import { lookup } from './lookup.ts'
import type { Coordinates, Geometry, GeoPoint } from './value.ts'
import { parseWkbHex } from './wkb.ts'
import { parseWkt } from './wkt.ts'

/** Depth of arrays in the coordinates of each kind of geometry (RFC 7946, section 3.1). */
const NESTING = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
} as const

/** A kind of geometry that has coordinates. */
export type PositionKind = keyof typeof NESTING

/** Maximum nesting of geometry collections; deeper ones are refused. */
const MAX_COLLECTIONS = 32

const PAIR =
  /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*,\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)$/i

const LATITUDES = ['lat', 'latitude']
const LONGITUDES = ['lon', 'lng', 'long', 'longitude']

/**
 * A position from `lat,lon` text, a [lon, lat] array, an object with members lat or latitude and lon, lng, long or longitude, a
 * GeoJSON Point or Feature, its JSON text, WKT, or WKB in hexadecimal digits. Null for empty text and where both coordinates are null or empty, undefined where the
 * value is no position within ±90 and ±180 degrees.
 */
export function toGeoPoint(raw: unknown): GeoPoint | null | undefined {
  if (raw === null || raw === undefined) return null
  if (typeof raw === 'string') {
    const text = raw.trim()
    if (text === '') return null
    const pair = PAIR.exec(text)
    if (pair !== null) return pointOf(Number(pair[2]), Number(pair[1]))
    const read = /^\[/.test(text) ? parseJson(text) : parsedText(text)
    return read === undefined ? undefined : positionOf(geometryWithin(read))
  }
  return positionOf(geometryWithin(raw))
}

/** A position from two values, each a number or its text. Null where both are empty. */
export function toGeoPointOfTwo(lat: unknown, lon: unknown): GeoPoint | null | undefined {
  if (isEmpty(lat) && isEmpty(lon)) return null
  return pointOf(numberOf(lon), numberOf(lat))
}

/**
 * A GeoJSON geometry from a geometry, from a Feature, from the JSON text of either, from WKT or WKB in hexadecimal digits. It is validated against RFC 7946:
 * nesting, finite numbers, lines of two or more positions, rings of four or more that end where they begin, latitudes within ±90
 * and longitudes within ±360 (a shape may cross the antimeridian, projected coordinates are refused). Positions keep longitude
 * and latitude only, foreign members are dropped. Null for empty text and a geometry without positions, undefined where the value
 * is no geometry.
 */
export function toGeoShape(raw: unknown): Geometry | null | undefined {
  if (raw === null || raw === undefined) return null
  if (typeof raw === 'string') {
    const text = raw.trim()
    if (text === '') return null
    const read = parsedText(text)
    return read === undefined ? undefined : geometryOf(geometryWithin(read), 0)
  }
  return geometryOf(geometryWithin(raw), 0)
}

/** What a text of JSON, WKT or WKB in hexadecimal digits describes; undefined for another text. */
function parsedText(text: string): unknown {
  if (text.startsWith('{')) return parseJson(text)
  return /^\d/.test(text) ? parseWkbHex(text) : parseWkt(text)
}

/** True for an object that has the type of a GeoJSON geometry. */
export function isGeometryLike(object: Readonly<Record<string, unknown>>): boolean {
  const { type } = object
  if (type === 'GeometryCollection') return Array.isArray(object.geometries)
  return typeof type === 'string' && Object.hasOwn(NESTING, type) && Array.isArray(object.coordinates)
}

/** The geometry of a Feature; any other value unchanged. */
function geometryWithin(raw: unknown): unknown {
  const object = raw as Readonly<Record<string, unknown>> | null
  return typeof object === 'object' && object?.type === 'Feature' ? object.geometry : raw
}

function positionOf(raw: unknown): GeoPoint | null | undefined {
  if (raw === null) return null
  if (typeof raw !== 'object') return undefined
  if (Array.isArray(raw)) return pointOfPair(raw)
  const object = raw as Readonly<Record<string, unknown>>
  if (object.type !== 'Point') return pointOfPair([member(object, LONGITUDES), member(object, LATITUDES)])
  return Array.isArray(object.coordinates) ? pointOfPair(object.coordinates) : undefined
}

function pointOfPair(pair: readonly unknown[]): GeoPoint | null | undefined {
  if (pair.every(it => it !== undefined && isEmpty(it))) return null
  return pointOf(numberOf(pair[0]), numberOf(pair[1]))
}

function geometryOf(raw: unknown, depth: number): Geometry | null | undefined {
  if (raw === null) return null
  if (typeof raw !== 'object' || depth > MAX_COLLECTIONS) return undefined
  const object = raw as Readonly<Record<string, unknown>>
  if (!isGeometryLike(object)) return undefined
  if (object.type === 'GeometryCollection') {
    const geometries = (object.geometries as readonly unknown[]).map(part => geometryOf(part, depth + 1))
    const present = geometries.filter(part => part !== null)
    if (!present.every(part => part !== undefined)) return undefined
    return present.length === 0 ? null : { type: 'GeometryCollection', geometries: present }
  }
  const type = object.type as PositionKind
  const list = object.coordinates as readonly unknown[]
  if (list.every(it => it === null)) return null
  const coordinates = coordinatesOf(list, NESTING[type])
  if (coordinates === undefined || !hasFullLines(type, coordinates)) return undefined
  return { type, coordinates }
}

function coordinatesOf(raw: unknown, nesting: number): Coordinates | undefined {
  if (!Array.isArray(raw) || raw.length === 0) return undefined
  if (nesting === 0) {
    const [lon, lat] = raw as readonly unknown[]
    if (typeof lon !== 'number' || typeof lat !== 'number') return undefined
    return Math.abs(lon) <= 360 && Math.abs(lat) <= 90 ? [lon + 0, lat + 0] : undefined
  }
  const parts: Coordinates[] = []
  for (const part of raw as readonly unknown[]) {
    const coordinates = coordinatesOf(part, nesting - 1)
    if (coordinates === undefined) return undefined
    parts.push(coordinates)
  }
  return parts
}

function hasFullLines(type: PositionKind, coordinates: Coordinates): boolean {
  const parts = coordinates as readonly Coordinates[]
  switch (type) {
    case 'Point':
    case 'MultiPoint':
      return true
    case 'LineString':
      return coordinates.length >= 2
    case 'MultiLineString':
      return parts.every(line => line.length >= 2)
    case 'Polygon':
      return parts.every(isRing)
    case 'MultiPolygon':
      return parts.every(polygon => (polygon as readonly Coordinates[]).every(isRing))
  }
}

function isRing(line: Coordinates): boolean {
  const first = line[0] as Coordinates
  const last = line[line.length - 1] as Coordinates
  return line.length >= 4 && first[0] === last[0] && first[1] === last[1]
}

function pointOf(lon: number | undefined, lat: number | undefined): GeoPoint | undefined {
  if (lon === undefined || lat === undefined) return undefined
  return Math.abs(lon) <= 180 && Math.abs(lat) <= 90 ? { lon: lon + 0, lat: lat + 0 } : undefined
}

function member(object: Readonly<Record<string, unknown>>, names: readonly string[]): unknown {
  const name = names.find(candidate => Object.hasOwn(object, candidate))
  return name === undefined ? undefined : lookup(object, name)
}

function numberOf(raw: unknown): number | undefined {
  const value = typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : raw
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

function isEmpty(raw: unknown): boolean {
  return raw === null || raw === undefined || (typeof raw === 'string' && raw.trim() === '')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

export type Position = readonly [lon: number, lat: number]

/** The part of a geometry that has its positions. */
type Positioned =
  | { readonly geometries: readonly Positioned[] }
  | { readonly coordinates: readonly unknown[] }

/** Calls a function with each position of a geometry, in order, without creating a list of them. */
export function eachPosition(geometry: Positioned, pageContext: (lon: number, lat: number) => void): void {
  if ('geometries' in geometry) for (const part of geometry.geometries) eachPosition(part, pageContext)
  else walkCoordinates(geometry.coordinates, pageContext)
}

function walkCoordinates(part: readonly unknown[], pageContext: (lon: number, lat: number) => void): void {
  const [first] = part
  if (typeof first === 'number') pageContext(first, Number(part[1]))
  else for (const inner of part) walkCoordinates(inner as readonly unknown[], pageContext)
}

/** All positions of a geometry, in order. */
export function positionsOf(geometry: Positioned): readonly Position[] {
  const positions: Position[] = []
  eachPosition(geometry, (lon, lat) => positions.push([lon, lat]))
  return positions
}

/** A geometry moved to the east. */
export function movedEast(geometry: Geometry, degrees: number): Geometry {
  if (geometry.type === 'GeometryCollection')
    return { type: geometry.type, geometries: geometry.geometries.map(part => movedEast(part, degrees)) }
  return { type: geometry.type, coordinates: movedCoordinates(geometry.coordinates, degrees) }
}

function movedCoordinates(coordinates: Coordinates, degrees: number): Coordinates {
  const [first, ...rest] = coordinates
  if (typeof first === 'number') return [first + degrees, ...rest]
  return (coordinates as readonly Coordinates[]).map(part => movedCoordinates(part, degrees))
}

/** The ring around a rectangle, from its south-western corner counter-clockwise. */
export function rectangleRing(west: number, south: number, east: number, north: number): number[][] {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
}

/** The rectangle between two longitudes and two latitudes, from its north-eastern corner counter-clockwise. */
export function boxGeometry({ west, south, east, north }: Readonly<Record<Side, number>>): Geometry {
  const ring = [
    [east, north],
    [west, north],
    [west, south],
    [east, south],
    [east, north],
  ]
  return { type: 'Polygon', coordinates: [ring] }
}

type Side = 'west' | 'south' | 'east' | 'north'
