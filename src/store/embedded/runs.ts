import { Column } from './column.ts'
import { commonPrefix, KeyTable } from './key-table.ts'

/** Rows of a page that follow one another and have one key. */
export interface Segment {
  readonly key: string
  /** Triples of the same key in rows before. */
  readonly from: number
  readonly count: number
  /** Triples of the same key in all rows that are known. */
  readonly weight: number
}

/** Reads keys of rows from one on; `rows` is how many are wanted. Fewer keys than `ahead`: there are no more; null: rows have none. */
export type ReadAhead = (
  from: number,
  rows: number,
) => Promise<{ readonly keys: readonly string[] | null; readonly ahead: number }>

/**
 * The keys of the rows of a pattern in the order of the store, as far as they were read: neighbours with the same key
 * are one run.
 */
export class Runs {
  /** Rows whose keys are known, from the first on. */
  rows = 0
  private readonly most: number
  private keys: KeyTable | null = null
  /** Of each run: the number of its key, its first row, and how many triples its key has in runs before. */
  private readonly runKeys = new Column()
  private readonly starts = new Column()
  private readonly before = new Column()
  /** Triples of each key so far. */
  private readonly weights = new Column()
  private isWhole = false
  /** True where the rows cannot be told by their keys, or more of them must not be remembered. */
  private isFull = false
  private reading: Promise<void> | null = null

  /** @param most bytes, about, after which no more rows are read */
  constructor(most: number) {
    this.most = most
  }

  get bytes(): number {
    const columns = [this.runKeys, this.starts, this.before, this.weights]
    return columns.reduce((sum, column) => sum + column.bytes, this.keys?.bytes ?? 0)
  }

  /** Reads as far as a row; all who ask share each reading. */
  async reach(row: number, read: ReadAhead): Promise<void> {
    while (this.rows < row && !this.isWhole && !this.isFull) {
      this.reading ??= this.readOnce(row - this.rows, read).finally(() => {
        this.reading = null
      })
      await this.reading
    }
  }

  private async readOnce(wanted: number, read: ReadAhead): Promise<void> {
    const { keys, ahead } = await read(this.rows, wanted)
    if (keys === null) this.isFull = true
    else this.append(keys, ahead)
  }

  /** The runs of a page, the first and the last cut to what is in it; null where they are not known. */
  segments(offset: number, limit: number): readonly Segment[] | null {
    if (this.rows < offset + limit && !this.isWhole) return null
    const end = Math.min(offset + limit, this.rows)
    const segments: Segment[] = []
    for (let run = this.starts.lastUpTo(offset), row = offset; row < end; run++) {
      const number = this.runKeys.at(run)
      const next = run + 1 < this.starts.length ? this.starts.at(run + 1) : this.rows
      const count = Math.min(next, end) - row
      const from = this.before.at(run) + row - this.starts.at(run)
      segments.push({ key: this.keys?.key(number) ?? '', from, count, weight: this.weights.at(number) })
      row += count
    }
    return segments
  }

  private append(texts: readonly string[], ahead: number): void {
    this.keys ??= new KeyTable(commonPrefix(texts))
    for (let at = 0; at < texts.length; ) {
      const text = texts[at] ?? ''
      let end = at + 1
      while (texts[end] === text) end++
      this.addRun(this.keys.number(text), end - at)
      at = end
    }
    this.isWhole = texts.length < ahead
    this.isFull = this.bytes > this.most
  }

  private addRun(key: number, count: number): void {
    if (key === this.weights.length) this.weights.push(0)
    const { length } = this.runKeys
    // What was read ends where it ends: a run may go on.
    if (length === 0 || this.runKeys.at(length - 1) !== key) {
      this.runKeys.push(key)
      this.starts.push(this.rows)
      this.before.push(this.weights.at(key))
    }
    this.weights.add(key, count)
    this.rows += count
  }
}
