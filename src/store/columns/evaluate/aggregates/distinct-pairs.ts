import type { Evaluation } from '../evaluation.ts'
import { PairMap } from '../pair-map.ts'

/** Maximum number of bits. */
const MAX_BITS = 2 ** 26

/** A set of pairs of a group and a term number: in an array of bits, pairs that do not fit into it in a table. */
export class DistinctPairs {
  private readonly known: PairMap
  private readonly allocate: (bytes: number) => void
  /** By group and term. */
  private bits = new Uint32Array(0)
  private width = 0

  constructor(evaluation: Evaluation) {
    this.allocate = bytes => evaluation.allocate(bytes)
    this.known = new PairMap(this.allocate)
  }

  /**
   * Counts new pairs by group; 0 is no term.
   *
   * @param count number of groups
   * @param terms the largest number of a term
   */
  countNew(
    groups: Uint32Array,
    ids: Uint32Array,
    { count, terms }: { readonly count: number; readonly terms: number },
    counts: Float64Array,
  ): void {
    if (count * this.width <= 32 * this.bits.length && terms < this.width)
      countUnset(this.bits, this.width, groups, ids, counts)
    else
      this.forNew(groups, ids, row => {
        const group = groups[row] as number
        counts[group] = (counts[group] as number) + 1
      })
  }

  /** Calls back for the first row of each pair; 0 is no term. */
  forNew(groups: Uint32Array, ids: Uint32Array, call: (row: number) => void): void {
    for (let row = 0; row < groups.length; row++)
      if (this.add(groups[row] as number, ids[row] as number)) call(row)
  }

  /** True the first time that a pair is added. */
  add(group: number, id: number): boolean {
    if (id === 0) return false
    const { bits, width } = this
    const place = group * width + id
    if (id < width && place < 32 * bits.length) return set(bits, place) === 1
    const known = this.known.size
    return this.known.add(group, id, known) === known
  }

  /** The pairs of some groups, or of all. */
  *pairs(groups: ReadonlySet<number> | null): Generator<readonly [group: number, id: number]> {
    const { width } = this
    const places = 32 * this.bits.length
    const all = groups ?? Array(width === 0 ? 0 : Math.ceil(places / width)).keys()
    for (const group of all) {
      const end = Math.min((group + 1) * width, places)
      for (
        let place = this.nextMarked(group * width, end);
        place < end;
        place = this.nextMarked(place + 1, end)
      )
        yield [group, place - group * width]
    }
    for (const [group, id] of this.known.entries())
      if (groups === null || groups.has(group)) yield [group, id]
  }

  /** The first marked index from one on; the end where none is before it. */
  private nextMarked(from: number, end: number): number {
    for (let place = from; place < end; place++) {
      const rest = (this.bits[place >>> 5] as number) >>> (place & 31)
      if ((rest & 1) !== 0) return place
      // The other bits of this word are not set either.
      if (rest === 0) place |= 31
    }
    return end
  }

  /** Makes room for all pairs of the groups and terms, where these are not too many. */
  prepare(groups: number, terms: number): void {
    if (this.width === 0 && this.known.size === 0) this.width = terms + 1
    const { bits, width } = this
    if (this.known.size > 0 || terms >= width || groups * width <= 32 * bits.length) return
    // More groups may follow.
    const words = Math.ceil(Math.min(MAX_BITS, 2 * (groups + 1) * width) / 32)
    if (words <= bits.length) return
    this.allocate(4 * (words - bits.length))
    this.bits = new Uint32Array(words)
    this.bits.set(bits)
  }
}

/** Sets a bit; 1 where it was not set. */
function set(bits: Uint32Array, place: number): number {
  const word = place >>> 5
  const before = bits[word] as number
  const bit = 1 << (place & 31)
  bits[word] = before | bit
  return (before & bit) === 0 ? 1 : 0
}

/** Counts pairs whose bit is not set, and sets it. */
function countUnset(
  bits: Uint32Array,
  width: number,
  groups: Uint32Array,
  ids: Uint32Array,
  counts: Float64Array,
): void {
  const length = groups.length | 0
  for (let row = 0; row < length; row++) {
    const group = groups[row] as number
    const id = ids[row] as number
    if (id !== 0) counts[group] = (counts[group] as number) + set(bits, Math.imul(group, width) + id)
  }
}
