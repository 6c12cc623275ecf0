import { parseExactly } from '../model/exact-json.ts'
import { numberText } from '../model/number.ts'
import type { Value } from '../model/value.ts'
import {
  afterColon,
  BACKSLASH,
  CLOSE,
  COMMA,
  escapeEnd,
  isHalf,
  isPlainNumber,
  OPEN,
  OPEN_ARRAY,
  pairEnd,
  QUOTE,
  STRING_STOPS,
  skipSpace,
  startsNumber,
  unescapeInPlace,
  valueEnd,
} from './json-bytes-value.ts'
import { KeyBook } from './json-keys.ts'

/** What is read of each record. */
export interface JsonMembers {
  /** Different names; their values are the cells. */
  readonly names: readonly string[]
  /** The cell that is the number of the record, from 1, where it has no such member; -1 for none. */
  readonly numbered: number
  /** True where all values are text. */
  readonly textOnly: boolean
  /** Reads the values of a record that is not as simple as most are. */
  readonly read: (record: unknown, number: number) => readonly Value[]
}

/** Bytes that are reserved before a record: room for its number, behind a quote. */
export const HEAD = 32

/** Where a cell ends that is not to be copied: what is as long as this never is. */
const NOT_COPIED = 2 ** 20

/** The letter that null begins with. */
const NULL = 110

/** How a cell is made simple once all of its record is known. */
const AS_IS = 0
const ESCAPED = 1
const RESPELT = 2

/**
 * The cells of one record: the text of each value, that is a string without escapes, or a number as ECMAScript writes it. A
 * value for which that cannot be has a cell too long to be copied, and all values of its record are read at once.
 */
export class RecordCells {
  /**
   * Where the cells begin, by name, and then the same values once more as they stand in JSON: strings from their opening
   * quote. -1 for an absent value and null.
   */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** 1 for names that a record had. */
  readonly found: Uint8Array
  readonly #members: JsonMembers
  readonly #keys: KeyBook
  /** By cell, what is to be done with it, and the number that it then is. */
  readonly #work: Uint8Array
  readonly #spelt: string[] = []
  #hasWork = false
  #hasNumber = false
  /** True where a cell is not simple, and where none can be found. */
  #isRead = false
  #isOdd = false
  #values: readonly Value[] | null = null

  constructor(members: JsonMembers) {
    const width = members.names.length
    this.#members = members
    this.#keys = new KeyBook(members.names)
    this.starts = new Int32Array(2 * width)
    this.ends = new Int32Array(2 * width)
    this.found = new Uint8Array(width)
    this.#work = new Uint8Array(width)
  }

  /** Finds the cells of the value that begins here; gives where it ends, or the complement of a fault. */
  read(bytes: Buffer, at: number): number {
    const keys = this.#keys
    this.#isOdd = bytes[at] !== OPEN
    if (this.#isOdd) return valueEnd(bytes, at)
    this.starts.fill(-1)
    this.ends.fill(-1)
    this.#work.fill(AS_IS)
    this.#hasWork = false
    this.#hasNumber = false
    this.#isRead = false
    keys.begin()
    let i = skipSpace(bytes, at + 1)
    if (bytes[i] === CLOSE) return i + 1
    for (;;) {
      if (bytes[i] !== QUOTE) return ~i
      const name = keys.read(bytes, i + 1)
      if (name < 0) return name
      i = afterColon(bytes, name + 1)
      if (i < 0) return i
      const { cell } = keys
      if (keys.isEscaped) this.#isOdd = true
      i = cell < 0 ? valueEnd(bytes, i) : this.#cell(bytes, cell, i)
      if (i < 0) return i
      i = skipSpace(bytes, i)
      if (bytes[i] !== COMMA) return bytes[i] === CLOSE ? i + 1 : ~i
      i = skipSpace(bytes, i + 1)
    }
  }

  /** Finds a cell; gives where its value ends. The last one of a name holds. */
  #cell(bytes: Buffer, cell: number, at: number): number {
    this.found[cell] = 1
    this.#work[cell] = AS_IS
    if (cell === this.#members.numbered) this.#hasNumber = true
    const byte = bytes[at]
    if (byte === QUOTE) return this.#string(bytes, cell, at)
    const end = valueEnd(bytes, at)
    if (end < 0) return end
    if (byte === OPEN || byte === OPEN_ARRAY) this.#refuse(cell)
    else if (byte === NULL) this.#place(cell, -1, -1, -1)
    else {
      this.#place(cell, at, at, end)
      if (startsNumber(byte) && !isPlainNumber(bytes, at, end)) this.#respell(bytes, cell, at, end)
    }
    return end
  }

  #string(bytes: Buffer, cell: number, at: number): number {
    let isText = true
    for (let i = at + 1; ; ) {
      while (STRING_STOPS[bytes[i] as number] === 0) i++
      if (bytes[i] === QUOTE) {
        if (isText) this.#place(cell, at + 1, at, i)
        else this.#refuse(cell)
        return i + 1
      }
      if (bytes[i] !== BACKSLASH) return ~i
      const end = escapeEnd(bytes, i)
      if (end < 0) return end
      this.#work[cell] = ESCAPED
      this.#hasWork = true
      const pair = isHalf(bytes, i) ? pairEnd(bytes, i) : end
      // What was read ends with a zero, behind which the pair may go on.
      if (pair < 0 && bytes[~pair] === 0) return pair
      if (pair < 0) isText = false
      i = pair < 0 ? end : pair
    }
  }

  #refuse(cell: number): void {
    this.#place(cell, 0, 0, NOT_COPIED)
    this.#work[cell] = AS_IS
    this.#isRead = true
  }

  #place(cell: number, from: number, token: number, to: number): void {
    const { starts, ends } = this
    const width = this.#work.length
    starts[cell] = from
    ends[cell] = to
    starts[width + cell] = token
    ends[width + cell] = to
  }

  /** Reads a number that ECMAScript may write in another way. */
  #respell(bytes: Buffer, cell: number, from: number, to: number): void {
    const text = bytes.toString('latin1', from, to)
    const value = Number(text)
    const spelt = String(value)
    const isRounded = /[.e]/i.test(text) ? !Number.isFinite(value) : !Number.isSafeInteger(value)
    if (isRounded || spelt.length > text.length || spelt !== numberText(value)) this.#refuse(cell)
    else if (spelt !== text) {
      this.#work[cell] = RESPELT
      this.#spelt[cell] = spelt
      this.#hasWork = true
    }
  }

  /**
   * Makes a row of what was found between two places; `read` cannot be asked again then.
   *
   * @param number of the record
   */
  finish(bytes: Buffer, from: number, to: number, number: number): void {
    const { starts, ends } = this
    const { numbered, read } = this.#members
    const width = this.#work.length
    const isRead = this.#isOdd || this.#isRead
    this.#values = isRead ? read(parseExactly(bytes.toString('utf8', from, to)), number) : null
    if (this.#isOdd) {
      starts.fill(0)
      ends.fill(NOT_COPIED)
      return
    }
    if (this.#hasWork) for (let cell = 0; cell < width; cell++) this.#simplify(bytes, cell)
    if (numbered < 0 || this.#hasNumber) return
    this.#place(numbered, 1, 0, 1 + bytes.write(String(number), 1, 'latin1'))
  }

  #simplify(bytes: Buffer, cell: number): void {
    const { starts, ends } = this
    const work = this.#work[cell]
    if (work === AS_IS) return
    const from = starts[cell] as number
    const end =
      work === ESCAPED
        ? unescapeInPlace(bytes, from, ends[cell] as number)
        : from + bytes.write(this.#spelt[cell] ?? '', from, 'latin1')
    ends[cell] = end
    ends[this.#work.length + cell] = end
  }

  /** The values of the record, by name. */
  values(bytes: Buffer): readonly Value[] {
    this.#values ??= this.#members.names.map((_, cell) => this.#value(bytes, cell))
    return this.#values
  }

  #value(bytes: Buffer, cell: number): Value {
    const { starts, ends } = this
    const from = starts[cell] as number
    if (from < 0) return null
    const text = bytes.toString('utf8', from, ends[cell])
    const token = bytes[starts[cell + this.#work.length] as number]
    if (token === QUOTE || this.#members.textOnly) return text
    return startsNumber(token) ? Number(text) : text === 'true'
  }
}
