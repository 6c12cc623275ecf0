import { toGeoPoint } from '../../model/geometry.ts'
import type { GeoPoint } from '../../model/value.ts'

/** Which of two coordinates comes first in a text. */
export type CoordinateOrder = 'lat,lon' | 'lon,lat'

/** Two numbers in one text, with decimal points or commas and any characters between and around them; small ones may have exponents (`1e-7`). */
const PAIR =
  /^[([{]?\s*([+-]?\d{1,3}(?:\.\d+)?(?:e-\d{1,2})?)\s*°?\s*(?:\s*[,;|/]\s*|\s+)([+-]?\d{1,3}(?:\.\d+)?(?:e-\d{1,2})?)\s*°?\s*[)\]}]?$/i
const COMMA_PAIR =
  /^[([{]?\s*([+-]?\d{1,3},\d+)\s*°?\s*(?:\s*[;|/]\s*|\s*,\s+|\s+)([+-]?\d{1,3},\d+)\s*°?\s*[)\]}]?$/

const PART = `([+-]?\\d{1,3}(?:[.,]\\d+)?)\\s*[°º]\\s*(?:(\\d{1,2}(?:[.,]\\d+)?)\\s*['′’]\\s*)?(?:(\\d{1,2}(?:[.,]\\d+)?)\\s*(?:["″”]|''|’’)\\s*)?`
const DEGREES = new RegExp(`^${PART}([NSEWO])\\s*[,;/]?\\s*${PART}([NSEWO])$`, 'i')
const ONE_DEGREE = new RegExp(`^${PART}([NSEWO])?$`, 'i')
const HEMISPHERES = /^([NSEWO])?\s*(\d{1,3}(?:[.,]\d+)?)\s*°?\s*([NSEWO])?$/i

/** Two coordinates in text order; `isOrdered` if latitude is known to be first. */
export interface CoordinatePair {
  readonly first: number
  readonly second: number
  /** Fraction digits of the coordinate that has fewer. */
  readonly decimals: number
  /** True if hemispheres identify them: `first` is then the latitude. */
  readonly isOrdered: boolean
}

/** Reads two coordinates from a text: `48.85, 2.35`, `(48,85 ; 2,35)`, `48°51'24"N 2°21'07"E`. Undefined for another text. */
export function coordinatePair(text: string): CoordinatePair | undefined {
  if (text.length > 100) return undefined
  const [, first, second] = PAIR.exec(text) ?? COMMA_PAIR.exec(text) ?? []
  if (first !== undefined && second !== undefined) {
    const decimals = Math.min(...[first, second].map(decimalsOf))
    return { first: numberOf(first), second: numberOf(second), decimals, isOrdered: false }
  }
  const match = DEGREES.exec(text)
  if (match === null) return undefined
  const one = degrees(match.slice(1, 5))
  const two = degrees(match.slice(5, 9))
  if (one.isLatitude === two.isLatitude) return undefined
  const [lat, lon] = one.isLatitude ? [one, two] : [two, one]
  return { first: lat.value, second: lon.value, decimals: 9, isOrdered: true }
}

/** One coordinate in degrees from a number, its text with point or comma, or degrees, minutes and seconds; undefined for anything else. */
export function coordinateOf(raw: unknown): number | undefined {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : undefined
  if (typeof raw !== 'string') return undefined
  const text = raw.trim()
  if (/^[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d+)?$/i.test(text)) return numberOf(text)
  const match = ONE_DEGREE.exec(text)
  if (match !== null) return degrees(match.slice(1, 5)).value
  const [, before, value, after] = HEMISPHERES.exec(text) ?? []
  const side = before ?? after
  if (value === undefined || side === undefined) return undefined
  return numberOf(value) * (/[SWO]/i.test(side) ? -1 : 1)
}

/** True for an array of two coordinates, `[48.85, 2.35]`, in either order. */
export function isNumberPair(raw: unknown): raw is readonly [number, number] {
  return (
    Array.isArray(raw) && raw.length === 2 && raw.every(it => typeof it === 'number' && Math.abs(it) <= 180)
  )
}

/** The larger absolute values of numbers, each compared with the one at its place. */
export function largest(before: readonly number[], numbers: readonly number[]): readonly number[] {
  return numbers.map((number, at) => Math.max(before[at] ?? 0, Math.abs(number)))
}

/** A converter of texts with two coordinates in a given order; other values are read as any position. */
export function coordinateConverter(order: CoordinateOrder) {
  return (raw: unknown): GeoPoint | null | undefined => {
    const text = typeof raw === 'string' ? raw.trim() : ''
    const pair = text === '' ? undefined : coordinatePair(text)
    if (pair === undefined)
      return toGeoPoint(order === 'lat,lon' && isNumberPair(raw) ? [raw[1], raw[0]] : raw)
    const { first, second, isOrdered } = pair
    const [lat, lon] = isOrdered || order === 'lat,lon' ? [first, second] : [second, first]
    return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 ? { lon: lon + 0, lat: lat + 0 } : undefined
  }
}

function degrees([whole = '0', minutes = '0', seconds = '0', side = '']: readonly (string | undefined)[]) {
  const size = Math.abs(numberOf(whole)) + numberOf(minutes) / 60 + numberOf(seconds) / 3600
  const isNegative = whole.startsWith('-') || /[SWO]/i.test(side)
  return { value: isNegative ? -size : size, isLatitude: /[NS]/i.test(side) }
}

function decimalsOf(text: string): number {
  const [mantissa = '', exponent = 0] = text.split(/e-/i)
  return (mantissa.split(/[.,]/)[1]?.length ?? 0) + Number(exponent)
}

function numberOf(text: string): number {
  return Number(text.replace(',', '.'))
}
