import { lookup } from '../../model/lookup.ts'
import { shown, unreadable } from '../source.ts'
import { afterNumeral, isDigitByte, isNumberState, isWholeNumber, type NumberState } from './json-number.ts'

/** The kind of a JSON value, by its first character: `0` is a number, `t` is true, false or null. */
export type JsonKind = '{' | '[' | '"' | '0' | 't'

/** The callbacks for the values of a JSON text during a scan; indexes are positions in the current chunk. */
export interface JsonListener {
  /** Maximum depth of reported values: 0 is the root alone. */
  readonly depth: number
  /** A value begins at an index, within `depth` arrays and objects. */
  start(kind: JsonKind, depth: number, index: number): void
  /** The value that began last at this depth ends before an index. */
  end(depth: number, index: number): void
  /** The name of the next member's value, in an object within `depth - 1` others. */
  name(name: string, depth: number): void
}

/** Maximum nesting, so that recursion over a value does not overflow the stack. */
const MAX_NESTING = 1000

const FEED = 10
const RETURN = 13
const QUOTE = 34
const MINUS = 45
const BACKSLASH = 92

type State =
  | 'value'
  | 'first element'
  | 'first member'
  | 'member'
  | 'colon'
  | 'after'
  | 'done'
  | 'string'
  | 'escape'
  | 'hex'
  | 'word'
  | NumberState

const EXPECTED: Readonly<Partial<Record<State, string>>> = {
  value: 'a value',
  'first element': 'a value or ]',
  'first member': 'a name in double quotes or }',
  member: 'a name in double quotes',
  colon: 'a colon',
  done: 'the end of the text',
  escape: 'one of " \\ / b f n r t u',
  hex: 'a hexadecimal digit',
  minus: 'a digit',
  dot: 'a digit',
  e: 'a digit or sign',
  'exponent sign': 'a digit',
  string: 'a character or the closing quote',
}

/**
 * An incremental reader of JSON text (RFC 8259) that checks every character and notifies a listener where values begin and end,
 * so that elements of an array can be extracted from a text of any length. All text that it accepts is valid for JSON.parse.
 * Throws SourceUnreadable with line and column.
 */
export class JsonScanner {
  private readonly file: string
  private readonly listener: JsonListener
  /** True for an object, false for an array, the outermost first. */
  private readonly open: boolean[] = []
  private state: State = 'value'
  private isName = false
  private name = ''
  private word = ''
  private digits = 0
  private lineNumber: number
  private base = 0
  private lineStart = 0
  private afterReturn = -1
  private index = 0

  /**
   * @param file name for messages
   * @param line number of the text's first line
   */
  constructor(file: string, listener: JsonListener, line = 1) {
    this.file = file
    this.listener = listener
    this.lineNumber = line
  }

  /** 1-based current line: within `start` that of the value. */
  get line(): number {
    return this.lineNumber
  }

  /** 1-based column of the current character. */
  get column(): number {
    return this.base + this.index - this.lineStart + 1
  }

  /** Scans the next chunk. */
  push(text: string): void {
    let i = 0
    while (i < text.length) {
      this.index = i
      i = isTokenState(this.state) ? this.token(text, i) : this.structure(text, i)
    }
    this.base += text.length
    this.index = 0
  }

  /** Ends the text, which must be complete. */
  finish(): void {
    if (isNumberState(this.state)) this.endNumber('', 0)
    if (this.state !== 'done') throw this.unexpected(undefined)
  }

  /** A fault at the current position. */
  fault(reason: string, hint?: string): Error {
    return unreadable(reason, { file: this.file, line: this.line, column: this.column }, hint)
  }

  private structure(text: string, i: number): number {
    const code = text.charCodeAt(i)
    switch (code) {
      case FEED:
      case RETURN:
        this.newline(code, i)
        return i + 1
      case 9:
      case 32: {
        let next = i + 1
        while (text.charCodeAt(next) === 32) next++
        return next
      }
      case QUOTE:
        if (this.state === 'member' || this.state === 'first member') {
          this.isName = true
          this.name = ''
          this.state = 'string'
        } else this.start('"', 'string', text, i)
        return this.string(text, i + 1)
      case 0x7b:
        this.enter('{', text, i)
        return i + 1
      case 0x5b:
        this.enter('[', text, i)
        return i + 1
      case 0x7d:
      case 0x5d:
        this.leave(code === 0x7d, text, i)
        return i + 1
      case 0x3a:
        if (this.state !== 'colon') throw this.unexpected(text, i)
        this.state = 'value'
        return i + 1
      case 0x2c:
        if (this.state !== 'after') throw this.unexpected(text, i)
        this.state = this.open[this.open.length - 1] ? 'member' : 'value'
        return i + 1
      default:
        return this.scalar(code, text, i)
    }
  }

  private scalar(code: number, text: string, i: number): number {
    if (code === MINUS) this.start('0', 'minus', text, i)
    else if (code === 48) this.start('0', 'zero', text, i)
    else if (isDigitByte(code)) this.start('0', 'integer', text, i)
    else {
      const word = lookup(WORDS, text.charAt(i))
      if (word === undefined) throw this.unexpected(text, i)
      this.start('t', 'word', text, i)
      this.word = word
      this.digits = 1
      return i + 1
    }
    return this.number(text, i + 1)
  }

  private start(kind: JsonKind, state: State, text: string, i: number): void {
    if (this.state !== 'value' && this.state !== 'first element') throw this.unexpected(text, i)
    const depth = this.open.length
    if (depth <= this.listener.depth) this.listener.start(kind, depth, i)
    this.isName = false
    this.state = state
  }

  private enter(kind: '{' | '[', text: string, i: number): void {
    this.start(kind, kind === '{' ? 'first member' : 'first element', text, i)
    if (this.open.push(kind === '{') > MAX_NESTING)
      throw this.fault(
        `Arrays and objects are nested more than ${MAX_NESTING} deep.`,
        'Write the document with fewer levels.',
      )
  }

  private leave(isObject: boolean, text: string, i: number): void {
    const ends = this.state === 'after' || this.state === (isObject ? 'first member' : 'first element')
    if (!ends || this.open[this.open.length - 1] !== isObject) throw this.unexpected(text, i)
    this.open.pop()
    this.end(i + 1)
  }

  private end(index: number): void {
    const depth = this.open.length
    this.state = depth === 0 ? 'done' : 'after'
    if (depth <= this.listener.depth) this.listener.end(depth, index)
  }

  private string(text: string, from: number): number {
    let i = from
    let code = text.charCodeAt(i)
    while (code !== QUOTE && code !== BACKSLASH && code >= 0x20) code = text.charCodeAt(++i)
    const described = this.isName && this.open.length <= this.listener.depth
    if (described) this.name += text.slice(from, i)
    if (i >= text.length) return i
    this.index = i
    if (code === BACKSLASH) {
      this.state = 'escape'
      if (described) this.name += '\\'
    } else if (code !== QUOTE) throw this.unexpected(text, i)
    else if (!this.isName) this.end(i + 1)
    else {
      if (described) this.listener.name(JSON.parse(`"${this.name}"`) as string, this.open.length)
      this.state = 'colon'
    }
    return i + 1
  }

  private token(text: string, i: number): number {
    const character = text.charAt(i)
    switch (this.state) {
      case 'string':
        return this.string(text, i)
      case 'escape':
        if (!'"\\/bfnrtu'.includes(character)) throw this.unexpected(text, i)
        this.digits = 0
        this.state = character === 'u' ? 'hex' : 'string'
        if (this.isName) this.name += character
        return i + 1
      case 'hex':
        if (!/[0-9a-f]/i.test(character)) throw this.unexpected(text, i)
        if (++this.digits === 4) this.state = 'string'
        if (this.isName) this.name += character
        return i + 1
      case 'word':
        if (character !== this.word[this.digits]) throw this.unexpected(text, i)
        if (++this.digits === this.word.length) this.end(i + 1)
        return i + 1
      default:
        return this.number(text, i)
    }
  }

  private number(text: string, from: number): number {
    let state = this.state as NumberState
    for (let i = from; i < text.length; i++) {
      const next = afterNumeral(state, text.charCodeAt(i))
      if (next === undefined) {
        this.state = state
        this.index = i
        this.endNumber(text, i)
        return i
      }
      state = next
    }
    this.state = state
    return text.length
  }

  private endNumber(text: string, i: number): void {
    if (!isWholeNumber(this.state)) throw this.unexpected(i < text.length ? text : undefined, i)
    this.end(i)
  }

  private newline(code: number, i: number): void {
    const after = this.base + i + 1
    if (code === RETURN || this.afterReturn !== after - 1) this.lineNumber++
    if (code === RETURN) this.afterReturn = after
    this.lineStart = after
  }

  private unexpected(text: string | undefined, i = 0): Error {
    const state = this.state
    const inObject = this.open[this.open.length - 1]
    const found = text === undefined ? undefined : String.fromCodePoint(text.codePointAt(i) ?? 0)
    const expected =
      state === 'after'
        ? `a comma or ${inObject ? '}' : ']'}`
        : state === 'word'
          ? `the word ${this.word}`
          : (EXPECTED[state] ?? 'a digit')
    return this.fault(
      `The JSON is malformed: ${expected} is expected but ${shown(found)}.`,
      'Mend it there, or write the file again with the program that made it.',
    )
  }
}

/** True within a string, a number or a word, false between them. */
function isTokenState(state: State): boolean {
  switch (state) {
    case 'value':
    case 'first element':
    case 'first member':
    case 'member':
    case 'colon':
    case 'after':
    case 'done':
      return false
    default:
      return true
  }
}

const WORDS: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' }
