import { Fault } from '../errors/errors.ts'
import type { DatasetRecord } from '../model/value.ts'
import { columnReader, type MappingColumn, RECORD_ID, type ScalarColumn } from './columns.ts'
import { MAPPING_INVALID } from './diagnostic.ts'
import type { Segment } from './ir.ts'
import type { RuleReport } from './report.ts'

/**
 * Maximum number of combinations of several values of one record: multivalued references of a template multiply, and the subjects
 * of a record with its objects. A single list of values may be longer.
 */
export const MAX_EXPANSION = 1000

/** The texts of a template for a record; null if a reference has no value. Counts omitted combinations. */
export type Expander = (record: DatasetRecord, report: Pick<RuleReport, 'cut'>) => Texts | null

type Texts = string | readonly string[]

/** How a template is expanded. */
export interface ExpandOptions {
  /** Encodes values, but not constants. */
  readonly encode: (text: string) => string
  /** True if an empty value is treated as absent: it would create one IRI for unrelated records. */
  readonly emptyIsNull: boolean
}

/** Reads the value of a template's reference; an array for several, null for none. */
type Reader = (record: DatasetRecord) => Texts | null

/**
 * Compiles a template to a function of a record (R2RML, section 7.3). Segments are joined and nothing is substituted, so that no
 * value is ever parsed as a template. Throws MappingInvalid for a reference that names no column.
 */
export function compileTemplate(
  segments: readonly Segment[],
  columns: readonly MappingColumn[],
  options: ExpandOptions,
): Expander {
  const [head, only, tail] = inner(segments)
  if (only === undefined) return () => head
  const read = segmentReader(only, columns, options)
  if (tail !== null) return single(head, read, tail)
  const parts = segments.map(segment =>
    segment.type === 'constant' ? segment.text : segmentReader(segment, columns, options),
  )
  return (record, report) => product(parts, record, report)
}

/** A template with one reference: the text before it, the reference, the text after it (null if there are more references). */
function inner(segments: readonly Segment[]): [string, Segment | undefined, string | null] {
  const at = segments.findIndex(({ type }) => type !== 'constant')
  const constant = (part: readonly Segment[]) =>
    part.map(segment => (segment.type === 'constant' ? segment.text : '')).join('')
  if (at < 0) return [constant(segments), undefined, '']
  const rest = segments.slice(at + 1)
  const isLast = rest.every(({ type }) => type === 'constant')
  return [constant(segments.slice(0, at)), segments[at], isLast ? constant(rest) : null]
}

function single(head: string, read: Reader, tail: string): Expander {
  if (head === '' && tail === '') return read
  return record => {
    const value = read(record)
    if (value === null) return null
    return typeof value === 'string' ? head + value + tail : value.map(text => head + text + tail)
  }
}

function product(
  parts: readonly (string | Reader)[],
  record: DatasetRecord,
  report: Pick<RuleReport, 'cut'>,
): Texts | null {
  let expanded: Texts = ''
  let isCut = false
  for (const part of parts) {
    const next = typeof part === 'string' ? part : part(record)
    if (next === null) return null
    if (typeof expanded === 'string' && typeof next === 'string') expanded += next
    else {
      const heads = typeof expanded === 'string' ? [expanded] : expanded
      const tails = typeof next === 'string' ? [next] : next
      expanded = joined(heads, tails)
      isCut ||= expanded.length < heads.length * tails.length
    }
  }
  if (isCut) report.cut += 1
  return expanded
}

function joined(heads: readonly string[], tails: readonly string[]): readonly string[] {
  const limit = Math.max(MAX_EXPANSION, heads.length, tails.length)
  const expanded: string[] = []
  for (const head of heads)
    for (const tail of tails) {
      if (expanded.length === limit) return expanded
      expanded.push(head + tail)
    }
  return expanded
}

function segmentReader(segment: Segment, columns: readonly MappingColumn[], options: ExpandOptions): Reader {
  switch (segment.type) {
    case 'constant':
      return () => segment.text
    case 'recordId':
      return record => record.id
    case 'field':
      return fieldReader(segment.name, columns, options)
  }
}

function fieldReader(
  name: string,
  columns: readonly MappingColumn[],
  { encode, emptyIsNull }: ExpandOptions,
): Reader {
  const column = columnReader(columns, name)
  if (column === null) {
    if (name === RECORD_ID) return record => record.id
    throw new Fault(MAPPING_INVALID, { reason: `$(${name}) names no field` })
  }
  const { index, text } = column
  const textOf = (value: ScalarColumn) => {
    const plain = text(value)
    return plain === null || (emptyIsNull && plain === '') ? null : encode(plain)
  }
  return ({ values }) => {
    const value = values[index]
    if (value === null || value === undefined) return null
    if (!Array.isArray(value)) return textOf(value as ScalarColumn)
    const texts = (value as readonly ScalarColumn[]).map(textOf).filter(text => text !== null)
    return texts.length === 0 ? null : texts.length === 1 ? (texts[0] as string) : texts
  }
}

/** Characters of the triples of one record after which no more of its subjects are written, if it has several. */
const MAX_RECORD_TEXT = 2 ** 24

/**
 * Writes the statements of a record that has several subjects. Several subjects and several objects multiply: a statement that
 * has written {@link MAX_EXPANSION} triples of the record, or as many as it has subjects if these are more, is omitted for the
 * other subjects. Omissions are counted in its report, once a record.
 *
 * @param own the report of the subject
 * @param reports the reports of the statements
 * @param write writes a statement for a subject, counts its triples and returns their length in characters
 */
export function writeForSubjects(
  subjects: readonly string[],
  own: RuleReport,
  reports: readonly RuleReport[],
  write: (statement: number, subject: string) => number,
): void {
  const limit = Math.max(MAX_EXPANSION, subjects.length)
  const before = reports.map(({ made, cut }) => ({ made, cut }))
  const ownCut = own.cut
  const isCut = reports.map(() => false)
  let length = 0
  for (const subject of subjects) {
    if (length > MAX_RECORD_TEXT) {
      own.cut = ownCut + 1
      break
    }
    own.made += 1
    for (const [index, report] of reports.entries())
      if (report.made - (before[index]?.made ?? 0) >= limit) isCut[index] = true
      else length += write(index, subject)
  }
  for (const [index, report] of reports.entries()) {
    const cut = before[index]?.cut ?? 0
    if (isCut[index] === true || report.cut > cut) report.cut = cut + 1
  }
}
