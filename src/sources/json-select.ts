import { parseExactly } from '../model/exact-json.ts'
import type { JsonPath } from './json-path.ts'
import { type JsonKind, type JsonListener, JsonScanner } from './json-scanner.ts'
import { fileNameOf, readText, type TextFile } from './text.ts'
import { unreadable } from './unreadable.ts'

/** Characters of one value beyond which it is no record. */
const MAX_VALUE = 1 << 28

/**
 * Reads the values at a path of a JSON file one by one, however long the file is, a batch for each piece of its text.
 * Integers beyond what a number holds are bigints. Throws SourceUnreadable with line and column for malformed JSON
 * anywhere in the file.
 */
export async function* readSelected(file: TextFile, path: JsonPath): AsyncGenerator<readonly unknown[]> {
  const cutter = new ValueCutter(fileNameOf(file), path)
  for await (const text of readText(file)) {
    const values = cutter.push(text)
    if (values.length > 0) yield values.map(parseExactly)
  }
  const last = cutter.finish()
  if (last.length > 0) yield last.map(parseExactly)
}

/** Follows a path through a JSON text and cuts out the values that it leads to. */
class ValueCutter implements JsonListener {
  readonly depth: number
  private readonly path: JsonPath
  private readonly file: string
  private readonly scanner: JsonScanner
  /** For each open array or object: whether the path leads through it, and the name or index that it is at. */
  private readonly onPath: boolean[] = []
  private readonly indexes: (number | undefined)[] = []
  private readonly names: string[] = []
  private values: string[] = []
  private chunk = ''
  /** What earlier chunks hold of the value that is open, and where it goes on in this chunk; -1 where none is. */
  private held: string[] = []
  private heldLength = 0
  private from = -1
  private begun = { line: 1, column: 1 }

  constructor(file: string, path: JsonPath) {
    this.file = file
    this.path = path
    this.depth = path.length
    this.scanner = new JsonScanner(file, this)
  }

  push(text: string): readonly string[] {
    this.chunk = text
    this.scanner.push(text)
    if (this.from >= 0) {
      this.held.push(text.slice(this.from))
      this.heldLength += text.length - this.from
      this.from = 0
      if (this.heldLength > MAX_VALUE)
        throw unreadable(
          'The value that begins here is too long for a record.',
          {
            file: this.file,
            ...this.begun,
          },
          'Split the document into records that are shorter; --records names the array that holds them.',
        )
    }
    return this.take()
  }

  /** A number at the root ends with the text. */
  finish(): readonly string[] {
    this.chunk = ''
    this.scanner.finish()
    return this.take()
  }

  start(kind: JsonKind, depth: number, index: number): void {
    const onPath = this.isOnPath(depth)
    if (onPath && depth === this.depth) {
      this.from = index
      this.begun = { line: this.scanner.line, column: this.scanner.column }
    }
    this.onPath[depth] = onPath && (kind === '{' || kind === '[')
    this.indexes[depth] = kind === '[' ? -1 : undefined
  }

  end(depth: number, index: number): void {
    if (depth !== this.depth || this.from < 0) return
    const last = this.chunk.slice(this.from, index)
    this.values.push(this.held.length === 0 ? last : this.held.join('') + last)
    this.held = []
    this.heldLength = 0
    this.from = -1
  }

  name(name: string, depth: number): void {
    this.names[depth - 1] = name
  }

  private isOnPath(depth: number): boolean {
    if (depth === 0) return true
    const index = this.indexes[depth - 1]
    if (index !== undefined) this.indexes[depth - 1] = index + 1
    const step = this.path[depth - 1]
    if (step === undefined || this.onPath[depth - 1] !== true) return false
    switch (step.type) {
      case 'all':
        return true
      case 'index':
        return index !== undefined && index + 1 === step.index
      case 'name':
        return index === undefined && this.names[depth - 1] === step.name
      default:
        return step satisfies never
    }
  }

  private take(): readonly string[] {
    const values = this.values
    this.values = []
    return values
  }
}
