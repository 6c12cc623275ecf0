import { isUtf8 } from 'node:buffer'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { Value } from '../model/value.ts'
import { enterArray, leaveArray, member, objectEnd } from './json-bytes-path.ts'
import { HEAD, type JsonMembers, RecordCells } from './json-bytes-record.ts'
import { CLOSE, CLOSE_ARRAY, COMMA, OPEN, QUOTE, skipSpace, valueEnd } from './json-bytes-value.ts'
import type { JsonPath } from './json-path.ts'

/** Bytes that are read at a time. */
const CHUNK = 2 ** 20
/** Bytes of the longest element. */
const MAX_LENGTH = 2 ** 27
const MARK = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * The records of a JSON file in UTF-8 as the places of their values, for who copies them without making texts of them.
 * Any fault ends the reading, which the parser of texts then tells.
 *
 * It reads as it is asked, and synchronously: the work on a row is done before the next one is looked for.
 */
export class JsonBytes {
  bytes: Buffer
  /** See {@link RecordCells}. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** 1 for names that a record had. */
  readonly found: Uint8Array
  /** Records so far. */
  records = 0
  readonly #file: number
  readonly #cells: RecordCells
  /** Names that lead from the root to the array, and from its elements to the records. */
  readonly #before: readonly Uint8Array[]
  readonly #after: readonly Uint8Array[]
  /** Where the record of an element begins; -1 for none. */
  #from = -1
  #to = -1
  #state: 'before' | 'first' | 'next' | 'after' | 'done' = 'before'
  #next = HEAD
  #end = HEAD
  /** Bytes that are known to be well-formed. */
  #checked = HEAD
  #isLast = false

  private constructor(file: number, path: JsonPath, members: JsonMembers, chunk: number) {
    const all = path.findIndex(({ type }) => type === 'all')
    this.#file = file
    this.#before = path.slice(0, all).map(nameBytes)
    this.#after = path.slice(all + 1).map(nameBytes)
    this.#cells = new RecordCells(members)
    this.starts = this.#cells.starts
    this.ends = this.#cells.ends
    this.found = this.#cells.found
    this.bytes = Buffer.allocUnsafeSlow(HEAD + chunk)
    this.bytes[0] = QUOTE
  }

  /**
   * Opens a file; null for one that is no file of UTF-8 on a disk, or cannot be read.
   *
   * @param path of names, and one wildcard for the elements of an array; null for any other
   * @param chunk bytes that are read at a time, 64 at least
   */
  static open(file: string, path: JsonPath, members: JsonMembers, chunk = CHUNK): JsonBytes | null {
    const all = path.findIndex(({ type }) => type === 'all')
    const isSimple = all >= 0 && path.every(({ type }, index) => index === all || type === 'name')
    if (!isSimple || file.endsWith('.gz')) return null
    let rows: JsonBytes | null = null
    try {
      if (!statSync(file).isFile()) return null
      rows = new JsonBytes(openSync(file, 'r'), path, members, chunk)
      if (rows.#begin()) return rows
    } catch {
      // The parser of texts tells why it cannot be read.
    }
    rows?.close()
    return null
  }

  close(): void {
    closeSync(this.#file)
  }

  /** Finds the next record; `fault` where the file is no JSON from here on, or not as simple as is read here. */
  next(): 'row' | 'end' | 'fault' {
    while (this.#state !== 'done') {
      const at = this.#step()
      if (at >= 0) {
        this.#next = at
        if (this.#from < 0) continue
        this.#cells.finish(this.bytes, this.#from, this.#to, ++this.records)
        return 'row'
      }
      if (~at < this.#end || this.#isLast || !this.#read()) return 'fault'
    }
    return 'end'
  }

  /** The values of the record, by name. */
  values(): readonly Value[] {
    return this.#cells.values(this.bytes)
  }

  /** Passes the mark of UTF-8; false for UTF-16. */
  #begin(): boolean {
    if (!this.#read()) return false
    const [first, second] = this.bytes.subarray(HEAD, this.#end)
    if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return false
    if (this.bytes.subarray(HEAD, Math.min(this.#end, HEAD + 3)).equals(MARK)) this.#next += 3
    return true
  }

  /** Reads on behind the element that is not complete; false for what is not well-formed, or too long. */
  #read(): boolean {
    const rest = this.#end - this.#next
    // The last byte is for the zero that ends whatever is read.
    if (this.#next > HEAD) this.bytes.copyWithin(HEAD, this.#next, this.#end)
    else if (this.#end + 1 >= this.bytes.length) {
      if (rest >= MAX_LENGTH) return false
      const larger = Buffer.allocUnsafeSlow(2 * this.bytes.length)
      this.bytes.copy(larger, 0, 0, this.#end)
      this.bytes = larger
    }
    this.#checked = Math.max(HEAD, this.#checked - this.#next + HEAD)
    this.#next = HEAD
    this.#end = HEAD + rest
    const read = readSync(this.#file, this.bytes, this.#end, this.bytes.length - this.#end - 1, null)
    this.#end += read
    this.#isLast = read === 0
    this.bytes[this.#end] = 0
    let whole = this.#end
    if (!this.#isLast) while (whole > this.#checked && (this.bytes[whole - 1] as number) > 127) whole--
    const isWell = isUtf8(this.bytes.subarray(this.#checked, whole))
    this.#checked = whole
    return isWell
  }

  /** Reads what comes next, an element at most; the complement of where that is not as it has to be. */
  #step(): number {
    const { bytes } = this
    this.#from = -1
    const i = skipSpace(bytes, this.#next)
    switch (this.#state) {
      case 'before': {
        const array = enterArray(bytes, i, this.#before)
        if (array >= 0) this.#state = 'first'
        return array
      }
      case 'first':
      case 'next': {
        if (bytes[i] === CLOSE_ARRAY) {
          this.#state = 'after'
          return i + 1
        }
        if (this.#state === 'next' && bytes[i] !== COMMA) return ~i
        const end = this.#element(this.#state === 'next' ? skipSpace(bytes, i + 1) : i, 0)
        // A number may go on behind what was read.
        if (end >= this.#end) return ~end
        if (end >= 0) this.#state = 'next'
        return end
      }
      case 'after': {
        const end = leaveArray(bytes, i, this.#before)
        if (end < this.#end || !this.#isLast) return end < 0 ? end : ~end
        this.#state = 'done'
        return end
      }
      case 'done':
        return i
      default:
        return this.#state satisfies never
    }
  }

  /** Reads an element, or what is of it at a step of the path, and finds its record; gives where it ends. */
  #element(at: number, step: number): number {
    const { bytes } = this
    const name = this.#after[step]
    if (name === undefined) {
      this.#from = at
      this.#to = this.#cells.read(bytes, at)
      return this.#to
    }
    if (bytes[at] !== OPEN) return valueEnd(bytes, at)
    let i = skipSpace(bytes, at + 1)
    if (bytes[i] === CLOSE) return i + 1
    for (;;) {
      const { value, isNamed } = member(bytes, i, name)
      if (value < 0) return value
      i = isNamed ? this.#element(value, step + 1) : valueEnd(bytes, value)
      if (i < 0) return i
      if (isNamed) return objectEnd(bytes, i, name)
      i = skipSpace(bytes, i)
      if (bytes[i] !== COMMA) return bytes[i] === CLOSE ? i + 1 : ~i
      i = skipSpace(bytes, i + 1)
    }
  }
}

function nameBytes(step: JsonPath[number]): Uint8Array {
  return Uint8Array.from(Buffer.from(step.type === 'name' ? step.name : ''))
}
