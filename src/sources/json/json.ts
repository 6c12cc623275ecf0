import type { FaultPlace } from '../../errors/errors.ts'
import { parseExactly } from '../../model/exact-json.ts'
import { BATCH_CHARACTERS, BATCH_ROWS, type RecordSource, type SourceRow, unreadable } from '../source.ts'
import { fileNameOf, readText, type TextFile } from '../text/text.ts'
import { isObject } from '../typing/fields.ts'
import { formatPointer, parsePointer } from '../typing/pointer.ts'
import { DoubleKeys } from './double-keys.ts'
import { cutValues, type JsonElement, type StepTest } from './json-path.ts'
import { type JsonKind, type JsonListener, JsonScanner } from './json-scanner.ts'

/** A JSON object, as in rows. */
export type JsonObject = Readonly<Record<string, unknown>>

/**
 * A JSON file (RFC 8259) with an array of objects, one a record.
 *
 * @param records JSON Pointer (RFC 6901) of the array; the document itself by default
 */
export function jsonSource(file: TextFile, records?: string): RecordSource {
  const path = records === undefined ? undefined : parsePointer(records)
  const keys = new DoubleKeys()
  return {
    name: fileNameOf(file),
    textual: false,
    read: () => (path === undefined ? readRoot(file, keys) : readArray(file, path, element => element, keys)),
    warnings: () => keys.warnings(),
  }
}

/**
 * Rows of the array at a path of a JSON file, each element converted to the data of a row.
 *
 * @param dataOf returns the data of an element, or what is wrong with it
 * @param keys collects names that stand twice in a record
 * @param otherwise returns the rows of a document without a value at the path; unless given, throws SourceUnreadable that names
 * the arrays of the document
 */
export async function* readArray(
  file: TextFile,
  path: readonly string[],
  dataOf: (element: JsonObject) => JsonObject | string,
  keys: DoubleKeys,
  otherwise: () => Promise<readonly SourceRow[]> = () => refuse(file),
): AsyncGenerator<readonly SourceRow[]> {
  const elements = readElements(file, path)
  let batch: SourceRow[] = []
  let row = 0
  let characters = 0
  keys.clear()
  try {
    for (;;) {
      const next = await elements.next()
      if (next.done) {
        if (!next.value) batch = [...(await otherwise())]
        break
      }
      for (const element of next.value) {
        const object = objectOf(element, file)
        keys.note(element.text, object, element.line, element.column)
        const data = dataOf(object)
        if (typeof data === 'string') throw unreadable(data, placeOf(element, file))
        batch.push({ row: ++row, line: element.line, data })
        characters += element.text.length
        if (batch.length < BATCH_ROWS && characters < BATCH_CHARACTERS) continue
        yield batch
        batch = []
        characters = 0
      }
    }
  } finally {
    await elements.return(false)
  }
  if (batch.length > 0) yield batch
}

/** The fault of a document without the expected array, with the pointers of its arrays. */
export function arrayMissing(name: string, arrays: readonly string[]): Error {
  const list = arrays
    .slice(0, 10)
    .map(pointer => (pointer === '' ? '""' : pointer))
    .join(', ')
  const hint =
    arrays[0] === undefined ? undefined : `options: { records: ${arrays[0] === '' ? '""' : arrays[0]} }`
  const reason =
    arrays.length === 0 ? 'There is no array.' : `The records must be an array. Arrays here: ${list}.`
  return unreadable(reason, { file: name, line: 1, column: 1 }, hint)
}

function objectOf(element: JsonElement, file: TextFile): JsonObject {
  if (element.kind === '{') return parseExactly(element.text) as JsonObject
  throw noObject(placeOf(element, file))
}

function noObject(place: FaultPlace): Error {
  return unreadable('A record must be an object.', place, 'Make each record an object: { "name": "A" }.')
}

function placeOf(element: JsonElement, file: TextFile) {
  return { file: fileNameOf(file), line: element.line, column: element.column }
}

async function* readRoot(file: TextFile, keys: DoubleKeys): AsyncIterable<readonly SourceRow[]> {
  if (!(await mayBeArray(file))) await refuse(file)
  yield* readArray(file, [], element => element, keys)
}

/** False if a document is JSON of another kind; true also if it is no JSON, for which the scanner has a better message. */
async function mayBeArray(file: TextFile): Promise<boolean> {
  for await (const text of readText(file)) {
    const first = /[^ \t\r\n]/.exec(text)?.[0]
    if (first !== undefined) return !/["{\-\dtfn]/.test(first)
  }
  return true
}

async function refuse(file: TextFile): Promise<never> {
  throw arrayMissing(fileNameOf(file), await findArrays(file))
}

/**
 * Reads the elements of the array at a path of a JSON file one by one, however long the file is. Returns true at the end if the
 * array exists. Throws SourceUnreadable with line and column for malformed JSON anywhere in the file, and for a value at the path
 * that is no array.
 */
export async function* readElements(
  file: TextFile,
  path: readonly string[],
): AsyncGenerator<readonly JsonElement[], boolean> {
  const pointer = JSON.stringify(formatPointer(path))
  const steps = path.map(
    (key): StepTest =>
      (index, name) =>
        key === (index === undefined ? name : String(index)),
  )
  let isFound = false
  yield* cutValues(file, [...steps, () => true], (kind, depth) => {
    if (depth !== path.length) return undefined
    if (kind !== '[') return `The value at ${pointer} is not an array.`
    if (isFound) return `There is a second value at ${pointer}.`
    isFound = true
    return undefined
  })
  return isFound
}

/** Pointers of the outermost arrays of a JSON file, by the kind of their first element. */
interface JsonArrays {
  readonly ofObjects: readonly string[]
  readonly ofArrays: readonly string[]
  readonly others: readonly string[]
}

/** Pointers of the outermost arrays of a JSON file, those of objects first: at most ten of each kind. */
export async function findArrays(file: TextFile): Promise<readonly string[]> {
  const { ofObjects, ofArrays, others } = await sortArrays(file)
  return [...ofObjects.slice(0, 10), ...[...ofArrays, ...others].slice(0, 10)]
}

/** The outermost arrays of a JSON file by kind. */
export async function sortArrays(file: TextFile): Promise<JsonArrays> {
  const found = { ofObjects: [] as string[], ofArrays: [] as string[], others: [] as string[] }
  const names: string[] = []
  const kinds: JsonKind[] = []
  /** Pointer of the array whose first element follows. */
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

const SILENT: JsonListener = { depth: -1, start() {}, end() {}, name() {} }

/**
 * Parses a JSON text, integers exactly. Throws SourceUnreadable with line and column for a malformed one.
 *
 * @param line number of the text's first line
 */
export function parseJson(text: string, file: string, line = 1): unknown {
  try {
    return parseExactly(text)
  } catch (error) {
    const scanner = new JsonScanner(file, SILENT, line)
    scanner.push(text)
    scanner.finish()
    throw error
  }
}

/** A file of JSON Lines, or a sequence of JSON texts (RFC 7464): each line is an object and a record; blank lines are skipped. */
export function jsonlSource(file: TextFile): RecordSource {
  const keys = new DoubleKeys()
  return {
    name: fileNameOf(file),
    textual: false,
    read: () => readRows(file, keys),
    warnings: () => keys.warnings(),
  }
}

/** Maximum characters of one line. */
const MAX_LINE = 1 << 28

async function* readRows(file: TextFile, keys: DoubleKeys): AsyncIterable<readonly SourceRow[]> {
  let batch: SourceRow[] = []
  let row = 0
  let line = 0
  let characters = 0
  keys.clear()
  for await (const lines of readLines(file)) {
    for (const whole of lines) {
      line++
      // The sign at the beginning of each text of a sequence is a blank in a line.
      const text = whole.startsWith('\u001e') ? ` ${whole.slice(1)}` : whole
      if (text.trim() === '') continue
      const data = objectOfLine(text, line, fileNameOf(file))
      keys.note(text, data, line, 1)
      batch.push({ row: ++row, line, data })
      characters += text.length
      if (batch.length < BATCH_ROWS && characters < BATCH_CHARACTERS) continue
      yield batch
      batch = []
      characters = 0
    }
  }
  if (batch.length > 0) yield batch
}

/** Lines end with LF or CRLF; a carriage return at the end is a blank in JSON. */
async function* readLines(file: TextFile): AsyncIterable<readonly string[]> {
  const buffered: string[] = []
  let cachedLength = 0
  let line = 1
  for await (const text of readText(file)) {
    const lines = text.split('\n')
    const rest = lines.pop() as string
    if (lines.length > 0) {
      lines[0] = buffered.join('') + lines[0]
      buffered.length = cachedLength = 0
      line += lines.length
      yield lines
    }
    if (rest !== '') buffered.push(rest)
    cachedLength += rest.length
    if (cachedLength > MAX_LINE)
      throw unreadable(
        'The line is too long for a record.',
        { file: fileNameOf(file), line, column: 1 },
        'Put one record on each line.',
      )
  }
  if (buffered.length > 0) yield [buffered.join('')]
}

function objectOfLine(text: string, line: number, file: string): JsonObject {
  const value = parseJson(text, file, line)
  if (isObject(value)) return value
  throw noObject({ file, line, column: text.length - text.trimStart().length + 1 })
}
