import { open } from 'node:fs/promises'
import type { MappingColumn } from '../../mapping/columns.ts'
import type { Diagnostic } from '../../mapping/diagnostic.ts'
import type { MappingPlace } from '../../mapping/ir.ts'
import type { Value } from '../../model/value.ts'
import { jsonlSource } from '../../sources/json/json.ts'
import {
  compileReference,
  isPathProblem,
  type JsonPath,
  parseJsonPath,
  readSelected,
  selectJson,
} from '../../sources/json/json-path.ts'
import { unreadable } from '../../sources/source.ts'
import { openTable } from '../../sources/tables/raw-table.ts'
import { readText } from '../../sources/text/text.ts'
import {
  absentMember,
  joinOfSeveral,
  nestedValue,
  type Reference,
  repeatedColumns,
  unknownColumn,
  unreadableIterator,
} from './findings.ts'
import type { Input } from './inputs.ts'

/** The cells that count as absent: texts that the source names, else empty cells without quotes; null for a source that is no table. */
export type Nulls = readonly string[] | 'unquoted-empty' | null

/** The values of one record in column order. */
export type Values = readonly Value[]

/** The records of one input, with the columns that its rules refer to. */
export interface RecordFile {
  readonly columns: readonly MappingColumn[]
  /** JSONPath of the records; null for a table. */
  readonly iterator: string | null
  /** The cells of a table that count as absent; null for JSON, which has its own null. */
  readonly nulls: Nulls
  records(): AsyncIterable<readonly Values[]>
  /** Diagnostics that are known only after all records were read. */
  findings(): readonly Diagnostic[]
}

/** How values are interpreted; see `generation` of the mapping. */
export interface ReadingRules {
  /** Values of JSON are plain text, as in RML before its rules for natural datatypes. */
  readonly textOnly: boolean
  /** A reference to a whole array or object is an error; otherwise an array represents its elements. */
  readonly scalarsOnly: boolean
  /** A reference that occurs in no record of a JSON document is an error; otherwise a warning. */
  readonly strictNames: boolean
  /** The reference to the record number, if no column has that name. */
  readonly reserved: string | null
}

/**
 * Opens a file for the references of the rules that read it. Returns diagnostics for an invalid iterator, and for references that
 * name no column of a table. Throws SourceUnreadable with line and column, ConfigInvalid for an unusable dialect.
 *
 * @param placeOf the place of an iterator in the mapping
 */
export async function openMapRecords(
  input: Input,
  references: readonly Reference[],
  rules: ReadingRules,
  placeOf: (iterator: string) => MappingPlace,
): Promise<RecordFile | readonly Diagnostic[]> {
  await refuseOtherFormats(input.file, input.formulation)
  if (input.formulation === 'csv') return openCsv(input, references, rules)
  const paths = input.iterators.map(iterator => ({ iterator, path: parseJsonPath(iterator) }))
  const problems = paths.flatMap(({ iterator, path }) =>
    isPathProblem(path) ? [unreadableIterator(iterator, path, placeOf(iterator))] : [],
  )
  if (problems.length > 0) return problems
  const read = references.map(({ name }) => compileReference(name))
  const iterators = paths as readonly IteratorPath[]
  const isLines = JSON_LINES.test(input.file)
  const chosen = isLines ? lineIterator(iterators) : await chooseIterator(input.file, iterators, read)
  const records = () =>
    isLines ? readLines(input.file, chosen) : readSelected({ path: input.file }, chosen.path)
  return jsonRecords(input.file, chosen.iterator, records, references, read, rules)
}

/** Names of files with one value per line. */
const JSON_LINES = /\.(?:jsonl|ndjson)(?:\.gz)?$/i

interface IteratorPath {
  /** As it is written; null if each line is a record. */
  readonly iterator: string | null
  readonly path: JsonPath
}

type ReferenceReader = ReturnType<typeof compileReference>

async function openCsv(
  { file, dialect }: Input,
  references: readonly Reference[],
  { reserved }: ReadingRules,
): Promise<RecordFile | readonly Diagnostic[]> {
  const table = await openTable({ path: file }, dialect)
  const trimmed = table.columns.map(column => column.trim())
  const known = references
    .map(reference => {
      const exact = table.columns.indexOf(reference.name)
      return { ...reference, index: exact < 0 ? trimmed.indexOf(reference.name) : exact }
    })
    .filter(({ index, name }) => index >= 0 || name !== reserved)
  const missing = known.filter(({ index }) => index < 0)
  if (missing.length > 0) return missing.map(reference => unknownColumn(reference, file, table.columns))
  const indexes = known.map(({ index }) => index)
  return {
    columns: known.map(({ name }) => ({ name, type: 'text', multivalued: false })),
    iterator: null,
    nulls: dialect?.nulls ?? 'unquoted-empty',
    records: () => table.rows(indexes),
    findings: () => repeatedColumns(known, file, trimmed),
  }
}

/** @param iterator the path of the records; null if each line is one */
function jsonRecords(
  file: string,
  iterator: string | null,
  selected: () => AsyncIterable<readonly unknown[]>,
  references: readonly Reference[],
  read: readonly ReferenceReader[],
  rules: ReadingRules,
): RecordFile {
  let tallies = references.map(reference => ({ reference, found: 0, nested: 0, several: 0 }))
  let count = 0
  const valuesOf = (record: unknown, number: number): Values =>
    tallies.map((tally, index) => {
      const found = read[index]?.(record) ?? []
      if (found.length === 0) return tally.reference.name === rules.reserved ? String(number) : null
      tally.found++
      if (!rules.scalarsOnly || !found.some(isNested)) {
        const value = recordValue(found, rules.textOnly)
        if (tally.reference.joined !== undefined && Array.isArray(value)) tally.several++
        return value
      }
      tally.nested++
      return null
    })
  return {
    columns: references.map(({ name }) => ({ name, type: 'any', multivalued: true })),
    iterator,
    nulls: null,
    async *records() {
      tallies = references.map(reference => ({ reference, found: 0, nested: 0, several: 0 }))
      count = 0
      for await (const values of selected()) yield values.map(record => valuesOf(record, ++count))
    },
    findings: () =>
      count === 0
        ? []
        : tallies.flatMap(({ reference, found, nested, several }) => {
            if (several > 0) return [joinOfSeveral(reference, file, several)]
            if (nested > 0) return [nestedValue(reference, file, nested)]
            if (found > 0 || reference.name === rules.reserved) return []
            return [absentMember(reference, file, iterator, rules.strictNames)]
          }),
  }
}

async function* readLines(file: string, { path }: IteratorPath): AsyncIterable<readonly unknown[]> {
  for await (const rows of jsonlSource({ path: file }).read())
    yield rows.flatMap(({ data }) => selectJson(data, path))
}

/** How the records of each line are found: by the iterator of the mapping, in which `[*]` at the beginning stands for the lines. */
function lineIterator([given, ...others]: readonly IteratorPath[]): IteratorPath {
  const steps = given === undefined || others.length > 0 ? [] : given.path
  const path = steps[0]?.type === 'all' ? steps.slice(1) : steps
  return { iterator: path.length === 0 ? null : (given?.iterator ?? null), path }
}

/** Maximum number of records that are examined to decide whether an iterator fits the mapping. */
const LOOKED_AT = 100

/** The first iterator whose records have a reference of the mapping; if none does, the first of all. */
async function chooseIterator(
  file: string,
  paths: readonly IteratorPath[],
  references: readonly ReferenceReader[],
): Promise<IteratorPath> {
  const first = paths[0] ?? { iterator: '$', path: [] }
  if (paths.length === 1) return first
  const isArray = await beginsWith(file, '[')
  for (const candidate of paths) {
    if (isArray !== (candidate.path[0]?.type === 'all')) continue
    let looked = 0
    search: for await (const values of readSelected({ path: file }, candidate.path))
      for (const value of values) {
        if (references.some(read => read(value).length > 0)) return candidate
        if (++looked === LOOKED_AT) break search
      }
  }
  return first
}

async function beginsWith(file: string, character: string): Promise<boolean> {
  for await (const text of readText({ path: file })) {
    const begin = text.trimStart()
    if (begin !== '') return begin.startsWith(character)
  }
  return false
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** The values of a reference: null for none, an array for several; the compiler counts objects as ill-typed. */
function recordValue(found: readonly unknown[], textOnly: boolean): Value {
  const [only] = found
  if (found.length === 1 && !isNested(only)) return plain(only, textOnly)
  const values = found
    .flatMap(value => (Array.isArray(value) ? (value as readonly unknown[]) : [value]))
    .map(value => plain(value, textOnly))
    .filter(value => value !== null)
  if (values.length < 2) return values[0] ?? null
  // The array of a column of any type may contain numbers, booleans and objects as well as texts.
  return values as unknown as readonly string[]
}

function plain(value: unknown, textOnly: boolean): Value {
  if (value === null || value === undefined) return null
  if (isNested(value)) return JSON.parse(JSON.stringify(value, withoutBigInts)) as Value
  return textOnly ? String(value) : (value as Value)
}

/** For reports, which show values that could not become a literal. */
function withoutBigInts(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

const BYTES = 512
const HINT =
  'Files of a mapping are CSV, JSON or JSON Lines: save it as one of these, or publish it as a dataset.'

/** Formats by their first bytes. */
const BINARY: readonly (readonly [begin: string, name: string])[] = [
  ['PK\x03\x04', 'a zip archive, as workbooks (XLSX, ODS) are'],
  ['PAR1', 'Parquet'],
  ['SQLite format 3\0', 'a database of SQLite, as GeoPackage is'],
  ['\xd0\xcf\x11\xe0', 'a workbook of Excel before 2007'],
  ['%PDF', 'a PDF'],
]

/**
 * Throws SourceUnreadable for a file in a format that mappings are not run over, which would be read as a broken table otherwise.
 * A missing file is left to its reader.
 */
async function refuseOtherFormats(file: string, formulation: 'csv' | 'json'): Promise<void> {
  const begin = await firstBytes(file)
  const binary = BINARY.find(([bytes]) => begin.startsWith(bytes))
  if (binary !== undefined) throw refused(file, binary[1])
  const text = begin.replace(/^(?:\xef\xbb\xbf)?\s+/, '').replace(/^\xef\xbb\xbf/, '')
  if (/^<(?:!doctype html|html)\b/i.test(text)) throw refused(file, 'a web page')
  if (/^<\?xml\s/.test(text) || (/^<[!\w]/.test(text) && /\.(?:xml|kml|gpx|rdf)$/i.test(file)))
    throw refused(file, 'XML')
  if (formulation === 'csv' && /^(?:\{\s*"|\[\s*\{\s*")/.test(text))
    throw unreadable(
      'The file is JSON, and is read as a table by its name or by the mapping.',
      { file },
      'Name it .json or .jsonl, or write jsonpath as the reference formulation of its source.',
    )
}

function refused(file: string, format: string): Error {
  return unreadable(`The file is ${format}, which \`lodestone map\` does not read.`, { file }, HINT)
}

async function firstBytes(file: string): Promise<string> {
  try {
    const handle = await open(file)
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(BYTES), 0, BYTES, 0)
      return buffer.toString('latin1', 0, bytesRead)
    } finally {
      await handle.close()
    }
  } catch {
    return ''
  }
}
