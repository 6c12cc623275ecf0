import { unreadable } from '../source.ts'
import { fileNameOf, readText, type TextFile } from '../text/text.ts'
import { type JsonKind, type JsonListener, JsonScanner } from './json-scanner.ts'

/** One value of a JSON file, as text for JSON.parse, with its position. */
export interface JsonElement {
  readonly text: string
  readonly kind: JsonKind
  readonly line: number
  readonly column: number
}

/** One step of a path: true for the elements, by index, or members, by name, that it selects. */
export type StepTest = (index: number | undefined, name: string | undefined) => boolean

/** Called with each value on the path before it is entered; returns what is wrong with the value, if anything. */
type ValueCheck = (kind: JsonKind, depth: number) => string | undefined

/** Maximum characters of one value. */
const MAX_VALUE = 1 << 28

/**
 * Extracts the values at a path from a JSON file, however long the file is, a batch for each piece of its text. Throws
 * SourceUnreadable with line and column for malformed JSON anywhere in the file.
 */
export async function* cutValues(
  file: TextFile,
  steps: readonly StepTest[],
  check: ValueCheck = () => undefined,
): AsyncGenerator<readonly JsonElement[]> {
  const cutter = new JsonCutter(fileNameOf(file), steps, check)
  for await (const text of readText(file)) {
    const values = cutter.push(text)
    if (values.length > 0) yield values
  }
  const last = cutter.finish()
  if (last.length > 0) yield last
}

/** Follows a path through a JSON text and extracts the values that it selects. */
class JsonCutter implements JsonListener {
  readonly depth: number
  private readonly steps: readonly StepTest[]
  private readonly check: ValueCheck
  private readonly file: string
  private readonly scanner: JsonScanner
  /** For each open array or object: whether it is on the path, and the current name or index. */
  private readonly onPath: boolean[] = []
  private readonly indexes: (number | undefined)[] = []
  private readonly names: string[] = []
  private values: JsonElement[] = []
  private chunk = ''
  /** The part of the open value in earlier chunks, and where it continues in this chunk; -1 if there is none. */
  private buffered: string[] = []
  private bufferedLength = 0
  private from = -1
  private begun: Omit<JsonElement, 'text'> = { kind: '{', line: 1, column: 1 }

  constructor(file: string, steps: readonly StepTest[], check: ValueCheck) {
    this.file = file
    this.steps = steps
    this.check = check
    this.depth = steps.length
    this.scanner = new JsonScanner(file, this)
  }

  push(text: string): readonly JsonElement[] {
    this.chunk = text
    this.scanner.push(text)
    if (this.from >= 0) {
      this.buffered.push(text.slice(this.from))
      this.bufferedLength += text.length - this.from
      this.from = 0
      const { line, column } = this.begun
      if (this.bufferedLength > MAX_VALUE)
        throw unreadable(
          'The value that begins here is too long for a record.',
          { file: this.file, line, column },
          'Split the document into records that are shorter; --records names the array that holds them.',
        )
    }
    return this.take()
  }

  /** A number at the root ends with the text. */
  finish(): readonly JsonElement[] {
    this.chunk = ''
    this.scanner.finish()
    return this.take()
  }

  start(kind: JsonKind, depth: number, index: number): void {
    const onPath = this.isOnPath(depth)
    if (onPath) {
      const problem = this.check(kind, depth)
      if (problem !== undefined) throw this.scanner.fault(problem)
      if (depth === this.depth) {
        this.from = index
        this.begun = { kind, line: this.scanner.line, column: this.scanner.column }
      }
    }
    this.onPath[depth] = onPath && (kind === '{' || kind === '[')
    this.indexes[depth] = kind === '[' ? -1 : undefined
  }

  end(depth: number, index: number): void {
    if (depth !== this.depth || this.from < 0) return
    const last = this.chunk.slice(this.from, index)
    const text = this.buffered.length === 0 ? last : this.buffered.join('') + last
    this.values.push({ text, ...this.begun })
    this.buffered = []
    this.bufferedLength = 0
    this.from = -1
  }

  name(name: string, depth: number): void {
    this.names[depth - 1] = name
  }

  private isOnPath(depth: number): boolean {
    if (depth === 0) return true
    const before = this.indexes[depth - 1]
    const index = before === undefined ? undefined : before + 1
    this.indexes[depth - 1] = index
    const test = this.steps[depth - 1]
    return this.onPath[depth - 1] === true && test?.(index, this.names[depth - 1]) === true
  }

  private take(): readonly JsonElement[] {
    const values = this.values
    this.values = []
    return values
  }
}
