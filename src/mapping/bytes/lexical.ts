import { XSD } from '../../rdf/vocab.ts'

/** True for bytes that are surely a literal of a datatype; false where it takes a closer look. */
export type LexicalTest = (bytes: Uint8Array, from: number, to: number) => boolean

/** The quick test of the usual forms of a datatype; null for a datatype without one. */
export function lexicalTest(datatype: string): LexicalTest | null {
  switch (datatype) {
    case XSD.integer:
      return areDigits
    case XSD.decimal:
    case XSD.double:
      return isDecimal
    case XSD.boolean:
      return isBoolean
    case XSD.date:
      return (bytes, from, to) => to - from === 10 && isDay(bytes, from)
    case XSD.dateTime:
      return isMoment
    default:
      return null
  }
}

const ZERO = 48
const POINT = 46
const DASH = 45
const COLON = 58
const T = 84
const Z = 90

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= 57
}

function areDigits(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (!isDigit(bytes[i])) return false
  return to > from
}

/** Digits with one point between them or none, after a minus or none. */
function isDecimal(bytes: Uint8Array, from: number, to: number): boolean {
  let point = -1
  const begin = bytes[from] === DASH ? from + 1 : from
  for (let i = begin; i < to; i++) {
    if (isDigit(bytes[i])) continue
    if (bytes[i] !== POINT || point >= 0) return false
    point = i
  }
  return to > begin && isDigit(bytes[begin]) && isDigit(bytes[to - 1])
}

function isBoolean(bytes: Uint8Array, from: number, to: number): boolean {
  return spells(bytes, from, to, 'true') || spells(bytes, from, to, 'false')
}

function spells(bytes: Uint8Array, from: number, to: number, word: string): boolean {
  if (to - from !== word.length) return false
  for (let i = 0; i < word.length; i++) if (bytes[from + i] !== word.charCodeAt(i)) return false
  return true
}

/** The number of two digits; -1 for anything else. */
function pair(bytes: Uint8Array, at: number): number {
  const tens = bytes[at]
  const ones = bytes[at + 1]
  if (tens === undefined || ones === undefined || !isDigit(tens) || !isDigit(ones)) return -1
  return 10 * (tens - ZERO) + ones - ZERO
}

function isBelow(bound: number, bytes: Uint8Array, at: number): boolean {
  const number = pair(bytes, at)
  return number >= 0 && number < bound
}

/** Days of the months in a common year. */
const DAYS = Uint8Array.of(0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

/** `2026-02-28`: a year of four digits that does not begin with zero, and a day that is in its month every year. */
function isDay(bytes: Uint8Array, at: number): boolean {
  const month = pair(bytes, at + 5)
  const day = pair(bytes, at + 8)
  const isYear = pair(bytes, at) >= 10 && pair(bytes, at + 2) >= 0
  const isParted = bytes[at + 4] === DASH && bytes[at + 7] === DASH
  return isYear && isParted && month >= 1 && month <= 12 && day >= 1 && day <= (DAYS[month] ?? 0)
}

/** `2026-02-28T23:59:59`, with `Z` or without. */
function isMoment(bytes: Uint8Array, from: number, to: number): boolean {
  const length = to - from
  if (length !== 19 && !(length === 20 && bytes[to - 1] === Z)) return false
  if (!isDay(bytes, from) || bytes[from + 10] !== T) return false
  if (bytes[from + 13] !== COLON || bytes[from + 16] !== COLON) return false
  return isBelow(24, bytes, from + 11) && isBelow(60, bytes, from + 14) && isBelow(60, bytes, from + 17)
}
