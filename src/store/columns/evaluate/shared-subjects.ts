import type { GraphColumns } from '../graph.ts'

/** True where two graphs have a subject in common. */
export function shareSubjects(left: GraphColumns, right: GraphColumns): boolean {
  const [small, large] = left.subjects <= right.subjects ? [left, right] : [right, left]
  let known = SHARED.get(small)
  if (known === undefined) {
    known = new WeakMap()
    SHARED.set(small, known)
  }
  let shared = known.get(large)
  if (shared === undefined) {
    shared = hasSharedSubject(small, large)
    known.set(large, shared)
  }
  return shared
}

const SHARED = new WeakMap<GraphColumns, WeakMap<GraphColumns, boolean>>()

/** Skips from a subject of one graph to the next of the other in text order: graphs with different prefixes of subjects need few skips. */
function hasSharedSubject(small: GraphColumns, large: GraphColumns): boolean {
  if (small === large) return true
  if (!large.resources.overlaps(small.resources)) return false
  for (let id = subjectFrom(small, 1); id > 0; ) {
    const text = small.resources.text(id)
    const other = subjectFrom(large, large.resources.lowerBound(text))
    if (other === 0) return false
    const next = large.resources.text(other)
    if (next === text) return true
    id = subjectFrom(small, small.resources.lowerBound(next))
  }
  return false
}

/** The first resource from a number on that is a subject; 0 where there is none. */
function subjectFrom({ resourceSubjects }: GraphColumns, from: number): number {
  for (let id = from; id < resourceSubjects.length; id++) if (resourceSubjects[id] !== 0) return id
  return 0
}
