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
