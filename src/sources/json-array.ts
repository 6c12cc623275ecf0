import type { JsonKind, JsonListener } from './json-scanner.ts'
import { JsonScanner } from './json-scanner.ts'
import { formatPointer } from './pointer.ts'
import { fileNameOf, readText, type TextFile } from './text.ts'
import { unreadable } from './unreadable.ts'

/** One element of an array, as text that JSON.parse reads, with the place where it begins. */
export interface JsonElement {
  readonly text: string
  readonly kind: JsonKind
  readonly line: number
  readonly column: number
}

/** Characters of one element beyond which it is no record. */
const MAX_ELEMENT = 1 << 28

/**
 * Reads the elements of the array at a path of a JSON file one by one, however long the file is. Returns, after the
 * last, true where the array was there. Throws SourceUnreadable with line and column for malformed JSON anywhere in
 * the file, and for a value at the path that is no array.
 */
export async function* readElements(
  file: TextFile,
  path: readonly string[],
): AsyncGenerator<readonly JsonElement[], boolean> {
  const cutter = new ElementCutter(fileNameOf(file), path)
  for await (const text of readText(file)) {
    const elements = cutter.push(text)
    if (elements.length > 0) yield elements
  }
  return cutter.finish()
}

/** Pointers of the arrays of a JSON file that are not within another array, by what their first element is. */
export interface JsonArrays {
  readonly ofObjects: readonly string[]
  readonly ofArrays: readonly string[]
  readonly others: readonly string[]
}

/**
 * Pointers of the arrays of a JSON file that are not within another array, those that hold objects first: the first
 * ten of each.
 */
export async function findArrays(file: TextFile): Promise<readonly string[]> {
  const { ofObjects, ofArrays, others } = await sortArrays(file)
  return [...ofObjects.slice(0, 10), ...[...ofArrays, ...others].slice(0, 10)]
}

/** The arrays of a JSON file that are not within another array. */
export async function sortArrays(file: TextFile): Promise<JsonArrays> {
  const found = { ofObjects: [] as string[], ofArrays: [] as string[], others: [] as string[] }
  const names: string[] = []
  const kinds: JsonKind[] = []
  /** Pointer of the array whose first element comes next. */
  let begun: string | undefined
  const scanner = new JsonScanner(fileNameOf(file), {
    depth: 6,
    start(kind, depth) {
      kinds[depth] = kind
      if (begun !== undefined)
        (kind === '{' ? found.ofObjects : kind === '[' ? found.ofArrays : found.others).push(begun)
      const outermost = kind === '[' && !kinds.slice(0, depth).includes('[')
      begun = outermost ? formatPointer(names.slice(1, depth + 1)) : undefined
    },
    name(name, depth) {
      names[depth] = name
    },
    end() {
      if (begun !== undefined) found.others.push(begun)
      begun = undefined
    },
  })
  for await (const text of readText(file)) scanner.push(text)
  scanner.finish()
  return found
}

/** Follows a path through a JSON text and cuts out the elements of the array that it leads to. */
class ElementCutter implements JsonListener {
  readonly depth: number
  private readonly path: readonly string[]
  private readonly file: string
  private readonly scanner: JsonScanner
  /** For each open array or object on the way: whether it is on the path, and the name or index that it is at. */
  private readonly onPath: boolean[] = []
  private readonly indexes: (number | undefined)[] = []
  private readonly names: string[] = []
  private within = false
  private found = false
  private elements: JsonElement[] = []
  private chunk = ''
  /** What earlier chunks hold of the element that is open, and where it goes on in this chunk; -1 where none is. */
  private held: string[] = []
  private heldLength = 0
  private from = -1
  private begun: Omit<JsonElement, 'text'> = { kind: '{', line: 1, column: 1 }

  constructor(file: string, path: readonly string[]) {
    this.file = file
    this.path = path
    this.depth = path.length + 1
    this.scanner = new JsonScanner(file, this)
  }

  push(text: string): readonly JsonElement[] {
    this.chunk = text
    this.scanner.push(text)
    if (this.from >= 0) {
      this.held.push(text.slice(this.from))
      this.heldLength += text.length - this.from
      this.from = 0
      if (this.heldLength > MAX_ELEMENT)
        throw unreadable(
          'The element that begins here is too long for a record.',
          {
            file: this.file,
            line: this.begun.line,
            column: this.begun.column,
          },
          'Split the document into records that are shorter; --records names the array that holds them.',
        )
    }
    const elements = this.elements
    this.elements = []
    return elements
  }

  finish(): boolean {
    this.scanner.finish()
    return this.found
  }

  start(kind: JsonKind, depth: number, index: number): void {
    if (this.within) {
      if (depth !== this.depth) return
      this.from = index
      this.begun = { kind, line: this.scanner.line, column: this.scanner.column }
      return
    }
    if (depth > this.path.length) return
    const onPath = this.isOnPath(depth)
    if (onPath && depth === this.path.length) this.enter(kind)
    this.onPath[depth] = onPath && (kind === '{' || kind === '[')
    this.indexes[depth] = kind === '[' ? -1 : undefined
  }

  end(depth: number, index: number): void {
    if (!this.within) return
    if (depth === this.path.length) this.within = false
    if (depth !== this.depth) return
    const last = this.chunk.slice(this.from, index)
    const text = this.held.length === 0 ? last : this.held.join('') + last
    this.elements.push({ text, ...this.begun })
    this.held = []
    this.heldLength = 0
    this.from = -1
  }

  name(name: string, depth: number): void {
    if (!this.within) this.names[depth - 1] = name
  }

  private isOnPath(depth: number): boolean {
    if (depth === 0) return true
    const index = this.indexes[depth - 1]
    if (index !== undefined) this.indexes[depth - 1] = index + 1
    const key = index === undefined ? this.names[depth - 1] : String(index + 1)
    return this.onPath[depth - 1] === true && key === this.path[depth - 1]
  }

  private enter(kind: JsonKind): void {
    const pointer = formatPointer(this.path)
    if (kind !== '[') throw this.scanner.fault(`The value at ${JSON.stringify(pointer)} is not an array.`)
    if (this.found) throw this.scanner.fault(`There is a second value at ${JSON.stringify(pointer)}.`)
    this.within = this.found = true
  }
}
