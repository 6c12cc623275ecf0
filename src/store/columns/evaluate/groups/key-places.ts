import { allRows, Batch } from '../vectors/batch.ts'
import type { Domain } from '../vectors/domain.ts'
import { countPlaces, countPlacesOf } from '../vectors/lanes.ts'
import { scratchUint32 } from '../vectors/scratch.ts'
import { gathered, type IdVector, type Vector } from '../vectors/vector.ts'
import type { SelectedGroups } from './aggregator.ts'

/** Solutions are counted in an array with a place for each combination of keys, if places are at most this many times the rows. */
const PLACES_PER_ROW = 2
const MIN_PLACES = 4096

/** Other aggregates store more per place: they require this many rows per place. */
const ROWS_PER_PLACE = 8

/**
 * Groups by one or two keys whose places are computed from the numbers of their terms: no row needs a look-up. Places without
 * rows are not groups.
 */
export class KeyPlaces {
  /** Rows of each place. */
  readonly counts: Uint32Array
  private readonly names: readonly string[]
  private readonly domains: readonly Domain[]
  /** Sizes of the domains when the places were created: the domain of computed terms grows. */
  private readonly sizes: readonly number[]
  /** Number of places of the second key, including that for no term; 1 without a second key. */
  private readonly width: number

  private constructor(names: readonly string[], domains: readonly Domain[], width: number, places: number) {
    this.names = names
    this.domains = domains
    this.sizes = domains.map(({ size }) => size)
    this.width = width
    this.counts = new Uint32Array(places)
  }

  /**
   * Creates the places for batches whose keys have the same domains as this batch; null where there are too many terms.
   *
   * @param areCounted true where the rows of groups are counted and nothing else
   */
  static of(names: readonly string[], batch: Batch, areCounted: boolean): KeyPlaces | null {
    const vectors = names.length > 2 ? null : keyVectors(names, batch)?.vectors
    const [first, second] = vectors ?? []
    if (vectors == null || first === undefined) return null
    const width = second === undefined ? 1 : second.domain.size + 1
    const places = (first.domain.size + 1) * width
    const max = areCounted ? PLACES_PER_ROW * batch.size : batch.size / ROWS_PER_PLACE
    if (places > Math.max(MIN_PLACES, max)) return null
    const domains = vectors.map(({ domain }) => domain)
    return new KeyPlaces(names, domains, width, places)
  }

  /** The keys of a batch; null where they are of other domains, or where a domain has grown. */
  private keysOf(batch: Batch): Keys | null {
    const keys = keyVectors(this.names, batch)
    const areSame = keys?.vectors.every(
      ({ domain }, at) => domain === this.domains[at] && domain.size === this.sizes[at],
    )
    return areSame === true ? keys : null
  }

  /** Counts the rows of a batch. False where {@link assign} returns null; then nothing is counted. */
  count(batch: Batch): boolean {
    return this.select(batch) !== null || this.assign(batch) !== null
  }

  /** Counts the rows of a batch with one key that has not been read yet, and returns the places; null for others, which it does not count. */
  select(batch: Batch): SelectedGroups | null {
    const { vectors = [], rows = null } = this.keysOf(batch) ?? {}
    const [first, ...others] = vectors
    if (first === undefined || others.length > 0 || rows === null) return null
    countPlacesOf(this.counts, first.ids, rows)
    return { groups: first.ids, rows }
  }

  /**
   * Counts the rows of a batch and returns the place of each. Null where its keys are of other domains, or where a domain has grown;
   * then nothing is counted.
   */
  assign(batch: Batch): Uint32Array | null {
    const { vectors = [], rows = null } = this.keysOf(batch) ?? {}
    const [first, second] = vectors
    if (first === undefined) return null
    const places =
      second !== undefined
        ? pairPlaces(this.width, first.ids, second.ids, rows)
        : rows === null
          ? first.ids
          : gathered(first.ids, rows)
    countPlaces(this.counts, places)
    return places
  }

  /** The keys of some places. */
  keys(places: Uint32Array): Batch {
    const { width } = this
    const vectors = this.names.map((name, at): readonly [string, Vector] => {
      const ids = new Uint32Array(places.length)
      for (let group = 0; group < places.length; group++) {
        const place = places[group] as number
        const left = Math.floor(place / width)
        ids[group] = at === 0 ? left : place - left * width
      }
      return [name, { type: 'ids', domain: this.domains[at] as Domain, ids }]
    })
    return new Batch(places.length, new Map(vectors))
  }
}

/** The keys of a batch; as selected rows of vectors that have not been read yet. */
interface Keys {
  readonly vectors: readonly IdVector[]
  readonly rows: Uint32Array | null
}

function keyVectors(names: readonly string[], batch: Batch): Keys | null {
  const [first, second] = names.map(name => batch.unread(name))
  if (first != null && (names.length === 1 || second?.rows === first.rows))
    return { vectors: second == null ? [first.vector] : [first.vector, second.vector], rows: first.rows }
  const vectors = names.flatMap(name => {
    const vector = batch.get(name)
    return vector?.type === 'ids' ? [vector] : []
  })
  return vectors.length === names.length ? { vectors, rows: null } : null
}

/** The places of pairs, of all rows or of some. */
function pairPlaces(
  width: number,
  left: Uint32Array,
  right: Uint32Array,
  rows: Uint32Array | null,
): Uint32Array {
  const some = rows ?? allRows(left.length)
  const length = some.length | 0
  const places = scratchUint32(length)
  for (let at = 0; at < length; at++) {
    const row = some[at] as number
    places[at] = Math.imul(left[row] as number, width) + (right[row] as number)
  }
  return places
}
