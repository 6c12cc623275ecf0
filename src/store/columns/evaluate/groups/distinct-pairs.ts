import { bitsIn } from '../../bytes.ts'
import type { Evaluation } from '../evaluation.ts'
import { PairMap } from '../vectors/pair-map.ts'

/** Rows for each word of bits from which on all bits are counted. */
const ROWS_OF_WORD = 4

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
    const { bits, width } = this
    if (count * width > 32 * bits.length || terms >= width)
      this.forNew(groups, ids, row => {
        const group = groups[row] as number
        counts[group] = (counts[group] as number) + 1
      })
    // Bits are set twice as fast where they are not counted: all are counted before and after, where they are few.
    else if ((count * width) / 32 > groups.length / ROWS_OF_WORD) countUnset(bits, width, groups, ids, counts)
    else {
      const ofGroups = counts.subarray(0, count)
      addSetBits(bits, width, ofGroups, -1)
      setAll(bits, width, groups, ids)
      addSetBits(bits, width, ofGroups, 1)
    }
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
    // The bits of a group are whole words.
    if (this.width === 0 && this.known.size === 0) this.width = 32 * Math.ceil((terms + 1) / 32)
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

/** Sets the bits of pairs; 0 is no term, and its bit of each group is cleared. */
function setAll(bits: Uint32Array, width: number, groups: Uint32Array, ids: Uint32Array): void {
  const length = groups.length | 0
  for (let row = 0; row < length; row++) {
    const place = Math.imul(groups[row] as number, width) + (ids[row] as number)
    bits[place >>> 5] = (bits[place >>> 5] as number) | (1 << (place & 31))
  }
  for (let word = 0; word < bits.length; word += width / 32) bits[word] = (bits[word] as number) & ~1
}

/** Adds the number of set bits of each group to the counts, or subtracts it. */
function addSetBits(bits: Uint32Array, width: number, counts: Float64Array, sign: 1 | -1): void {
  const words = width / 32
  for (let group = 0; group < counts.length; group++) {
    let set = 0
    for (let word = group * words; word < (group + 1) * words; word++) set += bitsIn(bits[word] as number)
    counts[group] = (counts[group] as number) + sign * set
  }
}
