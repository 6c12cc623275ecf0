import { parseExactly } from '../../model/exact-json.ts'
import { lookup } from '../../model/lookup.ts'
import { unreadable } from '../source.ts'
import { fileNameOf, readText, type TextFile } from '../text/text.ts'
import { type JsonKind, type JsonListener, JsonScanner } from './json-scanner.ts'

/** One step of a path: the member with a name, the element with an index (0-based), or all elements or members. */
type PathStep =
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'all' }

/** A path from the root of a JSON value: the subset of JSONPath that selects only by name, index and wildcard. */
export type JsonPath = readonly PathStep[]

/** The syntax error of a path, with its position. */
export interface PathProblem {
  readonly reason: string
  /** 0-based, in UTF-16 units. */
  readonly index: number
}

/** Maximum steps of a path. */
const MAX_STEPS = 64

/** Characters of a name after a dot, or without one at the start: all that have no other meaning in JSONPath. */
const PLAIN_NAME = /[^.[\]'"()?@*,;:=<>!&|{}\\]+/y
const ESCAPE = String.raw`\\(?:u[\dA-Fa-f]{4}|[bfnrt]|[^\dA-Za-z])`
const BRACKETED = new RegExp(
  String.raw`\[\s*(?:(\*)|(\d{1,9})|'((?:[^'\\]|${ESCAPE})*)'|"((?:[^"\\]|${ESCAPE})*)")\s*\]`,
  'sy',
)

/**
 * Parses a path: `$.a['b c'][0].*`, where `$` or `$.` may be left out. Filters, scripts, slices, unions and descendants of
 * JSONPath (RFC 9535) are not supported, so that no code in a mapping is ever run.
 */
export function parseJsonPath(text: string): JsonPath | PathProblem {
  const steps: PathStep[] = []
  let at = text.startsWith('$') && !/^[^.[]/.test(text.slice(1)) ? 1 : 0
  if (at === 0 && !/^[.[]/.test(text)) {
    const name = plainName(text, 0)
    if (name === '') return problem(text, 0)
    steps.push({ type: 'name', name })
    at = name.length
  }
  while (at < text.length) {
    if (steps.length === MAX_STEPS) return { reason: `the path has more than ${MAX_STEPS} steps`, index: at }
    const dotted = text[at] === '.'
    const start = dotted ? at + 1 : at
    if (text[start] === '[') {
      BRACKETED.lastIndex = start
      const found = BRACKETED.exec(text)
      if (found === null) return problem(text, start)
      steps.push(bracketed(found))
      at = BRACKETED.lastIndex
    } else if (dotted && text[start] === '*') {
      steps.push({ type: 'all' })
      at = start + 1
    } else {
      const name = dotted ? plainName(text, start) : ''
      if (name === '') return problem(text, start)
      steps.push({ type: 'name', name })
      at = start + name.length
    }
  }
  return steps
}

/** True for the result of an invalid path. */
export function isPathProblem(found: JsonPath | PathProblem): found is PathProblem {
  return !Array.isArray(found)
}

/**
 * The values that a path selects from a value, without absent ones.
 *
 * @param from index of the first step
 */
export function selectJson(value: unknown, path: JsonPath, from = 0): readonly unknown[] {
  let found: unknown = value
  for (let i = from; i < path.length; i++) {
    const step = path[i] as PathStep
    if (found === null || typeof found !== 'object') return []
    switch (step.type) {
      case 'name':
        if (Array.isArray(found) || !Object.hasOwn(found, step.name)) return []
        found = lookup(found as Readonly<Record<string, unknown>>, step.name)
        break
      case 'index':
        if (!Array.isArray(found) || step.index >= found.length) return []
        found = found[step.index]
        break
      case 'all':
        return Object.values(found).flatMap(element => selectJson(element, path, i + 1))
      default:
        return step satisfies never
    }
  }
  return [found]
}

/**
 * Compiles a reference of a mapping: it selects the member with exactly this name if the record has one, else the values at the
 * path; a text that begins with `$` is always a path. A text that is no valid path is only a name.
 */
export function compileReference(text: string): (record: unknown) => readonly unknown[] {
  const parsed = parseJsonPath(text)
  const path = isPathProblem(parsed) ? null : parsed
  const first = path?.[0]
  const plain = !text.startsWith('.') && path?.length === 1 && first?.type === 'name' ? first.name : null
  if (plain !== null) return record => member(record, plain)
  if (path !== null && /^\$(?:$|[.[])/.test(text)) return record => selectJson(record, path)
  return record => {
    const own = member(record, text)
    return own.length > 0 || path === null ? own : selectJson(record, path)
  }
}

function member(record: unknown, name: string): readonly unknown[] {
  if (record === null || typeof record !== 'object') return []
  const value = lookup(record as Readonly<Record<string, unknown>>, name)
  return value === undefined ? [] : [value]
}

function plainName(text: string, at: number): string {
  PLAIN_NAME.lastIndex = at
  return PLAIN_NAME.exec(text)?.[0] ?? ''
}

function bracketed([, all, index, single, double]: RegExpExecArray): PathStep {
  if (all !== undefined) return { type: 'all' }
  if (index !== undefined) return { type: 'index', index: Number(index) }
  const name = (single ?? double ?? '').replace(new RegExp(ESCAPE, 'gs'), each =>
    /^\\[a-z]/.test(each) ? JSON.parse(`"${each}"`) : each.slice(1),
  )
  return { type: 'name', name }
}

function problem(text: string, index: number): PathProblem {
  const rest = text.slice(index)
  if (rest.startsWith('.')) return { reason: 'descendants (..) are not supported', index }
  if (/^\[\s*\?/.test(rest)) return { reason: 'filters (?) are not supported', index }
  if (/^\[\s*\(/.test(rest)) return { reason: 'scripts are not supported', index }
  if (/^\[[^\]]*[:,]/.test(rest)) return { reason: 'slices and unions are not supported', index }
  if (rest === '') return { reason: 'the path ends where a name is expected', index }
  return { reason: `${JSON.stringify(rest.slice(0, 12))} is no step of a path`, index }
}

/**
 * Reads the values at a path of a JSON file one by one, however long the file is, a batch for each piece of its text. Integers
 * beyond the precision of numbers are bigints. Throws SourceUnreadable with line and column for malformed JSON anywhere in the
 * file.
 */
export async function* readSelected(file: TextFile, path: JsonPath): AsyncGenerator<readonly unknown[]> {
  for await (const values of cutValues(file, path.map(testOf)))
    yield values.map(({ text }) => parseExactly(text))
}

function testOf(step: PathStep): StepTest {
  switch (step.type) {
    case 'all':
      return () => true
    case 'index':
      return index => index === step.index
    case 'name':
      return (index, name) => index === undefined && name === step.name
  }
}

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
