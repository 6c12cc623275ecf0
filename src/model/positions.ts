/** A list of so many positions narrows nothing down. */
const MOST_POSITIONS = 5000
/** What stands for such a list. */
const TOO_MANY = '*'

/**
 * Positions of records, in rising order, as text: the distance of each from the one before, to base 36, with blanks
 * between; `*` for very many.
 */
export function encodePositions(positions: readonly number[] | Uint32Array): string {
  if (isTooMany(positions.length)) return TOO_MANY
  let text = ''
  let before = 0
  for (const position of positions) {
    text += `${text === '' ? '' : ' '}${(position - before).toString(36)}`
    before = position
  }
  return text
}

/** Reads what {@link encodePositions} wrote; null for very many. */
export function decodePositions(text: string): readonly number[] | null {
  if (text === TOO_MANY) return null
  let position = 0
  return text.split(' ').map(distance => {
    position += Number.parseInt(distance, 36)
    return position
  })
}

/** True for so many positions that they would be written as very many, so that the list need not grow. */
export function isTooMany(positions: number): boolean {
  return positions > MOST_POSITIONS
}

/** Positions that stand in one piece of the list of a value. */
export const LIST_CHUNK = 1000

/** Records of a value from which on it has a list: fewer are found as quickly by their triples. */
export const FEWEST_LISTED = 64

/** What stands for the words of a record in the place of a field: no field has this name. */
export const WORDS_LIST = '*'

/** Longest text that has a list, in UTF-16 code units: its IRI stays below what engines can hold. */
const LONGEST_KEY = 100

/** How a value is written in the name of its list; null for what has none. */
export function listKey(value: string | number | bigint | boolean): string | null {
  if (typeof value === 'bigint') return null
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) return null
  const text = String(value)
  return text.length <= LONGEST_KEY && text.isWellFormed() ? text : null
}

/** A piece of the list of a value as text: how many records have the value, to base 36, a blank, their positions. */
export function encodeList(total: number, positions: Uint32Array): string {
  return `${total.toString(36)} ${encodePositions(positions)}`
}

/** Reads what {@link encodeList} wrote. */
export function decodeList(text: string): { readonly total: number; readonly positions: Uint32Array } {
  const start = text.indexOf(' ') + 1
  const positions = new Uint32Array(LIST_CHUNK)
  let [length, position, distance] = [0, 0, 0]
  for (let at = start; at <= text.length; at++) {
    const code = at === text.length ? BLANK : text.charCodeAt(at)
    if (code !== BLANK) distance = distance * 36 + (code <= NINE ? code - ZERO : code - BEFORE_A)
    else {
      position += distance
      positions[length++] = position
      distance = 0
    }
  }
  return { total: Number.parseInt(text, 36), positions: positions.subarray(0, length) }
}

/** Positions in any order as text: each to base 36, with blanks between. */
export function encodeSequence(positions: readonly number[]): string {
  return positions.map(position => position.toString(36)).join(' ')
}

/** Reads what {@link encodeSequence} wrote. */
export function decodeSequence(text: string): readonly number[] {
  return text.split(' ').map(position => Number.parseInt(position, 36))
}

const [BLANK, ZERO, NINE] = [0x20, 0x30, 0x39]
/** Ten before the code of `a`. */
const BEFORE_A = 0x61 - 10

/**
 * What the store has for position 0; one more for each further one. A store like ours finds all triples of a number by one
 * list, so positions are kept apart from the numbers that records hold: small ones would be in the same lists as counts,
 * years and prices.
 */
const FIRST_POSITION = 1_000_000_000

/** The number that the store has for a position. */
export function storedPosition(position: number): number {
  return FIRST_POSITION + position
}

/** The position for which the store has a number. */
export function positionOf(stored: string): number {
  return Number(stored) - FIRST_POSITION
}
