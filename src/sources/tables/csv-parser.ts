import { unreadable } from '../source.ts'
import {
  afterBlanks,
  type CellSigns,
  closingQuote,
  LineEnds,
  lineEnd,
  opensCell,
  singleQuote,
  strayEnd,
  undoubled,
} from './csv-quotes.ts'
import { type CsvRow, CsvRows, type CsvSyntax, startLength } from './csv-syntax.ts'

/** Maximum characters of a cell; more are the rest of a file whose quote is not closed. */
const MAX_CELL = 1 << 26

/** Characters of a line that are examined for the end of a cell. */
const MAX_AHEAD = 1 << 16

const FEED = 10
const RETURN = 13

/** State of the parser: before a row or cell, in a bare or quoted cell, after a quote within it, in a comment. */
type State = 'row' | 'cell' | 'bare' | 'quoted' | 'closed' | 'comment'

/**
 * An incremental parser of CSV (RFC 4180): it accepts chunks of text of any size and returns complete rows. Lines end with CRLF,
 * LF or CR; blank lines are skipped; a quote within a bare cell is an ordinary character. The first row is the header and
 * determines the maximum number of cells of a row.
 *
 * Throws SourceUnreadable with line and column for a quote that is not closed, text after a closing quote and a row that is
 * longer than the header. A tolerant parser reports a quote that text follows, and ends its cell on the same line, so that it never
 * contains the next rows.
 */
export class CsvParser {
  private readonly file: string
  private readonly delimiter: number
  private readonly quote: string
  private readonly quoteCode: number
  private readonly comment: string
  private readonly isTolerant: boolean
  private readonly onStrayQuote: CsvSyntax['onStrayQuote']
  /** The end of a chunk that is read with the next one: of a comment, or of a line with a stray quote. */
  private held = ''
  private isLast = false
  /** True once a quote followed blanks, as in `a, "b"`. */
  private isSpaced = false
  private state: State = 'row'
  private readonly rows: CsvRows
  private readonly ends = new LineEnds()
  private cell = ''
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
    this.rows = new CsvRows(this.isTolerant)
    this.onStrayQuote = syntax.onStrayQuote
  }

  /** Returns and removes the complete rows. */
  take(): readonly CsvRow[] {
    return this.rows.take()
  }

  /** Reads the next chunk. */
  push(chunk: string): void {
    const text = this.held === '' ? chunk : this.held + chunk
    let end = text.length
    if (this.comment.length > 1) end -= startLength(text, this.comment)
    this.held = text.slice(end)
    this.parse(end === text.length ? text : text.slice(0, end))
  }

  private parse(text: string, from = 0): void {
    const end = text.length
    let i = from
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
    this.isLast = true
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
        this.isSpaced = true
        this.openCell(i)
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
    const found = singleQuote(text, from, this.quote)
    const end = found < 0 ? text.length : found
    for (let i = from; i < end; i++) {
      const code = text.charCodeAt(i)
      if (code === FEED || code === RETURN) this.newline(code, i)
    }
    this.cell += undoubled(text.slice(from, end), this.quote)
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
      const next = afterBlanks(text, i, this.delimiter)
      if (next === text.length && next - i < MAX_AHEAD) return this.isLast ? next : this.defer(text, i)
      const after = text.charCodeAt(next)
      const isClosed = after === this.delimiter || after === FEED || after === RETURN
      return isClosed ? next : this.stray(text, i)
    }
    this.openCell(i)
    throw this.fault(
      'Text follows the quote that closes the cell.',
      `Double a quote within quotes: ${this.quote.repeat(2)}.`,
    )
  }

  /** Text follows a quote: the cell ends on this line, at a later quote or at the delimiter. */
  private stray(text: string, i: number): number {
    const end = this.ends.next(text, i, i + MAX_AHEAD)
    if (end === text.length && end - i < MAX_AHEAD && !this.isLast) return this.defer(text, i)
    const { cell, signs } = this
    const found = strayEnd(cell, text.slice(i, end), signs)
    const isOpen = cell !== '' && opensCell(cell, cell.length, signs)
    if (isOpen || (!found.isClosed && this.cellLine < this.lineNumber)) {
      this.base += i
      this.reread()
      this.base -= i
      return i
    }
    this.onStrayQuote?.(this.lineNumber, this.base + i - this.lineStart)
    this.cell = found.text
    this.state = 'bare'
    return i + found.end
  }

  /** Reads a cell again whose quote is never closed, up to the quote of another cell: it ends on its first line. */
  private reread(): void {
    const { quote, isLast } = this
    this.onStrayQuote?.(this.cellLine, this.cellColumn)
    this.lineNumber = this.cellLine
    this.lineStart = this.base - this.cellColumn
    this.afterReturn = -1
    const text = this.cell.replaceAll(quote, quote + quote) + quote
    const found = closingQuote(text.slice(0, lineEnd(text, 0, text.length)), this.signs, false)
    this.cell = found < 0 ? quote : undoubled(text.slice(0, found - 1), quote)
    this.state = 'bare'
    this.isLast = true
    this.parse(text, found < 0 ? 0 : afterBlanks(text, found, this.delimiter))
    this.isLast = isLast
  }

  private get signs(): CellSigns {
    return { delimiter: this.delimiter, quote: this.quote, isSpaced: this.isSpaced }
  }

  /** Reads the text from a position on with the next chunk. */
  private defer(text: string, i: number): number {
    this.held = text.slice(i) + this.held
    this.base -= text.length - i
    return text.length
  }

  private skip(text: string, from: number): number {
    const i = lineEnd(text, from, text.length)
    if (i === text.length) return i
    this.newline(text.charCodeAt(i), i)
    this.state = 'row'
    return i + 1
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
    const excess = this.rows.add(this.cell, this.state === 'closed')
    if (excess !== null) throw this.fault(...excess)
  }

  private endRow(): void {
    this.rows.end(this.rowLine, this.lineNumber)
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
