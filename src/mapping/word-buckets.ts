import { encodePositions, isTooMany } from '../model/positions.ts'
import { wordBucket } from '../model/search.ts'
import { wordBucketIri } from '../rdf/iris.ts'
import { INDEX } from '../rdf/vocab.ts'
import { KeyedPositions } from './keyed-positions.ts'

/** Buckets while records pass by; they are folded to fewer when the number of records is known. */
const FINEST_BITS = 19
const FINEST = 2 ** FINEST_BITS
const FEWEST = 64
/** With so many buckets for each record a word shares its bucket with about a hundred others of the usual size. */
const RECORDS_A_BUCKET = 16
/** In fewer records every text is looked at as quickly. */
const WORTHWHILE = 2000

/**
 * Gathers in which records the words of each bucket are, so that a search for a word looks at the texts of few records
 * instead of all: for each bucket one triple, its object the positions of the records, as one literal. A triple
 * for each word and record would make the index graph three times as large.
 *
 * Places go by the bits of a bucket in reverse, so that the buckets that are folded into one stand together.
 */
export class WordBuckets {
  /** For each bucket the last position, plus one, and how many there are, as far as that matters. */
  private readonly last = new Uint32Array(FINEST)
  private readonly counts = new Uint16Array(FINEST)
  private readonly places: KeyedPositions

  /**
   * @param path of a file for what memory should not hold; it is there for as long as it is needed
   * @param lot places of words in records that are held
   */
  constructor(path: string, lot?: number) {
    this.places = new KeyedPositions(path, FINEST, lot)
  }

  /** Notes a word of a record; positions rise. */
  add(word: string, position: number): void {
    const bucket = wordBucket(word, FINEST)
    if (this.last[bucket] === position + 1 || isTooMany(this.counts[bucket] ?? 0)) return
    this.last[bucket] = position + 1
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1
    this.places.add(reversed(bucket, FINEST_BITS), position)
  }

  /** How many buckets so many records have, as queries must know it; null where they are too few for any. */
  static bucketsOf(records: number): number | null {
    if (records < WORTHWHILE) return null
    return Math.min(FINEST, Math.max(FEWEST, 2 ** Math.ceil(Math.log2(records / RECORDS_A_BUCKET))))
  }

  /** The triples of so many buckets, each a line of N-Triples; to be asked once. */
  *triples(buckets: number): Generator<string> {
    const bits = Math.log2(buckets)
    const width = FINEST / buckets
    for (let group = 0; group < buckets; group++) {
      const lists = this.places.below((group + 1) * width)
      if (lists.length === 0) continue
      const bucket = reversed(group, bits)
      yield `<${wordBucketIri(bucket)}> <${INDEX.positions}> "${encodePositions(merged(lists))}" .\n`
    }
  }

  /** Removes what is on the disk. */
  close(): void {
    this.places.close()
  }
}

/** Distinct positions in rising order, of lists that each have them so. */
function merged(lists: readonly Uint32Array[]): Uint32Array {
  const [first = EMPTY] = lists
  if (lists.length === 1) return first
  const all = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0))
  let length = 0
  for (const list of lists) {
    all.set(list, length)
    length += list.length
  }
  all.sort()
  return all.filter((position, index) => index === 0 || position !== all[index - 1])
}

const EMPTY = new Uint32Array(0)

/** The lowest bits of a number in reverse. */
function reversed(number: number, bits: number): number {
  let rest = number
  rest = ((rest >>> 1) & 0x55555555) | ((rest & 0x55555555) << 1)
  rest = ((rest >>> 2) & 0x33333333) | ((rest & 0x33333333) << 2)
  rest = ((rest >>> 4) & 0x0f0f0f0f) | ((rest & 0x0f0f0f0f) << 4)
  rest = ((rest >>> 8) & 0x00ff00ff) | ((rest & 0x00ff00ff) << 8)
  rest = (rest >>> 16) | (rest << 16)
  return rest >>> (32 - bits)
}
