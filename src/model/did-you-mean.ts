/**
 * The candidate that a name was probably meant to be, for "did you mean": with the fewest insertions, deletions, replacements and
 * swaps of neighbours, ignoring case, and at most a third of the name's length. The first of several equally near ones; undefined
 * where none is near.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const required = name.toLowerCase()
  let best: string | undefined
  let bound = Math.max(1, Math.floor(required.length / 3)) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - required.length) >= bound) continue
    const distance = editDistance(required, candidate.toLowerCase())
    if (distance >= bound) continue
    best = candidate
    bound = distance
  }
  return best
}

/** Optimal string alignment distance, three rows at a time. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        at(last, j) + 1,
        at(row, j - 1) + 1,
        at(last, j - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, j - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}

/** Longer names are not searched: the cost grows with the square of their length. */
const MAX_LENGTH = 40

/** The candidate that a name was probably meant to be (see `nearest`); none for a very long name. */
export function nearName(name: string, candidates: Iterable<string>): string | undefined {
  return name.length > MAX_LENGTH ? undefined : nearest(name, candidates)
}

/** The hint about a name that is not known: `did you mean name?` */
export function didYouMean(name: string, candidates: Iterable<string>): string | undefined {
  const close = nearest(name, candidates)
  return close === undefined ? undefined : `did you mean ${close}?`
}
