import { parseExactly } from '../../model/exact-json.ts'
import { lookup } from '../../model/lookup.ts'
import type { TextFile } from '../text/text.ts'
import { isObject } from '../typing/fields.ts'
import { parsePointer } from '../typing/pointer.ts'
import { readElements, sortArrays } from './json.ts'

/** Arrays of names beside an array of rows: of pandas (orient "split"), BigQuery, Socrata, and others. */
const NAMES = ['columns', 'fields', 'header', 'headers', 'names', 'column_names', 'meta/view/columns']

/** What stands beside an array of rows: the names of its columns, and the labels of its rows where they have any. */
export interface BesideRows {
  readonly names: readonly string[]
  /** Labels of pandas; null where they only count the rows. */
  readonly index: readonly unknown[] | null
}

/** The names of the columns of an array of rows that are an array beside it; null if there are none of that number. */
export async function columnNamesBeside(file: TextFile, pointer: string): Promise<BesideRows | null> {
  if (pointer === '') return null
  const { ofObjects, others } = await sortArrays(file)
  const parent = pointer.slice(0, pointer.lastIndexOf('/'))
  const known = new Set([...ofObjects, ...others])
  const found = NAMES.map(name => `${parent}/${name}`).find(place => known.has(place))
  if (found === undefined) return null
  const names = (await valuesAt(file, found)).map(nameOf)
  const width = await firstWidth(file, pointer)
  if (names.length !== width || !names.every(name => name !== undefined)) return null
  const index =
    found.endsWith('/columns') && known.has(`${parent}/index`) ? await valuesAt(file, `${parent}/index`) : []
  return { names, index: index.every((label, at) => label === at) ? null : index }
}

function nameOf(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  const name = isObject(value) ? lookup(value, 'name') : undefined
  return typeof name === 'string' ? name : undefined
}

async function valuesAt(file: TextFile, pointer: string): Promise<readonly unknown[]> {
  const values: unknown[] = []
  for await (const elements of readElements(file, parsePointer(pointer)))
    for (const { text } of elements) values.push(parseExactly(text))
  return values
}

async function firstWidth(file: TextFile, pointer: string): Promise<number> {
  for await (const [first] of readElements(file, parsePointer(pointer))) {
    const row = first === undefined ? [] : parseExactly(first.text)
    return Array.isArray(row) ? row.length : 0
  }
  return 0
}

/**
 * The rows of an object of columns, each an object of values by the labels of the rows, as pandas writes it by default; null for another
 * object. The labels are numbers, the same in every column; they are a column `key` where they do not only count the rows.
 */
export function rowsOfColumns(
  map: Readonly<Record<string, unknown>>,
): readonly Readonly<Record<string, unknown>>[] | null {
  const columns = Object.entries(map)
  const labels = isObject(columns[0]?.[1]) ? Object.keys(columns[0][1]) : []
  const isNumber = (text: string) => /^(?:0|[1-9]\d*)$/.test(text)
  if (labels.length === 0 || !labels.every(isNumber) || columns.every(([name]) => isNumber(name))) return null
  for (const [, column] of columns) {
    if (!isObject(column)) return null
    const own = Object.keys(column)
    if (own.length !== labels.length || own.some((label, at) => label !== labels[at])) return null
    if (Object.values(column).some(isObject)) return null
  }
  const isCount = labels.every((label, at) => label === String(at))
  return labels.map(label => ({
    ...(isCount || Object.hasOwn(map, 'key') ? {} : { key: Number(label) }),
    ...Object.fromEntries(
      columns.map(([name, column]) => [name, lookup(column as Record<string, unknown>, label)]),
    ),
  }))
}
