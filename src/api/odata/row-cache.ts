import { LRUCache } from 'lru-cache'
import type { ApplyRow } from '../../query/odata/rows.ts'

/** Cells of all answers together where nothing else is said: some tens of megabytes. */
const MAX_CELLS = 1_000_000

/**
 * The rows that `$apply` made, by what names the answer, so that its next pages group nothing again. What was longest not
 * asked for goes first. A name must hold the version of the data; then nothing that is cached is ever wrong.
 */
export class RowCache {
  private readonly answers: LRUCache<string, readonly ApplyRow[]>

  /** @param max cells of all answers together; an answer may have a quarter of them */
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

/** Texts are charged as a cell for sixteen characters, of which keys are the longest; a row is an object of its own. */
function costOf(name: string, rows: readonly ApplyRow[]): number {
  let cells = name.length / 16
  for (const row of rows) {
    cells += 1
    for (const cell of row) cells += typeof cell === 'string' ? 1 + cell.length / 16 : 1
  }
  return cells
}
