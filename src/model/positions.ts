/** A list of so many positions narrows nothing down. */
const MOST_POSITIONS = 5000
/** What stands for such a list. */
const TOO_MANY = '*'

/**
 * Positions of records, in rising order, as text: the distance of each from the one before, to base 36, with blanks
 * between; `*` for very many.
 */
export function encodePositions(positions: readonly number[]): string {
  if (isTooMany(positions)) return TOO_MANY
  return positions.map((position, at) => (position - (positions[at - 1] ?? 0)).toString(36)).join(' ')
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

/** True for a list that would be written as very many, so that it need not grow. */
export function isTooMany(positions: readonly number[]): boolean {
  return positions.length > MOST_POSITIONS
}

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
