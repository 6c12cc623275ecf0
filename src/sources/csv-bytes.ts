import { isUtf8 } from 'node:buffer'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** How the rows of a CSV file are distinguished. */
export interface ByteSyntax {
  /** One ASCII character. */
  readonly delimiter: string
  /** One ASCII character; null where cells are never quoted. */
  readonly quote: string | null
  /** False where the first line is a row. */
  readonly header: boolean
  /** Cells of the longest row. */
  readonly width: number
  /** Which empty cells are no values. */
  readonly emptyIsNull: EmptyIsNull
}

/** Empty cells that are no values: all of them, those that are not between quotes, or none. */
export type EmptyIsNull = 'all' | 'unquoted' | 'none'

/** Bytes that are read at a time. */
const CHUNK = 2 ** 20
/** Bytes of the longest row. */
const MAX_ROW_LENGTH = 2 ** 27

const FEED = 10
const RETURN = 13
const MARK = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * The rows of a CSV file in UTF-8 as the places of their cells, for who copies cells without making texts of them. It reads
 * what the parser of texts reads, but tells no more of a fault than that there is one.
 *
 * It reads as it is asked, and synchronously: the work on a row is done before the next one is looked for.
 */
export class CsvBytes {
  bytes: Buffer = Buffer.allocUnsafeSlow(CHUNK)
  /** By cell; -1 for one that is no value. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  readonly #file: number
  readonly #width: number
  readonly #delimiter: number
  readonly #quote: number
  /** Bytes above this are of a cell's text. */
  readonly #most: number
  readonly #emptyIsNull: EmptyIsNull
  /** Cells of the row in which quotes are doubled. */
  readonly #doubled: number[] = []
  #next = 0
  #end = 0
  /** Bytes that are known to be well-formed. */
  #checked = 0
  #isLast = false

  private constructor(file: number, syntax: ByteSyntax) {
    this.#file = file
    this.#width = syntax.width
    this.#delimiter = syntax.delimiter.charCodeAt(0)
    this.#quote = syntax.quote === null ? -1 : syntax.quote.charCodeAt(0)
    this.#most = Math.max(this.#delimiter, RETURN)
    this.#emptyIsNull = syntax.emptyIsNull
    this.starts = new Int32Array(syntax.width)
    this.ends = new Int32Array(syntax.width)
  }

  /** Opens a file; null for one that is no file of UTF-8 on a disk. */
  static open(path: string, syntax: ByteSyntax): CsvBytes | null {
    if (path.endsWith('.gz')) return null
    const file = openSync(path, 'r')
    const rows = new CsvBytes(file, syntax)
    try {
      if (fstatSync(file).isFile() && rows.#begin(syntax.header)) return rows
    } catch (error) {
      rows.close()
      throw error
    }
    rows.close()
    return null
  }

  close(): void {
    closeSync(this.#file)
  }

  /** Finds the next row; `fault` where the file is no CSV from here on, or not well-formed. */
  next(): 'row' | 'end' | 'fault' {
    for (;;) {
      const found = this.#row()
      if (found !== 'more') return found
      if (this.#isLast) return this.#next < this.#end ? 'fault' : 'end'
      if (!this.#read()) return 'fault'
    }
  }

  /** Passes the mark of UTF-8 and the header; false for UTF-16. */
  #begin(header: boolean): boolean {
    if (!this.#read()) return false
    const [first, second] = this.bytes
    if (this.#end >= 2 && ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)))
      return false
    if (this.#end >= 3 && this.bytes.subarray(0, 3).equals(MARK)) this.#next = 3
    return !header || this.next() === 'row'
  }

  /** Reads on behind the row that is not complete; false for what is not well-formed, or too long for a row. */
  #read(): boolean {
    const rest = this.#end - this.#next
    if (this.#next > 0) this.bytes.copyWithin(0, this.#next, this.#end)
    else if (rest === this.bytes.length) {
      if (rest >= MAX_ROW_LENGTH) return false
      const larger = Buffer.allocUnsafeSlow(2 * rest)
      this.bytes.copy(larger, 0, 0, rest)
      this.bytes = larger
    }
    this.#checked = Math.max(0, this.#checked - this.#next)
    this.#next = 0
    this.#end = rest
    const read = readSync(this.#file, this.bytes, rest, this.bytes.length - rest, null)
    this.#end += read
    this.#isLast = read === 0
    const lineEnd = 1 + Math.max(this.#lastIndexOf(FEED), this.#lastIndexOf(RETURN))
    const whole = this.#isLast ? this.#end : lineEnd
    if (whole <= this.#checked) return true
    const isWell = isUtf8(this.bytes.subarray(this.#checked, whole))
    this.#checked = whole
    return isWell
  }

  #lastIndexOf(byte: number): number {
    return this.bytes.subarray(this.#checked, this.#end).lastIndexOf(byte) + this.#checked
  }

  #row(): 'row' | 'more' | 'end' | 'fault' {
    const { bytes, starts, ends } = this
    const end = this.#end
    const quote = this.#quote
    const delimiter = this.#delimiter
    const max = this.#most
    let i = this.#next
    while (i < end && (bytes[i] === FEED || bytes[i] === RETURN)) i++
    this.#next = i
    if (i >= end) return 'more'
    this.#doubled.length = 0
    for (let cell = 0; ; cell++) {
      if (i >= end && !this.#isLast) return 'more'
      if (cell >= this.#width) return 'fault'
      let from = i
      let to: number
      if (i < end && bytes[i] === quote) {
        from = i + 1
        to = this.#closing(from, cell)
        if (to < 0) return this.#isLast ? 'fault' : 'more'
        i = to + 1
      } else {
        let byte = 0
        for (; i < end; i++) {
          byte = bytes[i] as number
          if (byte <= max && (byte === delimiter || byte === FEED || byte === RETURN)) break
        }
        to = i
      }
      if (i >= end && !this.#isLast) return 'more'
      starts[cell] = from
      ends[cell] = to
      if (i < end && bytes[i] === delimiter) {
        i++
        continue
      }
      if (i < end && bytes[i] !== FEED && bytes[i] !== RETURN) return 'fault'
      this.#next = Math.min(end, i + 1)
      this.#finish(cell + 1)
      return 'row'
    }
  }

  /** The quote that closes a cell; -1 where it is not there yet. */
  #closing(from: number, cell: number): number {
    const { bytes } = this
    const quote = this.#quote
    const end = this.#end
    for (let i = from; i < end; i++) {
      if (bytes[i] !== quote) continue
      if (i + 1 === end) return this.#isLast ? i : -1
      if (bytes[i + 1] !== quote) return i
      if (this.#doubled.at(-1) !== cell) this.#doubled.push(cell)
      i++
    }
    return -1
  }

  /** Makes a row of what was found: quotes once, no value where there is none. */
  #finish(cells: number): void {
    const { bytes, starts, ends } = this
    for (const cell of this.#doubled) {
      let to = starts[cell] as number
      for (let i = to; i < (ends[cell] as number); i++) {
        bytes[to++] = bytes[i] as number
        if (bytes[i] === this.#quote) i++
      }
      ends[cell] = to
    }
    for (let cell = 0; cell < this.#width; cell++)
      if (cell >= cells || (starts[cell] === ends[cell] && this.#isNull(starts[cell] as number))) {
        starts[cell] = -1
        ends[cell] = -1
      }
  }

  /** True where an empty cell is no value: before one without quotes stands a delimiter, or what ends a row. */
  #isNull(start: number): boolean {
    if (this.#emptyIsNull === 'unquoted') return start === 0 || this.bytes[start - 1] !== this.#quote
    return this.#emptyIsNull === 'all'
  }
}
