import { Batch } from './batch.ts'
import type { Domain } from './domain.ts'
import type { IdVector, Vector } from './vector.ts'

/** An array has a place for each combination of keys where these are not many more than rows. */
const PLACES_PER_ROW = 2
const MIN_PLACES = 4096

/** Numbers of rows by one key or two, counted at the place of their terms: what is counted alone needs no numbers of groups. */
export class KeyCounts {
  private readonly names: readonly string[]
  private readonly domains: readonly Domain[]
  /** Terms that the domains had when the places were made: that of computed terms grows. */
  private readonly sizes: readonly number[]
  /** Places of the second key, those of no term among them; 1 without one. */
  private readonly width: number
  private readonly counts: Uint32Array

  private constructor(names: readonly string[], domains: readonly Domain[], width: number, places: number) {
    this.names = names
    this.domains = domains
    this.sizes = domains.map(({ size }) => size)
    this.width = width
    this.counts = new Uint32Array(places)
  }

  /** For batches whose keys are of the domains that those of this one are of; null where there are too many terms. */
  static of(names: readonly string[], batch: Batch): KeyCounts | null {
    const vectors = idVectors(names, batch)
    const [first, second] = vectors ?? []
    if (vectors === null || first === undefined || vectors.length > 2) return null
    const width = second === undefined ? 1 : second.domain.size + 1
    const places = (first.domain.size + 1) * width
    if (places > Math.max(MIN_PLACES, PLACES_PER_ROW * batch.size)) return null
    const domains = vectors.map(({ domain }) => domain)
    return new KeyCounts(names, domains, width, places)
  }

  /** False where the keys are of other domains, or of more terms; then nothing is counted. */
  add(batch: Batch): boolean {
    const vectors = idVectors(this.names, batch)
    const [first, second] = vectors ?? []
    if (vectors === null || first === undefined) return false
    if (vectors.some(({ domain }, at) => domain !== this.domains[at] || domain.size !== this.sizes[at]))
      return false
    if (second === undefined) countOne(this.counts, first.ids)
    else countPairs(this.counts, this.width, first.ids, second.ids)
    return true
  }

  /** The keys of all groups, and how many rows each has. */
  groups(): { readonly keys: Batch; readonly counts: Float64Array } {
    const { counts, width } = this
    let size = 0
    for (let place = 0; place < counts.length; place++) if (counts[place] !== 0) size += 1
    const ids = this.names.map(() => new Uint32Array(size))
    const [first, second] = ids
    const found = new Float64Array(size)
    let group = 0
    for (let place = 0; place < counts.length; place++) {
      const count = counts[place] as number
      if (count === 0) continue
      const left = Math.floor(place / width)
      if (first !== undefined) first[group] = left
      if (second !== undefined) second[group] = place - left * width
      found[group++] = count
    }
    const vectors = this.names.map((name, at): readonly [string, Vector] => [
      name,
      { type: 'ids', domain: this.domains[at] as Domain, ids: ids[at] as Uint32Array },
    ])
    return { keys: new Batch(size, new Map(vectors)), counts: found }
  }
}

function idVectors(names: readonly string[], batch: Batch): readonly IdVector[] | null {
  const vectors = names.flatMap(name => {
    const vector = batch.get(name)
    return vector?.type === 'ids' ? [vector] : []
  })
  return vectors.length === names.length ? vectors : null
}

function countOne(counts: Uint32Array, ids: Uint32Array): void {
  const length = ids.length | 0
  for (let row = 0; row < length; row++) {
    const id = ids[row] as number
    counts[id] = (counts[id] as number) + 1
  }
}

function countPairs(counts: Uint32Array, width: number, left: Uint32Array, right: Uint32Array): void {
  const length = left.length | 0
  for (let row = 0; row < length; row++) {
    const place = Math.imul(left[row] as number, width) + (right[row] as number)
    counts[place] = (counts[place] as number) + 1
  }
}
