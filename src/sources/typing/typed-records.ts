import { nearest } from '../../model/did-you-mean.ts'
import { exactJson } from '../../model/exact-json.ts'
import type { Value } from '../../model/value.ts'
import type { RecordSource, SourceRow } from '../source.ts'
import { type CompiledField, compileFields, type FieldSpec, fieldReader } from './fields.ts'
import { formatPointer } from './pointer.ts'

/** Rows of the source, and for each its values in field order. */
export interface TypedBatch {
  readonly rows: readonly SourceRow[]
  readonly values: readonly (readonly Value[])[]
}

/** Values of a field that do not fit its type: they are null in the records. */
export interface FieldConversionErrors {
  readonly field: string
  readonly column: string
  /** `an int` */
  readonly expected: string
  /** Number of values, including equal ones. */
  readonly count: number
  /** The first three distinct ones. */
  readonly examples: readonly ConversionError[]
}

/** A value that does not fit the type of its field. */
export interface ConversionError {
  /** Row of the first record that has it. */
  readonly row: number
  readonly line: number | undefined
  /** The value, at most 80 characters of it. */
  readonly found: string
  readonly count: number
}

/** A column that a field reads and that never occurs in the source. */
export interface MissingColumn {
  readonly level: 'error'
  readonly field: string
  readonly column: string
  readonly message: string
  /** The column that was probably meant. */
  readonly nearest: string | undefined
  /** The first columns that the source has. */
  readonly available: readonly string[]
}

/** Columns that are named in one message, at most. */
export const SHOWN_COLUMNS = 12

/** The numbers of records with a value of a field, without one, and with one that does not fit: the last count as nulls too. */
export interface FieldCounts {
  readonly present: number
  readonly nulls: number
  readonly misfits: number
}

/** The result of typing: complete once all batches have been read. */
export interface TypingReport {
  readonly rows: number
  readonly misfits: readonly FieldConversionErrors[]
  readonly misfitCount: number
  readonly fields: Readonly<Record<string, FieldCounts>>
  readonly missing: readonly MissingColumn[]
  /** Columns of the header that no field reads. */
  readonly unread: readonly string[]
}

/** A source whose values are typed while it is read. */
export interface TypedSource {
  /** Reads from the start, in source order. Throws SourceUnreadable as the source does. */
  batches(): AsyncIterable<TypedBatch>
  /** The result of the latest reading so far. For a source with a header, missing columns are known before its first batch. */
  report(): TypingReport
}

/** Maximum number of distinct conversion errors of a field in a report. */
const MAX_EXAMPLES = 3

/** Maximum characters of an unfitting value in a report. */
const SHOWN_CHARACTERS = 80

/** Types the records of a source. Throws ConfigInvalid for invalid fields. */
export function typeRecords(source: RecordSource, specs: readonly FieldSpec[]): TypedSource {
  const fields = compileFields(specs)
  let typist = new Typist(fields)
  return {
    report: () => typist.report(),
    async *batches() {
      const current = new Typist(fields)
      typist = current
      if (source.columns !== undefined) current.checkHeader(await source.columns())
      for await (const rows of source.read()) yield { rows, values: current.type(rows) }
    },
  }
}

interface Pending {
  readonly field: string
  readonly column: string
  readonly read: (data: SourceRow['data']) => unknown
}

/** Types batch by batch and collects the report. */
class Typist {
  private readonly fields: readonly CompiledField[]
  private pending: readonly Pending[]
  /** Rows whose columns are suggested instead of missing ones. */
  private sample: readonly SourceRow[] = []
  private header: readonly string[] | undefined
  private rows = 0
  private errorCount = 0
  private readonly examples: { row: SourceRow; found: string; count: number }[][]
  private readonly nulls: number[]
  private readonly errorsOf: number[]

  constructor(fields: readonly CompiledField[]) {
    this.fields = fields
    this.nulls = fields.map(() => 0)
    this.errorsOf = fields.map(() => 0)
    this.examples = fields.map(() => [])
    this.pending = fields.flatMap(field =>
      field.columns.map(column => ({ field: field.name, column, read: fieldReader(column) })),
    )
  }

  /** With a header, missing columns are known immediately. */
  checkHeader(columns: readonly string[]): void {
    const known = new Set(columns)
    this.header = columns
    this.pending = this.pending.filter(({ column }) => !known.has(column))
  }

  type(rows: readonly SourceRow[]): readonly (readonly Value[])[] {
    if (this.rows === 0) this.sample = rows
    this.rows += rows.length
    if (this.pending.length > 0 && this.header === undefined)
      this.pending = this.pending.filter(({ read }) => !rows.some(row => read(row.data) !== undefined))
    const fields = this.fields
    const nulls = this.nulls
    const width = fields.length
    return rows.map(row => {
      const values = new Array<Value>(width)
      for (let i = 0; i < width; i++) {
        const field = fields[i] as CompiledField
        const raw = field.extract(row.data)
        const value = field.convert(raw)
        if (value === undefined) this.miss(row, i, raw)
        if (value === undefined || value === null) (nulls[i] as number)++
        values[i] = value ?? null
      }
      return values
    })
  }

  report(): TypingReport {
    const missing = this.header === undefined && this.rows === 0 ? [] : this.pending
    return {
      rows: this.rows,
      misfits: this.fields.flatMap((field, index) => this.fieldErrors(field, index)),
      misfitCount: this.errorCount,
      fields: Object.fromEntries(this.fields.map((field, index) => [field.name, this.countsOf(index)])),
      missing: missing.map(({ field, column }) => this.missingColumn(field, column)),
      unread: (this.header ?? []).filter(
        column => !this.fields.some(({ columns }) => columns.includes(column)),
      ),
    }
  }

  private countsOf(index: number): FieldCounts {
    const nulls = this.nulls[index] ?? 0
    return { present: this.rows - nulls, nulls, misfits: this.errorsOf[index] ?? 0 }
  }

  private fieldErrors(
    { name, columns, expected }: CompiledField,
    index: number,
  ): readonly FieldConversionErrors[] {
    const count = this.errorsOf[index] ?? 0
    if (count === 0) return []
    const examples = (this.examples[index] ?? []).map(example => {
      const { row, line } = example.row
      return { row, line, found: example.found, count: example.count }
    })
    return [{ field: name, column: columns.join(', '), expected, count, examples }]
  }

  private miss(row: SourceRow, index: number, raw: unknown): void {
    const found = foundText(raw)
    // Lists and objects without elements stand for no value.
    if (typeof raw === 'object' && /^(?:\[(?:null(?:,null)*)?\]|\{\})$/.test(found)) return
    this.errorCount++
    this.errorsOf[index] = (this.errorsOf[index] ?? 0) + 1
    const examples = this.examples[index] ?? []
    const known = examples.find(example => example.found === found)
    if (known !== undefined) known.count++
    else if (examples.length < MAX_EXAMPLES) examples.push({ row, found, count: 1 })
  }

  private missingColumn(field: string, column: string): MissingColumn {
    const candidates = this.header ?? columnsOf(this.sample, column.startsWith('/'))
    const near = nearest(column, candidates)
    const message = `The field ${field} takes its values from ${JSON.stringify(column)}, which the source does not have.`
    const available = [...candidates].slice(0, SHOWN_COLUMNS)
    return { level: 'error', field, column, message, nearest: near, available }
  }
}

/** Names of columns, or pointers to them and to members of their objects, three levels deep. */
function columnsOf(rows: readonly SourceRow[], asPointers: boolean): ReadonlySet<string> {
  const columns = new Set<string>()
  const walk = (value: unknown, path: readonly string[]) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    for (const [name, inner] of Object.entries(value)) {
      const nested = [...path, name]
      columns.add(asPointers ? formatPointer(nested) : name)
      if (asPointers && nested.length < 3) walk(inner, nested)
    }
  }
  for (const { data } of rows.slice(0, 100)) walk(data, [])
  return columns
}

function foundText(raw: unknown): string {
  // JSON writes numbers that are not finite as null.
  const text =
    typeof raw === 'string' ? raw : typeof raw === 'number' ? String(raw) : (jsonText(raw) ?? String(raw))
  const characters = [...text.slice(0, 2 * SHOWN_CHARACTERS + 2)]
  if (characters.length <= SHOWN_CHARACTERS) return text
  return `${characters.slice(0, SHOWN_CHARACTERS - 1).join('')}…`
}

function jsonText(raw: unknown): string | undefined {
  try {
    return exactJson(raw)
  } catch {
    return undefined
  }
}

/** True for a whole number, which is then beyond 64 bits where it is no int. */
function isLongInteger(found: string): boolean {
  return /^[+-]?\d{19,}$/.test(found.trim())
}

/** Describes the conversion errors of one field in one line. */
export function conversionErrorsText({ column, expected, count, examples }: FieldConversionErrors): string {
  const shown = examples.map(({ row, line, found, count: times }) => {
    const where = line === undefined ? `record ${row}` : `line ${line}, record ${row}`
    return `${JSON.stringify(found)} (${times === 1 ? where : `${times} times, first in ${where}`})`
  })
  const counted = examples.reduce((sum, { count: times }) => sum + times, 0)
  const more = count > counted ? ' …' : ''
  const isLong = expected === 'an int' && examples.some(({ found }) => isLongInteger(found))
  const why = isLong ? '; an int has at most 64 bits, text keeps all digits' : ''
  return `${column}: ${count} ${count === 1 ? 'value is' : 'values are'} not ${expected}: ${shown.join(', ')}${more}${why}`
}
