import { exactWhole, parseExactly } from '../../model/exact-json.ts'
import { lookup } from '../../model/lookup.ts'
import type { TextFile } from '../text/text.ts'
import { isObject } from '../typing/fields.ts'
import { writtenNumber } from '../typing/number-format.ts'
import { parsePointer } from '../typing/pointer.ts'
import { meansNothing } from '../typing/words.ts'
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
  const width = await firstWidth(file, pointer)
  const names = (await valuesAt(file, found, width + 1)).map(nameOf)
  if (names.length !== width || !names.every(name => name !== undefined)) return null
  const index =
    found.endsWith('/columns') && known.has(`${parent}/index`)
      ? await valuesAt(file, `${parent}/index`, Infinity)
      : []
  return { names, index: index.every((label, at) => label === at) ? null : index }
}

/** Columns that an array of objects may describe. */
const MAX_DESCRIBED = 10_000

/**
 * The arrays of objects without those that describe the columns of others: each column of a record has an object with its name (Frictionless
 * and pandas `schema/fields`, CKAN `result/fields`), or there are only arrays of arrays beside them (Socrata, BigQuery).
 */
export async function withoutDescriptions(
  file: TextFile,
  pointers: readonly string[],
  hasRows: boolean,
): Promise<readonly string[]> {
  const [described, records] = [/\/(?:fields|columns)$/, new Set(pointers)]
  for (const pointer of pointers.filter(each => described.test(each))) {
    const others = pointers.filter(each => !described.test(each))
    const names = new Set((await valuesAt(file, pointer, MAX_DESCRIBED)).map(nameOf))
    let isDescription = hasRows && others.length === 0
    for (const other of others) {
      const [record] = await valuesAt(file, other, 1)
      if (isObject(record) && Object.keys(record).every(key => names.has(key))) isDescription = true
    }
    if (isDescription) records.delete(pointer)
  }
  return [...records]
}

function nameOf(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  const name = isObject(value) ? (lookup(value, 'name') ?? lookup(value, 'id')) : undefined
  return typeof name === 'string' ? name : undefined
}

/** The first values of an array. */
async function valuesAt(file: TextFile, pointer: string, count: number): Promise<readonly unknown[]> {
  const values: unknown[] = []
  for await (const elements of readElements(file, parsePointer(pointer)))
    for (const { text } of elements) {
      if (values.length === count) return values
      values.push(parseExactly(text))
    }
  return values
}

async function firstWidth(file: TextFile, pointer: string): Promise<number> {
  const [row] = await valuesAt(file, pointer, 1)
  return Array.isArray(row) ? row.length : 0
}

/** The rows of an object of columns, each an object of values by the labels of the rows, as pandas writes it by default. */
export function rowsOfColumns(
  map: Readonly<Record<string, unknown>>,
): readonly Readonly<Record<string, unknown>>[] {
  const columns = Object.entries(map) as [string, Readonly<Record<string, unknown>>][]
  const labels = Object.keys(columns[0]?.[1] ?? {})
  const isCount = labels.every((label, at) => label === String(at))
  return labels.map(label => ({
    ...(isCount || Object.hasOwn(map, 'key') ? {} : { key: isNumber(label) ? exactWhole(label) : label }),
    ...Object.fromEntries(columns.map(([name, column]) => [name, lookup(column, label)])),
  }))
}

/**
 * Whether the members of an object are the columns of a table or its records. All columns have the same labels of rows: numbers or days, or
 * else each column has values of one kind and the rows have several. Where all values are numbers, the labels do not decide.
 */
export function membersAre(map: Readonly<Record<string, unknown>>): 'columns' | 'records' | 'either' {
  const [first, ...others] = Object.values(map)
  const labels = isObject(first) ? Object.keys(first) : []
  const isAlike = (column: unknown) => {
    const own = isObject(column) && !Object.values(column).some(isObject) ? Object.keys(column) : []
    return own.length === labels.length && own.every((label, at) => label === labels[at])
  }
  if (labels.length === 0 || ![first, ...others].every(isAlike)) return 'records'
  for (const isLabel of [isNumber, isDay])
    if (labels.every(isLabel)) return Object.keys(map).every(isLabel) ? 'records' : 'columns'
  const columns = Object.values(map) as Readonly<Record<string, unknown>>[]
  const kinds = columns.map(column => kindsOf(Object.values(column)))
  if (kinds.some(({ size }) => size > 1)) return 'records'
  const hasMixedRow = labels.some(label => kindsOf(columns.map(column => lookup(column, label))).size > 1)
  if (hasMixedRow) return 'columns'
  return kinds.every(kind => kind.has('number')) ? 'either' : 'records'
}

function isNumber(text: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(text)
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d(?:$|T)/.test(text)
}

/** The kinds of values, without those that may be of several: texts of numbers and words for no value. */
function kindsOf(values: readonly unknown[]): ReadonlySet<string> {
  const known = values.filter(value => value !== null && !(typeof value === 'string' && isVague(value)))
  return new Set(known.map(value => (typeof value === 'bigint' ? 'number' : typeof value)))
}

function isVague(text: string): boolean {
  return text.trim() === '' || meansNothing(text.trim()) || writtenNumber(text.trim()) !== undefined
}
