import type { Column } from './column.ts'
import type { GraphColumns } from './graph.ts'

/** The difference between two states of a graph, by ascending numbers of subjects. */
export interface GraphDifference {
  /** Subjects of the later state that the earlier one lacks. */
  readonly added: Uint32Array
  /** Subjects of the earlier state that the later one lacks. */
  readonly removed: Uint32Array
  /** Subjects in both whose triples differ: their numbers in the earlier state, and in the later one at the same index. */
  readonly before: Uint32Array
  readonly after: Uint32Array
}

/**
 * Compares two states of a graph subject by subject. Each term of a column is compared once, subjects by the codes of their
 * terms.
 */
export function compareGraphs(earlier: GraphColumns, later: GraphColumns): GraphDifference {
  const places = new Int32Array(later.subjects)
  const isRetained = new Uint8Array(earlier.subjects)
  const added: number[] = []
  for (let subject = 0; subject < later.subjects; subject++) {
    const place = earlier.subjectOf(later.subjectTerm(subject))
    places[subject] = place
    if (place < 0) added.push(subject)
    else isRetained[place] = 1
  }
  const removed: number[] = []
  for (let subject = 0; subject < earlier.subjects; subject++)
    if (isRetained[subject] === 0) removed.push(subject)
  const isChanged = new Uint8Array(later.subjects)
  const predicates = new Set([...earlier.columns, ...later.columns].map(({ predicate }) => predicate))
  for (const predicate of predicates)
    markChanged(earlier.column(predicate), later.column(predicate), places, isChanged)
  const [before, after]: [number[], number[]] = [[], []]
  for (let subject = 0; subject < later.subjects; subject++)
    if (isChanged[subject] === 1) {
      before.push(places[subject] as number)
      after.push(subject)
    }
  return {
    added: Uint32Array.from(added),
    removed: Uint32Array.from(removed),
    before: Uint32Array.from(before),
    after: Uint32Array.from(after),
  }
}

/** Marks the subjects of the later state whose values of one predicate differ. */
function markChanged(
  earlier: Column | undefined,
  later: Column | undefined,
  places: Int32Array,
  isChanged: Uint8Array,
): void {
  const known = earlier === undefined || later === undefined ? null : codesIn(earlier, later)
  for (let subject = 0; subject < places.length; subject++) {
    const place = places[subject] as number
    if (place < 0 || isChanged[subject] === 1) continue
    const old = earlier?.listOf(place) ?? NONE
    const now = later?.listOf(subject) ?? NONE
    if (!isSame(old, now, known)) isChanged[subject] = 1
  }
}

const NONE = new Uint32Array(0)

/** @param known codes of the earlier state by those of the later one; null where one of them has no values */
function isSame(old: Uint32Array, now: Uint32Array, known: Uint32Array | null): boolean {
  if (old.length !== now.length) return false
  for (let at = 0; at < now.length; at++) if (known?.[now[at] as number] !== old[at]) return false
  return true
}

/** The earlier code of each term of the later column; 0 for a term that the earlier one lacks. */
function codesIn({ dictionary: earlier }: Column, { dictionary: later }: Column): Uint32Array {
  const codes = new Uint32Array(later.count + 1)
  for (let code = 1; code <= later.count; code++) codes[code] = earlier.find(later.term(code))
  return codes
}
