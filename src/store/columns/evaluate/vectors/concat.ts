import type { Evaluation } from '../evaluation.ts'
import { Batch, type Deferred } from './batch.ts'
import type { Domain } from './domain.ts'
import { scratchUint32 } from './scratch.ts'
import { pooledIds } from './translate.ts'
import type { NumberVector, Vector } from './vector.ts'

/** Batches with fewer rows are put together, until they have so many. */
const [FEW_ROWS, MAX_ROWS] = [256, 8192]

/** The same solutions, of which many small batches are one: what follows is evaluated for a batch at a time. */
export function* withoutSmall(batches: Iterable<Batch>, evaluation: Evaluation): Generator<Batch> {
  let small: Batch[] = []
  let rows = 0
  const whole = function* (): Generator<Batch> {
    const batch = concatenatedTexts(small, evaluation)
    yield batch
    if (small.length > 1) evaluation.release(4 * batch.size * batch.variables.length)
    small = []
    rows = 0
  }
  for (const batch of batches) {
    if (batch.size >= FEW_ROWS) {
      yield batch
      continue
    }
    if (batch.size > 0) small.push(batch)
    rows += batch.size
    if (rows >= MAX_ROWS) yield* whole()
  }
  if (rows > 0) yield* whole()
}

/** Concatenates the solutions of batches into one batch. */
export function concatenatedTexts(batches: readonly Batch[], evaluation: Evaluation): Batch {
  return concatenatedWith(batches, evaluation, [])
}

/** What is worked out of the same batches stays together, also where these are worked out of others. */
type KnownWholes = { readonly parts: readonly Batch[]; readonly whole: Batch }[]

function concatenatedWith(batches: readonly Batch[], evaluation: Evaluation, known: KnownWholes): Batch {
  const [only] = batches
  if (only !== undefined && batches.length === 1) return only
  const size = batches.reduce((sum, batch) => sum + batch.size, 0)
  const names = new Set(batches.flatMap(({ variables }) => variables))
  evaluation.allocate(4 * size * names.size)
  const inputOf = (parts: readonly Batch[]): Batch => {
    const found = known.find(each => each.parts.every((part, at) => part === parts[at]))
    if (found !== undefined) return found.whole
    const whole = concatenatedWith(parts, evaluation, known)
    known.push({ parts, whole })
    return whole
  }
  const together = (name: string): Deferred | (() => Vector) => {
    const deferred = batches.flatMap(batch => batch.deferred(name) ?? [])
    const [first, ...others] = deferred
    if (
      first === undefined ||
      deferred.length < batches.length ||
      others.some(({ make }) => make !== first.make)
    )
      return () => {
        const parts = batches.map(batch => ({ vector: batch.get(name), length: batch.size }))
        return joined(parts, size, evaluation)
      }
    return first.of(inputOf(deferred.map(({ input }) => input)))
  }
  return new Batch(size, new Map([...names].map(name => [name, together(name)])))
}

/** The rows of a batch in the whole. */
interface Part {
  readonly vector: Vector | undefined
  readonly length: number
}

function joined(parts: readonly Part[], size: number, evaluation: Evaluation): Vector {
  const present = parts.flatMap(({ vector }) => vector ?? [])
  const domain = sharedDomain(present)
  if (domain !== null) return joinedIds(parts, domain, size)
  const [first] = present
  const isOfKind = (vector: Vector) =>
    vector.type === 'numbers' && vector.kind === (first as NumberVector).kind
  if (first?.type === 'numbers' && present.every(isOfKind)) return joinedNumbers(parts, first, size)
  const ids = new Uint32Array(size)
  forEachPart(parts, ({ vector, length }, at) => {
    if (vector !== undefined) ids.set(pooledIds(vector, length, evaluation), at)
  })
  return { type: 'ids', domain: evaluation.pool, ids }
}

/** Calls back for each part with its first row in the whole. */
function forEachPart(parts: readonly Part[], call: (part: Part, at: number) => void): void {
  let at = 0
  for (const part of parts) {
    call(part, at)
    at += part.length
  }
}

function sharedDomain(vectors: readonly Vector[]): Domain | null {
  let domain: Domain | null = null
  for (const vector of vectors) {
    if (vector.type === 'numbers' || (domain !== null && vector.domain !== domain)) return null
    domain = vector.domain
  }
  return domain
}

function joinedIds(parts: readonly Part[], domain: Domain, size: number): Vector {
  const ids = scratchUint32(size)
  forEachPart(parts, ({ vector, length }, at) => {
    if (vector?.type === 'ids') ids.set(vector.ids, at)
    else ids.fill(vector?.type === 'constant' ? vector.id : 0, at, at + length)
  })
  return { type: 'ids', domain, ids }
}

function joinedNumbers(parts: readonly Part[], { kind }: NumberVector, size: number): Vector {
  const values = new Float64Array(size).fill(Number.NaN)
  let places = 0
  const isWhole = parts.every(({ vector }) => vector?.type === 'numbers' && vector.bound === null)
  const bound = isWhole ? null : new Uint8Array(size)
  forEachPart(parts, ({ vector, length }, at) => {
    if (vector?.type !== 'numbers') return
    values.set(vector.values, at)
    places = Math.max(places, vector.places ?? 0)
    if (vector.bound === null) bound?.fill(1, at, at + length)
    else bound?.set(vector.bound, at)
  })
  return { type: 'numbers', kind, values, bound, ...(kind === 'decimal' ? { places } : {}) }
}
