import { readFileSync, writeFileSync } from 'node:fs'
import { unversionedGraph } from '../../rdf/minted-iris.ts'

/** Maximum number of sets of graphs that are counted; the least used are dropped. */
const MAX_SETS = 100
/** Number of queries after which a set is preloaded. */
const OFTEN = 3
/** Milliseconds after which counts are written. */
const SAVE_AFTER = 30_000

/**
 * Counts the use of graphs across restarts; each start halves the counts, so that old usage expires. A set of graphs whose merge
 * is queried counts as one.
 */
export class GraphUse {
  private readonly file: string | null
  private readonly counts: Map<string, number>
  private timer: NodeJS.Timeout | null = null

  /** @param file the file of the counts; null to store nothing */
  constructor(file: string | null) {
    this.file = file
    this.counts = new Map(file === null ? [] : readCounts(file).map(([key, count]) => [key, count / 2]))
  }

  /** Counts a query over the merge of graphs. */
  note(graphs: readonly string[]): void {
    if (this.file === null || graphs.length === 0) return
    const key = graphs.map(unversionedGraph).sort().join(' ')
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1)
    this.timer ??= setTimeout(() => this.save(), SAVE_AFTER).unref()
  }

  /** The most frequently used sets of graphs, by their current names. */
  frequent(graphs: Iterable<string>): readonly (readonly string[])[] {
    const names = new Map(Array.from(graphs, graph => [unversionedGraph(graph), graph]))
    return this.sorted()
      .filter(([, count]) => count >= OFTEN)
      .flatMap(([key]) => {
        const set = key.split(' ').map(part => names.get(part))
        return set.every(name => name !== undefined) ? [set as readonly string[]] : []
      })
  }

  save(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
    if (this.file === null || this.counts.size === 0) return
    try {
      writeFileSync(this.file, JSON.stringify(this.sorted().slice(0, MAX_SETS)))
    } catch {
      // Without the file nothing is preloaded.
    }
  }

  private sorted(): readonly (readonly [key: string, count: number])[] {
    return [...this.counts].sort(([, a], [, b]) => b - a)
  }
}

function readCounts(file: string): readonly (readonly [key: string, count: number])[] {
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as unknown
    return Array.isArray(found)
      ? found.filter(
          (each): each is [string, number] => typeof each?.[0] === 'string' && Number.isFinite(each[1]),
        )
      : []
  } catch {
    return []
  }
}
