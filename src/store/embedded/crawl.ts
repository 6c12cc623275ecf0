import type { TriplePattern } from '../../rdf/term.ts'
import { keyPlace, keysQuery, pageQuery, rangeQuery, valuesQuery } from '../match.ts'
import { keyedLines, readKeys, selectedLines } from './keys.ts'
import type { AnswerFormat } from './protocol.ts'
import { type ReadAhead, Runs, type Segment } from './runs.ts'

/** Asks the engine one thing; `deadline` in milliseconds. */
type Ask = (sparql: string, format: AnswerFormat, deadline?: number) => Promise<string>

/** Up to this many rows the engine passes over, at half a microsecond each. */
export const SHALLOW = 5000

/** Rows that are read ahead at once: as many as are known already, within these bounds. */
const LEAST_AHEAD = 20_000
const MOST_AHEAD = 200_000

/** Who asks for rows this far behind those known waits less for the engine to pass over them than to read them all. */
const FAR = 50_000

/** Where this many rows or fewer are left, more are read before they are asked for. */
const NEAR = 10_000

/** Of a key with more triples than this only those of the page are read. */
const HEAVY = 2000

/** Bytes of all runs together. */
const MOST_BYTES = 64 * 2 ** 20

/**
 * Pages far into a pattern, in the order in which the engine gives its triples, for what a page near the beginning costs.
 * The engine can only pass over rows one by one. So it is asked once for the subjects of the rows, as far as somebody
 * reads; a page is then looked up by its few subjects, and its triples are put in their order: those of one subject come
 * in the order in which they come among all, the latest first.
 */
export class Crawl {
  private readonly ask: Ask
  private readonly known = new Map<string, Runs>()
  private readonly mostBytes: number
  private isReadingOn = false

  constructor(ask: Ask, mostBytes: number = MOST_BYTES) {
    this.ask = ask
    this.mostBytes = mostBytes
  }

  /** One page as N-Triples; `offset` is within the triples of the pattern. */
  async page(graph: string, pattern: TriplePattern, offset: number, limit: number, deadline?: number) {
    const place = keyPlace(pattern)
    if (place !== null) {
      const runs = this.runs(graph, pattern)
      const read: ReadAhead = async (from, rows) => {
        const ahead = Math.min(MOST_AHEAD, Math.max(LEAST_AHEAD, rows, from))
        const text = await this.ask(keysQuery(graph, pattern, from, ahead), 'tsv', deadline)
        return { keys: readKeys(text), ahead }
      }
      const end = offset + limit
      if (end - runs.rows <= FAR) await runs.reach(end, read)
      if (runs.rows - end < NEAR) this.readOn(runs, Math.max(end, runs.rows) + 1, read)
      this.evict()
      const segments = runs.segments(offset, limit)
      const page = segments === null ? null : await this.assemble(graph, pattern, segments, deadline)
      if (page !== null) return page
    }
    return this.ask(pageQuery(graph, pattern, offset, limit), 'nt', deadline)
  }

  /** Reads on while nobody waits for it, for one pattern at a time; a failure is told to who asks the next time. */
  private readOn(runs: Runs, row: number, read: ReadAhead): void {
    if (this.isReadingOn) return
    this.isReadingOn = true
    runs
      .reach(row, read)
      .catch(() => undefined)
      .finally(() => {
        this.isReadingOn = false
        this.evict()
      })
  }

  /** Forgets graphs that are dropped. */
  forget(graphs: readonly string[]): void {
    for (const key of this.known.keys())
      if (graphs.some(graph => key.startsWith(`${graph}\n`))) this.known.delete(key)
  }

  private runs(graph: string, pattern: TriplePattern): Runs {
    const key = `${graph}\n${JSON.stringify([pattern.subject, pattern.predicate, pattern.object])}`
    const runs = this.known.get(key) ?? new Runs(this.mostBytes)
    this.known.delete(key)
    this.known.set(key, runs)
    return runs
  }

  private evict(): void {
    let bytes = 0
    for (const runs of this.known.values()) bytes += runs.bytes
    for (const [key, runs] of this.known) {
      if (bytes <= this.mostBytes || this.known.size === 1) return
      this.known.delete(key)
      bytes -= runs.bytes
    }
  }

  /** The triples of the segments in turn; null where the engine does not have what it had. */
  private async assemble(
    graph: string,
    pattern: TriplePattern,
    segments: readonly Segment[],
    deadline: number | undefined,
  ): Promise<string | null> {
    const place = keyPlace(pattern) ?? 'subject'
    const ranges = rangesOf(segments)
    const light = [...ranges].filter(([, { weight }]) => weight <= HEAVY).map(([key]) => key)
    const lines = new Map<string, readonly string[]>()
    if (light.length > 0) {
      const text = await this.ask(valuesQuery(graph, pattern, light), 'tsv', deadline)
      for (const [key, all] of selectedLines(text, pattern, place)) {
        const range = ranges.get(key)
        if (range !== undefined) lines.set(key, all.slice(range.from, range.to))
      }
    }
    for (const [key, { weight, from, to }] of ranges) {
      if (weight <= HEAVY) continue
      const text = await this.ask(rangeQuery(graph, pattern, key, from, to - from), 'nt', deadline)
      lines.set(key, keyedLines(text, place).get(key) ?? [])
    }
    const taken = new Map<string, number>()
    const page: string[] = []
    for (const { key, count } of segments) {
      const at = taken.get(key) ?? 0
      taken.set(key, at + count)
      const part = lines.get(key)?.slice(at, at + count) ?? []
      if (part.length < count) return null
      page.push(...part)
    }
    return page.join('')
  }
}

/** Which of the triples of each key a page needs; those of one key on one page follow one another. */
function rangesOf(segments: readonly Segment[]) {
  const ranges = new Map<string, { readonly from: number; readonly to: number; readonly weight: number }>()
  for (const { key, from, count, weight } of segments)
    ranges.set(key, { from: ranges.get(key)?.from ?? from, to: from + count, weight })
  return ranges
}
