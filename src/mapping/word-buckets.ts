import { encodePositions, isTooMany } from '../model/positions.ts'
import { wordBucket } from '../model/search.ts'
import { wordBucketIri } from '../rdf/iris.ts'
import { INDEX } from '../rdf/vocab.ts'
import type { TripleText } from './triple-text.ts'

/** Buckets while records pass by; they are folded to fewer when the number of records is known. */
const FINEST = 2 ** 16
const FEWEST = 64
/** With so many buckets for each record a word shares its bucket with about a hundred others of the usual size. */
const RECORDS_A_BUCKET = 16
/** In fewer records every text is looked at as quickly. */
const WORTHWHILE = 2000

/**
 * Gathers in which records the words of each bucket are, so that a search for a word looks at the texts of few records
 * instead of all: for each bucket one triple, its object the positions of the records, as one literal. A triple
 * for each word and record would make the index graph three times as large.
 */
export class WordBuckets {
  private readonly finest = Array.from({ length: FINEST }, (): number[] | null => null)

  add(word: string, position: number): void {
    const bucket = wordBucket(word, FINEST)
    const positions = this.finest[bucket]
    if (positions === null || positions === undefined) this.finest[bucket] = [position]
    else if (!isTooMany(positions) && positions.at(-1) !== position) positions.push(position)
  }

  /**
   * Writes the buckets.
   *
   * @returns how many there are, as queries must know them; null where there are too few records for any
   */
  write(records: number, out: TripleText): number | null {
    if (records < WORTHWHILE) return null
    const buckets = Math.min(FINEST, Math.max(FEWEST, 2 ** Math.ceil(Math.log2(records / RECORDS_A_BUCKET))))
    for (let bucket = 0; bucket < buckets; bucket++) {
      const positions = this.positions(bucket, buckets)
      if (positions.length === 0) continue
      out.add(`<${wordBucketIri(bucket)}> <${INDEX.positions}> "${encodePositions(positions)}" .\n`, 1)
    }
    return buckets
  }

  private positions(bucket: number, buckets: number): readonly number[] {
    const all: number[] = []
    for (let fine = bucket; fine < FINEST; fine += buckets) all.push(...(this.finest[fine] ?? []))
    return [...new Set(all)].sort((a, b) => a - b)
  }
}
