import { exactJson, parseExactly } from '../../model/exact-json.ts'
import { BATCH_ROWS, type RecordSource, type SourceRow, unreadable } from '../source.ts'
import type { Grid, GridCell, GridRow } from '../tables/grid.ts'
import { fileNameOf, readText, type TextFile } from '../text/text.ts'
import { isObject } from '../typing/fields.ts'
import { parsePointer, valueAt } from '../typing/pointer.ts'
import { columnNamesBeside, membersAre, rowsOfColumns, withoutDescriptions } from './column-arrays.ts'
import { DoubleKeys } from './double-keys.ts'
import { type JsonObject, parseJson, readElements, sortArrays } from './json.ts'

/** The location of the records of a JSON document. */
export type JsonRecords =
  /** An array of objects. */
  | { readonly type: 'objects'; readonly pointer: string; readonly others: readonly string[] }
  /** An array of arrays: a table. Its header may stand in an array beside it, see {@link columnNamesBeside}. */
  | { readonly type: 'rows'; readonly pointer: string; readonly hasNames: boolean }
  /** An object whose members are the records, by key. */
  | { readonly type: 'members'; readonly pointer: string; readonly are: ReturnType<typeof membersAre> }

/** Maximum characters of a document whose members are the records: it is read as a whole. */
const MAX_WHOLE = 2 ** 28

/** Finds the records of a JSON document: the longest of its arrays of objects. Throws SourceUnreadable if there are none. */
export async function findJsonRecords(file: TextFile): Promise<JsonRecords> {
  const { ofObjects, ofArrays, others } = await sortArrays(file)
  const other = await otherFormat(file)
  if (other !== undefined) throw unreadable(other.reason, { file: fileNameOf(file) }, other.remedy)
  const parent = commonParent(ofObjects)
  if (parent !== undefined) {
    const map = valueAt((await wholeDocument(file)) as JsonObject, parsePointer(parent))
    if (isMap(map)) return { type: 'members', pointer: parent, are: membersAre(map as JsonObject) }
  }
  const rows = await maxLength(file, ofArrays)
  const records = await withoutDescriptions(file, ofObjects, rows !== undefined)
  const hasNames =
    rows !== undefined && records.length === 0 && (await columnNamesBeside(file, rows)) !== null
  if (hasNames) return { type: 'rows', pointer: rows, hasNames }
  const found = await maxLength(file, records.length > 0 ? records : ofObjects)
  if (found !== undefined)
    return { type: 'objects', pointer: found, others: ofObjects.filter(pointer => pointer !== found) }
  if (rows !== undefined) return { type: 'rows', pointer: rows, hasNames }
  const document = await wholeDocument(file)
  const members = membersPointer(document)
  if (members !== undefined) {
    const map = valueAt(document as JsonObject, parsePointer(members)) as JsonObject
    return { type: 'members', pointer: members, are: membersAre(map) }
  }
  const list = [...ofArrays, ...others].slice(0, 8).join(', ')
  throw unreadable(
    'The document has no array of objects that could be the records.',
    { file: fileNameOf(file), line: 1, column: 1 },
    `Give each record an object: [{ "name": "A" }, { "name": "B" }].${list === '' ? '' : ` Arrays: ${list}`}`,
  )
}

/** Minimum number of arrays in different members of one object for which the members are the records and the arrays their parts. */
const MIN_SIBLINGS = 5

/** The object whose members contain all arrays of objects: `/data` of `/data/a/links`, `/data/b/links` … */
function commonParent(pointers: readonly string[]): string | undefined {
  if (pointers.length < MIN_SIBLINGS) return undefined
  const steps = pointers.map(pointer => pointer.split('/'))
  const [first = []] = steps
  for (let at = 1; at < first.length; at++) {
    if (steps.every(it => it[at] === first[at])) continue
    const names = new Set(steps.map(it => it[at]))
    return names.size >= MIN_SIBLINGS && steps.every(it => it.length > at + 1)
      ? first.slice(0, at).join('/')
      : undefined
  }
  return undefined
}

async function maxLength(file: TextFile, pointers: readonly string[]): Promise<string | undefined> {
  if (pointers.length < 2) return pointers[0]
  let best: { readonly pointer: string; readonly count: number } | undefined
  for (const pointer of pointers.slice(0, 10)) {
    let count = 0
    for await (const elements of readElements(file, parsePointer(pointer))) count += elements.length
    if (best === undefined || count > best.count) best = { pointer, count }
  }
  return best?.pointer
}

/** A format of JSON without records, by its beginning. */
async function otherFormat(
  file: TextFile,
): Promise<{ readonly reason: string; readonly remedy: string } | undefined> {
  for await (const text of readText(file)) {
    const head = text.slice(0, 5000)
    if (/^\s*\{[^[]*"type"\s*:\s*"Topology"/.test(head))
      return { reason: 'The file is TopoJSON.', remedy: 'It is TopoJSON: save it as GeoJSON.' }
    if (
      /^\s*\{/.test(head) &&
      /"class"\s*:\s*"dataset"/.test(head) &&
      /"(?:dimension|size|id)"\s*:/.test(head)
    )
      return { reason: 'The file is JSON-stat.', remedy: 'Get the table as CSV or XLSX from where it is.' }
    return undefined
  }
  return undefined
}

async function wholeDocument(file: TextFile, keys?: DoubleKeys): Promise<unknown> {
  const parts: string[] = []
  let length = 0
  for await (const text of readText(file)) {
    parts.push(text)
    length += text.length
    if (length > MAX_WHOLE)
      throw unreadable(
        'The document is too long for one without an array of records.',
        {
          file: fileNameOf(file),
        },
        'Write it as an array of objects, or as JSON Lines.',
      )
  }
  const text = parts.join('')
  const document = parseJson(text, fileNameOf(file))
  keys?.clear()
  keys?.note(text, document, 1, 1)
  return document
}

/** The pointer of an object whose members are all objects: the document, or its only member of this kind. */
function membersPointer(document: unknown): string | undefined {
  if (!isObject(document)) return undefined
  if (isMap(document)) return ''
  const maps = Object.entries(document).filter(([, value]) => isMap(value))
  const [only] = maps
  return maps.length === 1 && only !== undefined
    ? `/${only[0].replaceAll('~', '~0').replaceAll('/', '~1')}`
    : undefined
}

function isMap(value: unknown): boolean {
  if (!isObject(value)) return false
  const members = Object.values(value)
  return members.length >= 2 && members.every(member => isObject(member))
}

/** The members of an object as records: their keys in a column `key`, and their own members. */
export function membersSource(file: TextFile, pointer: string): RecordSource {
  const keys = new DoubleKeys()
  return {
    name: fileNameOf(file),
    textual: false,
    warnings: () => keys.warnings(),
    async *read() {
      const map = valueAt((await wholeDocument(file, keys)) as JsonObject, parsePointer(pointer))
      if (!isObject(map))
        throw unreadable(
          `There is no object at ${JSON.stringify(pointer)}.`,
          { file: fileNameOf(file) },
          'Name the object whose members are the records: options: { records: /data/* }.',
        )
      if (membersAre(map) === 'columns') {
        const own = rowsOfColumns(map).map((data, at): SourceRow => ({ row: at + 1, line: undefined, data }))
        for (let from = 0; from < own.length; from += BATCH_ROWS) yield own.slice(from, from + BATCH_ROWS)
        return
      }
      const rows = Object.entries(map).map(([key, value], at): SourceRow => {
        const own = isObject(value) ? value : { value }
        return {
          row: at + 1,
          line: undefined,
          data: { [Object.hasOwn(own, 'key') ? 'member_key' : 'key']: key, ...own },
        }
      })
      for (let from = 0; from < rows.length; from += BATCH_ROWS) yield rows.slice(from, from + BATCH_ROWS)
    },
  }
}

/**
 * An array of arrays as a grid of cells; nested values are their JSON.
 *
 * @param hasNames whether the names of the columns, where they stand in an array beside it, are the first row
 */
export function jsonGrid(file: TextFile, pointer: string, hasNames: boolean): Grid {
  return {
    name: fileNameOf(file),
    textual: false,
    isUnnumbered: true,
    async *rows() {
      const beside = hasNames ? await columnNamesBeside(file, pointer) : null
      const index = beside?.index ?? null
      let line = 0
      let at = 0
      if (beside !== null)
        yield [{ line: ++line, cells: index === null ? beside.names : ['index', ...beside.names] }]
      for await (const elements of readElements(file, parsePointer(pointer)))
        yield elements.map((element): GridRow => {
          const value = parseExactly(element.text)
          const cells = Array.isArray(value) ? value.map(cellOf) : [cellOf(value)]
          return { line: ++line, cells: index === null ? cells : [cellOf(index[at++]), ...cells] }
        })
    },
  }
}

function cellOf(value: unknown): GridCell {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return value
    default:
      return value === null || value === undefined ? null : exactJson(value)
  }
}
