import { unreadable } from './unreadable.ts'

/** One row of a CSV text: the lines on which it begins and ends, and its cells. */
export interface CsvRow {
  readonly line: number
  readonly end?: number
  readonly cells: readonly string[]
  /** Indexes of cells that are a quoted empty text; absent if there are none. */
  readonly emptyTexts?: readonly number[]
}

/** Maximum characters of a cell; more are the rest of a file whose quote is not closed. */
const MAX_CELL = 1 << 26

/** Maximum cells of a row. */
const MAX_CELLS = 20_000

const FEED = 10
const RETURN = 13

/** State of the parser: before a row or cell, in a bare or quoted cell, after a quote within it, in a comment. */
type State = 'row' | 'cell' | 'bare' | 'quoted' | 'closed' | 'comment'

/** Deviations from RFC 4180 (Model for Tabular Data, section 8). */
export interface CsvSyntax {
  /** One character, a double quote by default; null if cells are never quoted. */
  readonly quote?: string | null
  /** Lines that begin with this text are left out. */
  readonly comment?: string
  /** True if rows may have any number of cells, and a quote that is followed only by text is part of the cell. */
  readonly isTolerant?: boolean
}

/**
 * An incremental parser of CSV (RFC 4180): it accepts chunks of text of any size and returns complete rows. Lines end with CRLF,
 * LF or CR; blank lines are skipped; a quote within a bare cell is an ordinary character. The first row is the header and
 * determines the maximum number of cells of a row.
 *
 * Throws SourceUnreadable with line and column for a quote that is not closed, text after a closing quote and a row that is
 * longer than the header.
 */
export class CsvParser {
  private readonly file: string
  private readonly delimiter: number
  private readonly quote: string
  private readonly quoteCode: number
  private readonly comment: string
  private readonly isTolerant: boolean
  /** The end of a chunk that may be the beginning of a comment. */
  private held = ''
  private state: State = 'row'
  private rows: CsvRow[] = []
  private cells: string[] = []
  private emptyTexts: number[] = []
  private cell = ''
  private width = Number.POSITIVE_INFINITY
  private lineNumber = 1
  /** Offsets from the start of the text: of the chunk, of the line, and after the last carriage return. */
  private base = 0
  private lineStart = 0
  private afterReturn = -1
  private rowLine = 1
  private cellLine = 1
  private cellColumn = 1

  /**
   * @param file name for messages
   * @param delimiter one character
   */
  constructor(file: string, delimiter: string, syntax: CsvSyntax = {}) {
    this.file = file
    this.delimiter = delimiter.charCodeAt(0)
    this.quote = syntax.quote === undefined ? '"' : (syntax.quote ?? '')
    this.quoteCode = this.quote.charCodeAt(0)
    this.comment = syntax.comment ?? ''
    this.isTolerant = syntax.isTolerant ?? false
  }

  /** The current line. */
  get line(): number {
    return this.lineNumber
  }

  /** Returns and removes the complete rows. */
  take(): readonly CsvRow[] {
    const rows = this.rows
    this.rows = []
    return rows
  }

  /** Reads the next chunk. */
  push(chunk: string): void {
    const text = this.held === '' ? chunk : this.held + chunk
    this.held = ''
    let end = text.length
    if (this.comment.length > 1) end -= this.hold(text)
    this.parse(end === text.length ? text : text.slice(0, end))
  }

  private parse(text: string): void {
    const end = text.length
    let i = 0
    while (i < end) {
      if (this.state === 'bare') i = this.bare(text, i)
      else if (this.state === 'quoted') i = this.quoted(text, i)
      else if (this.state === 'closed') i = this.closed(text, i)
      else if (this.state === 'comment') i = this.skip(text, i)
      else i = this.start(text, i)
    }
    this.base += end
  }

  /** Ends the text: a last row needs no line end. */
  finish(): void {
    if (this.held !== '') this.parse(this.held)
    if (this.state === 'quoted')
      throw this.fault(
        'The quote that opens here is never closed.',
        "Close it, or declare that there are no quotes: options: { quote: '' } (or --quote '').",
      )
    if (this.state === 'row' || this.state === 'comment') return
    if (this.state === 'cell') this.openCell(0)
    this.endCell()
    this.endRow()
  }

  private start(text: string, i: number): number {
    const code = text.charCodeAt(i)
    if (this.state === 'row') {
      if (code === FEED || code === RETURN) {
        this.newline(code, i)
        return i + 1
      }
      if (this.comment !== '' && text.startsWith(this.comment, i)) {
        this.state = 'comment'
        return i + 1
      }
      this.rowLine = this.lineNumber
    }
    this.openCell(i)
    if (code === this.quoteCode) {
      this.state = 'quoted'
      return i + 1
    }
    this.state = 'bare'
    return i
  }

  private bare(text: string, from: number): number {
    const end = text.length
    const delimiter = this.delimiter
    let i = from
    let code = 0
    for (; i < end; i++) {
      code = text.charCodeAt(i)
      if (code === delimiter || code === FEED || code === RETURN) break
      if (code === this.quoteCode && this.isTolerant && this.isBlankBefore(text, from, i)) {
        this.cell = ''
        this.state = 'quoted'
        return i + 1
      }
    }
    this.cell = this.cell === '' ? text.slice(from, i) : this.cell + text.slice(from, i)
    if (i < end) return this.separate(code, i)
    this.checkLength()
    return i
  }

  /** True if a quote opens after blanks alone, as in `a, "b"`. */
  private isBlankBefore(text: string, from: number, at: number): boolean {
    for (let i = from; i < at; i++) if (text.charCodeAt(i) !== 32) return false
    return this.cell.trim() === ''
  }

  private quoted(text: string, from: number): number {
    const found = text.indexOf(this.quote, from)
    const end = found < 0 ? text.length : found
    for (let i = from; i < end; i++) {
      const code = text.charCodeAt(i)
      if (code === FEED || code === RETURN) this.newline(code, i)
    }
    this.cell += text.slice(from, end)
    if (found >= 0) {
      this.state = 'closed'
      return end + 1
    }
    this.checkLength()
    return end
  }

  private closed(text: string, i: number): number {
    const code = text.charCodeAt(i)
    if (code === this.quoteCode) {
      this.cell += this.quote
      this.state = 'quoted'
      return i + 1
    }
    if (code === this.delimiter || code === FEED || code === RETURN) return this.separate(code, i)
    if (this.isTolerant) {
      const next = code === 32 ? afterBlanks(text, i) : i
      const after = next > i ? text.charCodeAt(next) : Number.NaN
      if (after === this.delimiter || after === FEED || after === RETURN) return next
      this.cell += this.quote
      this.state = 'quoted'
      return i
    }
    this.openCell(i)
    throw this.fault(
      'Text follows the quote that closes the cell.',
      `Double a quote within quotes: ${this.quote.repeat(2)}.`,
    )
  }

  /** Retains the end of a chunk that may be the beginning of a comment; returns its length. */
  private hold(text: string): number {
    for (let length = Math.min(this.comment.length - 1, text.length); length > 0; length--) {
      if (!this.comment.startsWith(text.slice(-length))) continue
      this.held = text.slice(-length)
      return length
    }
    return 0
  }

  private skip(text: string, from: number): number {
    for (let i = from; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code !== FEED && code !== RETURN) continue
      this.newline(code, i)
      this.state = 'row'
      return i + 1
    }
    return text.length
  }

  private separate(code: number, i: number): number {
    this.endCell()
    if (code === this.delimiter) this.state = 'cell'
    else {
      this.endRow()
      this.newline(code, i)
    }
    return i + 1
  }

  private openCell(i: number): void {
    this.cell = ''
    this.cellLine = this.lineNumber
    this.cellColumn = this.base + i - this.lineStart + 1
  }

  private endCell(): void {
    if (this.cells.length >= MAX_CELLS)
      throw this.fault(
        `The row has more than ${MAX_CELLS} cells, and a table has at most as many columns.`,
        'Is this the delimiter? Set options: { delimiter: … }.',
      )
    if (this.cells.length >= this.width)
      throw this.fault(
        `The row has more cells than the header, which has ${this.width}.`,
        'Quote a cell that holds the delimiter, or set options.delimiter.',
      )
    if (this.cell === '' && this.state === 'closed') this.emptyTexts.push(this.cells.length)
    this.cells.push(this.cell)
  }

  private endRow(): void {
    if (this.width === Number.POSITIVE_INFINITY && !this.isTolerant) this.width = this.cells.length
    const row = this.isTolerant
      ? { line: this.rowLine, end: this.lineNumber, cells: this.cells }
      : { line: this.rowLine, cells: this.cells }
    if (this.emptyTexts.length === 0) this.rows.push(row)
    else {
      this.rows.push({ ...row, emptyTexts: this.emptyTexts })
      this.emptyTexts = []
    }
    this.cells = []
    this.state = 'row'
  }

  private checkLength(): void {
    if (this.cell.length > MAX_CELL)
      throw this.fault('The cell that begins here is too long.', 'Is its quote closed?')
  }

  private newline(code: number, i: number): void {
    const after = this.base + i + 1
    if (code === RETURN || this.afterReturn !== after - 1) this.lineNumber++
    if (code === RETURN) this.afterReturn = after
    this.lineStart = after
  }

  private fault(reason: string, hint?: string): Error {
    return unreadable(reason, { file: this.file, line: this.cellLine, column: this.cellColumn }, hint)
  }
}

function afterBlanks(text: string, from: number): number {
  let i = from
  while (text.charCodeAt(i) === 32) i++
  return i
}
