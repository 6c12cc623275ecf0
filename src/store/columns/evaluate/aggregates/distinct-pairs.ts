import type { Evaluation } from '../evaluation.ts'
import { countUnmarked } from '../lanes.ts'
import { PairMap } from '../pair-map.ts'
import { scratchUint8 } from '../scratch.ts'

/** Maximum length of an array of bytes, and of bits. */
const MAX_DENSE = 2 ** 22
const MAX_BITS = 2 ** 26

/** A set of pairs of a group and a term number: in an array of bytes or of bits, pairs that do not fit into it in a table. */
export class DistinctPairs {
  private readonly known: PairMap
  private readonly allocate: (bytes: number) => void
  /** 1 for a pair, by group and term; null after the switch to bits. */
  private dense: Uint8Array | null = null
  private bits: Uint32Array | null = null
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
    const { dense, bits, width } = this
    const places = count * width
    if (dense !== null && places <= dense.length && terms < width)
      countUnmarked({ flags: dense, width }, groups, ids, counts, count)
    else if (bits !== null && places <= 32 * bits.length && terms < width)
      countUnset(bits, width, groups, ids, counts)
    else
      this.forNew(groups, ids, row => {
        const group = groups[row] as number
        counts[group] = (counts[group] as number) + 1
      })
  }

  /** Calls back for the first row of each pair; 0 is no term. */
  forNew(groups: Uint32Array, ids: Uint32Array, call: (row: number) => void): void {
    const { dense, width } = this
    // Pairs of a group that does not fit into the array are looked up individually.
    const end = dense === null ? 0 : Math.floor(dense.length / width)
    for (let row = 0; row < groups.length; row++) {
      if (dense !== null) row = nextNew(dense, width, end, groups, ids, row)
      if (row >= groups.length) return
      if (this.add(groups[row] as number, ids[row] as number)) call(row)
    }
  }

  /** True the first time that a pair is added. */
  add(group: number, id: number): boolean {
    if (id === 0) return false
    const { dense, bits, width } = this
    const place = group * width + id
    if (dense !== null && id < width && place < dense.length) {
      if (dense[place] === 1) return false
      dense[place] = 1
      return true
    }
    if (bits !== null && id < width && place < 32 * bits.length) return set(bits, place) === 1
    const known = this.known.size
    return this.known.add(group, id, known) === known
  }

  /** The pairs of some groups, or of all. */
  *pairs(groups: ReadonlySet<number> | null): Generator<readonly [group: number, id: number]> {
    const { width } = this
    const places = this.dense?.length ?? 32 * (this.bits?.length ?? 0)
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
    const { dense, bits } = this
    if (from >= end) return end
    if (dense !== null) {
      const place = dense.subarray(from, end).indexOf(1)
      return place < 0 ? end : from + place
    }
    for (let place = from; bits !== null && place < end; place++) {
      const rest = (bits[place >>> 5] as number) >>> (place & 31)
      if ((rest & 1) !== 0) return place
      // The other bits of this word are not set either.
      if (rest === 0) place |= 31
    }
    return end
  }

  /** Makes room in an array for all pairs of the groups and terms, where these are not too many. */
  prepare(groups: number, terms: number): void {
    if (this.known.size > 0 || (this.width > 0 && terms >= this.width)) return
    // More groups may follow.
    const places = 2 * (groups + 1) * (terms + 1)
    if (this.width === 0) {
      this.width = terms + 1
      if (places <= 2 * MAX_DENSE) {
        const length = Math.min(MAX_DENSE, places)
        this.allocate(length)
        this.dense = scratchUint8(length).fill(0)
      } else this.makeBits(places)
      return
    }
    const length = this.dense?.length ?? 32 * (this.bits?.length ?? 0)
    if (length > 0 && groups * this.width > length) this.makeBits(places)
  }

  /** Converts bytes, or a shorter array of bits, to bits. */
  private makeBits(places: number): void {
    const length = Math.min(MAX_BITS, places)
    const { dense, bits: before } = this
    if (length <= (dense?.length ?? 32 * (before?.length ?? 0))) return
    const words = Math.ceil(length / 32)
    this.allocate(4 * (words - (before?.length ?? 0)))
    const bits = new Uint32Array(words)
    if (before !== null) bits.set(before)
    if (dense !== null)
      for (let place = 0; place < dense.length; place++) if (dense[place] === 1) set(bits, place)
    this.bits = bits
    this.dense = null
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

/** The first row from one on whose pair is not marked, in an array of groups below an end. */
function nextNew(
  dense: Uint8Array,
  width: number,
  end: number,
  groups: Uint32Array,
  ids: Uint32Array,
  from: number,
): number {
  const length = groups.length | 0
  for (let row = from; row < length; row++) {
    const group = groups[row] as number
    const id = ids[row] as number
    if (id === 0) continue
    if (group >= end || id >= width || dense[Math.imul(group, width) + id] === 0) return row
  }
  return length
}
