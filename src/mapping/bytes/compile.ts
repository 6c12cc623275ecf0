import type { DatasetRecord } from '../../model/value.ts'
import { iriText } from '../../rdf/ntriples.ts'
import type { MappingColumn } from '../columns.ts'
import {
  type CompiledRule,
  type CompiledStatement,
  compileRules,
  isConstant,
  NO_RECORD,
  type RuleReport,
  reportOf,
} from '../compile.ts'
import { writeForSubjects } from '../fan-out.ts'
import type { Mapping, ResourceRule } from '../ir.ts'
import { EXAMPLES, noCounts } from '../report.ts'
import { compileTerm } from '../terms.ts'
import type { WrittenTriple } from '../triple-text.ts'
import { Repeats } from './repeats.ts'
import { type ByteRow, rowCellText } from './row.ts'
import { ByteSubject } from './subject.ts'
import { type ByteTerm, compileByteTerm } from './terms.ts'
import { compileToken } from './token.ts'

/** Turns rows of a table into triples: the counterpart of a compiled mapping for rows that were not decoded. */
export interface ByteMapping {
  /** @param id makes the id of the record that the row is, where one is needed */
  readonly map: (row: ByteRow, id: () => string, out: WrittenTriple) => void
  readonly report: readonly RuleReport[]
}

/**
 * Compiles a mapping for the columns of a table whose rows come as bytes. Nearly all cells go from the input to the output
 * as they are; whatever is not that simple, an absent value or a text to be percent-encoded, takes the way of
 * {@link compileMapping}, so that both write and count the same. Literals keep their text as it is.
 *
 * @param columns of single values, unless rows tell their values themselves
 * @param cells the cell of a row that each column is
 * @param tokens the cells that have the same values as JSON has them, where literals are of their own types
 */
export function compileByteMapping(
  mapping: Mapping,
  columns: readonly MappingColumn[],
  cells: readonly number[],
  tokens: readonly number[] = [],
): ByteMapping {
  const index = (name: string) => columns.findIndex(column => column.name === name)
  const cellOf = (name: string) => cells[index(name)] ?? null
  const places = { cellOf, tokenOf: (name: string) => tokens[index(name)] ?? null }
  const rules = compileRules(mapping, columns, { canonical: false })
  const current = new CurrentRow(cells)
  const subjects = new Map<ResourceRule, ByteSubject>()
  for (const { rule, writeSubject } of rules) {
    const slow = () => {
      const made = writeSubject(current.record(), NULL_REPORT)
      return typeof made === 'string' ? made : null
    }
    subjects.set(rule, new ByteSubject(compileByteTerm(rule.subject, cellOf), slow))
  }
  const resources = rules.map(rule => compileResource(rule, mapping, subjects, places, current))
  return {
    report: reportOf(rules),
    map: (row, id, out) => {
      current.move(row, id)
      for (const map of resources) map(row, out)
    },
  }
}

/** Takes what a subject tells of a row before its own rule asks for it. */
const NULL_REPORT: RuleReport = {
  resource: '',
  predicate: null,
  term: '',
  ...noCounts(),
}

/** The row that is being mapped, as a record once one is needed. */
class CurrentRow {
  number = 0
  private row: ByteRow | null = null
  private id: () => string = String
  private made: DatasetRecord | null = null
  private readonly cells: readonly number[]

  constructor(cells: readonly number[]) {
    this.cells = cells
  }

  move(row: ByteRow, id: () => string): void {
    this.row = row
    this.id = id
    this.made = null
    this.number++
  }

  record(): DatasetRecord {
    const { row, id, cells, number } = this
    if (this.made !== null) return this.made
    const values = row === null ? [] : (row.values?.() ?? cells.map(cell => rowCellText(row, cell)))
    this.made = { id: id(), position: number - 1, values }
    return this.made
  }
}

/** Where the value of a column is in a row. */
interface Places {
  readonly cellOf: (name: string) => number | null
  readonly tokenOf: (name: string) => number | null
}

type RowMapper = (row: ByteRow, out: WrittenTriple) => void
/** Writes one line; false where it takes the other way. */
type ByteStatement = (row: ByteRow, subject: ByteSubject, out: WrittenTriple) => boolean

function compileResource(
  { rule, writeSubject, report: own, statements }: CompiledRule,
  mapping: Mapping,
  subjects: ReadonlyMap<ResourceRule, ByteSubject>,
  places: Places,
  current: CurrentRow,
): RowMapper {
  const subject = subjects.get(rule) as ByteSubject
  const compiled = statements.map(each => ({
    ...each,
    ...quickStatement(each, rule, mapping, subjects, places, current),
  }))
  const reports = compiled.map(({ report }) => report)
  const repeats = repeatsOf([subject.cells, ...compiled.map(({ cells }) => cells)])
  const slowly = (text: string, { write, report }: CompiledStatement, out: WrittenTriple) => {
    const before = report.made
    const lines = write(current.record(), text)
    if (report.made > before) out.add(lines, report.made - before)
    return lines.length
  }
  return (row, out) => {
    if (repeats?.has(row)) {
      own.made += 1
      for (const { report } of compiled) report.made += 1
      return
    }
    if (!subject.make(row, current.number)) {
      const made = writeSubject(current.record(), own)
      if (made === null) return
      writeForSubjects(typeof made === 'string' ? [made] : made, own, reports, (index, text) =>
        slowly(text, compiled[index] as CompiledStatement, out),
      )
      return
    }
    own.made += 1
    const before = out.triples
    for (const each of compiled) if (!each.quick(row, subject, out)) slowly(subject.text(), each, out)
    if (out.triples - before === compiled.length) repeats?.add()
  }
}

/** What finds repeated lines of a resource; null where they are not made of cells alone. */
function repeatsOf(cells: readonly (readonly number[] | null)[]): Repeats | null {
  return cells.includes(null) ? null : new Repeats([...new Set(cells.flatMap(each => each ?? []))])
}

interface QuickStatement {
  readonly quick: ByteStatement
  /** The cells that its line is made of; null where that is not all. */
  readonly cells: readonly number[] | null
}

const NEVER: QuickStatement = { quick: () => false, cells: null }
const END = ' .\n'
const END_BYTES = bytesOf(END)

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text))
}

function quickStatement(
  { statement, report }: CompiledStatement,
  rule: ResourceRule,
  mapping: Mapping,
  subjects: ReadonlyMap<ResourceRule, ByteSubject>,
  { cellOf, tokenOf }: Places,
  current: CurrentRow,
): QuickStatement {
  const { predicate, object, inverse, graphs } = statement
  const isInGraphs = (rule.graphs ?? []).length + (graphs ?? []).length > 0
  if (typeof predicate !== 'string' || isInGraphs || inverse === true) return NEVER
  const middle = ` ${iriText(predicate)} `
  if (object.type === 'link') {
    const targets = mapping.resources.filter(({ key }) => key === object.resource)
    const target = targets.length === 1 && targets[0] !== undefined ? subjects.get(targets[0]) : undefined
    if (target === undefined) return NEVER
    return { quick: linkStatement(bytesOf(middle), target, report, current), cells: target.cells }
  }
  if (isConstant(object)) {
    const term = compileTerm(object, [], { canonical: false, blank: String }, rule.key)
    const tail = bytesOf(middle + String(term(NO_RECORD, NULL_REPORT)) + END)
    return { quick: constantStatement(tail, report), cells: [] }
  }
  const around = { before: middle, after: END }
  const token = object.type === 'natural' ? tokenOf(object.field) : null
  const term = token === null ? compileByteTerm(object, cellOf, around) : compileToken(token, around)
  return term === null ? NEVER : { quick: termStatement(term, report), cells: term.cells }
}

function constantStatement(tail: Uint8Array, report: RuleReport): ByteStatement {
  return (_, subject, out) => {
    out.reserve(subject.length + tail.length)
    const begun = subject.begin(out)
    out.bytes.set(tail, begun)
    out.length = begun + tail.length
    out.triples += 1
    report.made += 1
    return true
  }
}

/** @param term with all of the line that follows the subject */
function termStatement({ max, write, cells }: ByteTerm, report: RuleReport): ByteStatement {
  const cell = cells.length === 1 ? (cells[0] ?? null) : null
  return (row, subject, out) => {
    // Absent values are many; the first are examples, which tell of their record.
    if (cell !== null && (row.starts[cell] as number) < 0 && report.nulls >= EXAMPLES) {
      report.nulls += 1
      return true
    }
    out.reserve(subject.length + max(row))
    const end = write(row, out.bytes, subject.begin(out))
    if (end < 0) {
      subject.forget(out.length)
      return false
    }
    out.length = end
    out.triples += 1
    report.made += 1
    return true
  }
}

function linkStatement(
  middle: Uint8Array,
  target: ByteSubject,
  report: RuleReport,
  current: CurrentRow,
): ByteStatement {
  return (row, subject, out) => {
    if (!target.make(row, current.number)) return false
    out.reserve(subject.length + middle.length + target.length + END_BYTES.length)
    const { bytes } = out
    const begun = subject.begin(out)
    bytes.set(middle, begun)
    const end = target.copy(bytes, begun + middle.length)
    bytes.set(END_BYTES, end)
    out.length = end + END_BYTES.length
    out.triples += 1
    report.made += 1
    return true
  }
}
