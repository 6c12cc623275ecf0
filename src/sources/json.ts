import { parseExactly } from '../model/exact-json.ts'
import { findArrays, readElements } from './json-array.ts'
import type { JsonElement } from './json-cutter.ts'
import { parsePointer } from './pointer.ts'
import { BATCH_ROWS, type RecordSource, type SourceRow } from './source.ts'
import { fileNameOf, readText, type TextFile } from './text.ts'
import { unreadable } from './unreadable.ts'

/** A JSON object, as in rows. */
export type JsonObject = Readonly<Record<string, unknown>>

/**
 * A JSON file (RFC 8259) with an array of objects, one a record.
 *
 * @param records JSON Pointer (RFC 6901) of the array; the document itself by default
 */
export function jsonSource(file: TextFile, records?: string): RecordSource {
  const path = records === undefined ? undefined : parsePointer(records)
  return {
    name: fileNameOf(file),
    textual: false,
    read: () => (path === undefined ? readRoot(file) : readArray(file, path, element => element)),
  }
}

/**
 * Rows of the array at a path of a JSON file, each element converted to the data of a row.
 *
 * @param dataOf returns the data of an element, or what is wrong with it
 * @param otherwise returns the rows of a document without a value at the path; unless given, throws SourceUnreadable that names
 * the arrays of the document
 */
export async function* readArray(
  file: TextFile,
  path: readonly string[],
  dataOf: (element: JsonObject) => JsonObject | string,
  otherwise: () => Promise<readonly SourceRow[]> = () => refuse(file),
): AsyncGenerator<readonly SourceRow[]> {
  const elements = readElements(file, path)
  let batch: SourceRow[] = []
  let row = 0
  try {
    for (;;) {
      const next = await elements.next()
      if (next.done) {
        if (!next.value) batch = [...(await otherwise())]
        break
      }
      for (const element of next.value) {
        const data = dataOf(objectOf(element, file))
        if (typeof data === 'string') throw unreadable(data, placeOf(element, file))
        batch.push({ row: ++row, line: element.line, data })
        if (batch.length < BATCH_ROWS) continue
        yield batch
        batch = []
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
  throw unreadable(
    'A record must be an object.',
    placeOf(element, file),
    'Make each record an object: { "name": "A" }.',
  )
}

function placeOf(element: JsonElement, file: TextFile) {
  return { file: fileNameOf(file), line: element.line, column: element.column }
}

async function* readRoot(file: TextFile): AsyncIterable<readonly SourceRow[]> {
  if (!(await mayBeArray(file))) await refuse(file)
  yield* readArray(file, [], element => element)
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
