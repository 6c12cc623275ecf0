import { LRUCache } from 'lru-cache'
import type { ApplyRow } from '../../query/odata/rows.ts'

/** Default maximum of cells of all answers together: some tens of megabytes. */
const MAX_CELLS = 1_000_000

/**
 * The rows of `$apply` by answer, so that its next pages need no grouping. The least recently used are evicted first. A key
 * must contain the version of the data; then a cached answer is never stale.
 */
export class RowCache {
  private readonly answers: LRUCache<string, readonly ApplyRow[]>

  /** @param max cells of all answers together; one answer may have at most a quarter of them */
  constructor(max: number = MAX_CELLS) {
    this.answers = new LRUCache({
      maxSize: max,
      maxEntrySize: Math.floor(max / 4),
      sizeCalculation: (rows, name) => Math.ceil(costOf(name, rows)),
    })
  }

  find(name: string): readonly ApplyRow[] | undefined {
    return this.answers.get(name)
  }

  keep(name: string, rows: readonly ApplyRow[]): void {
    if (!this.answers.has(name)) this.answers.set(name, rows)
  }
}

/** A text costs a cell for every sixteen characters, and each row costs extra as an object. */
function costOf(name: string, rows: readonly ApplyRow[]): number {
  let cells = name.length / 16
  for (const row of rows) {
    cells += 1
    for (const cell of row) cells += typeof cell === 'string' ? 1 + cell.length / 16 : 1
  }
  return cells
}
