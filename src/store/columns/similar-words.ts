/** Minimum length of words that may have one typing error, and two (ODSQL 3.7). */
const ONE_SLIP = 3
const TWO_SLIPS = 6
/** Longer words are not natural language: they are searched for exactly. */
const TOO_LONG = 64

/** Maximum number of insertions, deletions, replacements and exchanges of neighbouring characters in a word. */
export function slipsOf(word: string): number {
  const { length } = [...word]
  return length > TOO_LONG ? 0 : length >= TWO_SLIPS ? 2 : length >= ONE_SLIP ? 1 : 0
}

/** A test whether another word is within a number of slips (the restricted distance of Damerau and Levenshtein). */
export function similarTo(word: string, slips: number): (other: string) => boolean {
  const own = [...word]
  let row = new Uint8Array(own.length + 1)
  let last = new Uint8Array(own.length + 1)
  let lastButOne = new Uint8Array(own.length + 1)
  return other => {
    if (slips === 0) return other === word
    const letters = isPlain(other) ? other : [...other]
    if (Math.abs(letters.length - own.length) > slips) return false
    for (let at = 0; at <= own.length; at++) last[at] = at
    for (let line = 1; line <= letters.length; line++) {
      row[0] = line
      let best = line
      for (let at = 1; at <= own.length; at++) {
        const same = own[at - 1] === letters[line - 1] ? 0 : 1
        let distance = Math.min(
          (last[at - 1] as number) + same,
          (last[at] as number) + 1,
          (row[at - 1] as number) + 1,
        )
        if (same === 1 && own[at - 1] === letters[line - 2] && own[at - 2] === letters[line - 1] && at > 1)
          distance = Math.min(distance, (lastButOne[at - 2] as number) + 1)
        row[at] = distance
        if (distance < best) best = distance
      }
      // Each row is at most one more than the one before, so that no exchange leads below the limit again.
      if (best > slips) return false
      ;[lastButOne, last, row] = [last, row, lastButOne]
    }
    return (last[own.length] as number) <= slips
  }
}

function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xf800) === 0xd800) return false
  return true
}
