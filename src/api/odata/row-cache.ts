import type { ApplyRow } from '../../query/odata/rows.ts'

/** Cells of all answers together where nothing else is said: some tens of megabytes. */
const MAX_CELLS = 1_000_000

/**
 * The rows that `$apply` made, by what names the answer, so that its next pages group nothing again. What was longest not
 * asked for goes first. A name must hold the version of the data; then nothing that is cached is ever wrong.
 */
export class RowCache {
  private readonly answers = new Map<string, readonly ApplyRow[]>()
  private readonly max: number
  private size = 0

  /** @param max cells of all answers together; an answer may have a quarter of them */
  constructor(max: number = MAX_CELLS) {
    this.max = max
  }

  find(name: string): readonly ApplyRow[] | undefined {
    const rows = this.answers.get(name)
    if (rows === undefined) return undefined
    this.answers.delete(name)
    this.answers.set(name, rows)
    return rows
  }

  keep(name: string, rows: readonly ApplyRow[]): void {
    if (costOf(name, rows) > this.max / 4 || this.answers.has(name)) return
    this.answers.set(name, rows)
    this.size += costOf(name, rows)
    for (const [oldest, old] of this.answers) {
      if (this.size <= this.max) break
      this.answers.delete(oldest)
      this.size -= costOf(oldest, old)
    }
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
