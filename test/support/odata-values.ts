/**
 * Values of OData as the evaluator of the tests has them: what a property, a literal or an expression stands for.
 * Written from the standards, apart from the code under test.
 */

export type FieldType = 'text' | 'int' | 'double' | 'boolean' | 'date' | 'datetime' | 'point' | 'texts'

/** Numbers that are not the same thing: days and moments count from 1970, all but days in microseconds. */
export interface Quantity {
  readonly type: 'int' | 'double' | 'date' | 'moment' | 'time' | 'duration'
  readonly value: number
}

export interface Point {
  readonly lon: number
  readonly lat: number
}

export interface Ring {
  readonly corners: readonly Point[]
}

export type Value = null | boolean | string | Quantity | readonly string[] | Point | Ring

/** A record as it stands in the source: JSON values by name. */
export type Source = Readonly<Record<string, unknown>>

export const DAY = 86_400_000_000
const EARTH = 6_371_008.8

export const int = (value: number): Quantity => ({ type: 'int', value })
export const double = (value: number): Quantity => ({ type: 'double', value })
export const isQuantity = (value: Value): value is Quantity =>
  typeof value === 'object' && value !== null && 'type' in value
export const isNumber = (value: Value): value is Quantity =>
  isQuantity(value) && (value.type === 'int' || value.type === 'double')
export const isPoint = (value: Value): value is Point =>
  typeof value === 'object' && value !== null && 'lon' in value
const isList = (value: Value): value is readonly string[] => Array.isArray(value)
export const listOf = (value: Value): readonly string[] => (isList(value) ? value : [])

/** The value of a field of a record. */
export function fieldValue(source: unknown, type: FieldType): Value {
  if (type === 'texts') return (source as readonly string[] | null) ?? []
  if (source === null || source === undefined) return null
  switch (type) {
    case 'int':
    case 'double':
      return { type, value: Number(source) }
    case 'date':
      return dateOf(String(source))
    case 'datetime':
      return momentOf(String(source))
    case 'boolean':
      return source === true
    case 'text':
      return String(source)
    case 'point':
      return source as Point
    default:
      return type satisfies never
  }
}

/** `YYYY-MM-DD` as days. */
export function dateOf(text: string): Quantity {
  return { type: 'date', value: Date.parse(`${text}T00:00:00Z`) / 86_400_000 }
}

/** `HH:MM[:SS[.f…]]` as microseconds. */
export function timeOf(text: string): Quantity {
  const [hour = 0, minute = 0, second = 0] = text.split(':').map(Number)
  return { type: 'time', value: Math.round(((hour * 60 + minute) * 60 + second) * 1e6) }
}

/** ISO 8601 with a zone as microseconds. */
export function momentOf(text: string): Quantity {
  const [, day = '', time = '', zone = ''] = /^([^T]+)T([\d:.]+)(Z|[-+]\d\d:\d\d)$/.exec(text) ?? []
  const [hours = 0, minutes = 0] = zone === 'Z' ? [] : zone.slice(1).split(':').map(Number)
  const shift = (hours * 60 + minutes) * 60e6 * (zone.startsWith('-') ? -1 : 1)
  return { type: 'moment', value: dateOf(day).value * DAY + timeOf(time).value - shift }
}

/** The year, month, day … of a date or a moment in UTC; undefined for a part that it has not. */
export function partOf(name: string, value: Quantity): number | undefined {
  const micros = value.type === 'date' ? value.value * DAY : value.value
  const date = new Date(Math.floor(micros / 1000))
  if (name === 'year') return date.getUTCFullYear()
  if (name === 'month') return date.getUTCMonth() + 1
  if (name === 'day') return date.getUTCDate()
  if (value.type === 'date') return undefined
  const ofDay = micros - Math.floor(micros / DAY) * DAY
  if (name === 'hour') return Math.floor(ofDay / 3600e6)
  if (name === 'minute') return Math.floor(ofDay / 60e6) % 60
  return name === 'second' ? Math.floor(ofDay / 1e6) % 60 : undefined
}

/** Order of two values of one type: below 0, 0 or above; not a number where they have none. */
export function orderOf(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string')
    return Buffer.compare(Buffer.from(left), Buffer.from(right))
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right)
  if (!isQuantity(left) || !isQuantity(right)) throw new Error('values without an order')
  const [one, other] = [comparable(left), comparable(right)]
  if (one.type !== other.type) throw new Error(`${one.type} beside ${other.type}`)
  return one.value === other.value ? 0 : one.value - other.value
}

/** Numbers are compared as numbers, a date with a moment as its midnight in UTC. */
function comparable({ type, value }: Quantity): Quantity {
  if (type === 'date') return { type: 'moment', value: value * DAY }
  return type === 'int' ? double(value) : { type, value }
}

/** Metres between two points on a sphere. */
export function metres(from: Point, to: Point): number {
  const radians = Math.PI / 180
  const height = Math.sin(((to.lat - from.lat) * radians) / 2) ** 2
  const width = Math.sin(((to.lon - from.lon) * radians) / 2) ** 2
  const chord = height + Math.cos(from.lat * radians) * Math.cos(to.lat * radians) * width
  return 2 * EARTH * Math.asin(Math.min(1, Math.sqrt(chord)))
}

/** The point lies inside the ring, in the plane of longitude and latitude. */
export function inside({ lon, lat }: Point, { corners }: Ring): boolean {
  let crossed = false
  for (const [index, end] of corners.slice(1).entries()) {
    const start = corners[index] ?? end
    const slope = (end.lon - start.lon) / (end.lat - start.lat)
    if (start.lat > lat !== end.lat > lat && lon < start.lon + slope * (lat - start.lat)) crossed = !crossed
  }
  return crossed
}

/** A point or a polygon of one ring, as well-known text. */
export function geographyOf(text: string): Point | Ring {
  const corners = [...text.matchAll(/(-?[\d.]+)\s+(-?[\d.]+)/g)].map(([, lon, lat]) => ({
    lon: Number(lon),
    lat: Number(lat),
  }))
  const [first] = corners
  return /^point/i.test(text) && first !== undefined ? first : { corners }
}
