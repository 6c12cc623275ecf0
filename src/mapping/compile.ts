import { Fault } from '../errors/errors.ts'
import type { DatasetRecord } from '../model/value.ts'
import { iriText } from '../rdf/ntriples.ts'
import { columnReader, type MappingColumn, type ScalarColumn } from './columns.ts'
import { MAPPING_INVALID } from './diagnostic.ts'
import { MAX_EXPANSION, writeForSubjects } from './expand.ts'
import type { Mapping, ObjectMap, ResourceRule, StatementRule, TermMap } from './ir.ts'
import { type RuleReport, skip, statementReport, subjectReport } from './report.ts'
import { compileTerm, type TermOptions, type TermWriter } from './terms.ts'
import type { WrittenTriple } from './triple-text.ts'

export type { RuleReport } from './report.ts'

/** Maps one record to triples. */
export type RecordMapper = (record: DatasetRecord, out: Pick<WrittenTriple, 'add'>) => void

export interface CompiledMapping {
  readonly map: RecordMapper
  /** The result of each rule so far: the subject of each resource, then its statements. */
  readonly report: readonly RuleReport[]
  /** True if some statements are in named graphs: lines are then N-Quads. */
  readonly hasGraphs: boolean
}

/** The two names of the default graph in mappings. */
const DEFAULT_GRAPHS: readonly string[] = [
  '<http://www.w3.org/ns/r2rml#defaultGraph>',
  '<http://w3id.org/rml/defaultGraph>',
]

const END = ' .\n'

const OPTIONS: TermOptions = { canonical: true, blank: label => `_:${label}` }

/**
 * Compiles a mapping for the fields of a dataset, or the columns of a file: constants are escaped and references resolved once,
 * so that a record costs string concatenation alone. Terms that cannot be created for a record are left out and counted. Throws
 * MappingInvalid for errors of the validator: a reference or link to nothing, a constant that is no IRI.
 */
export function compileMapping(
  mapping: Mapping,
  columns: readonly MappingColumn[],
  options: Partial<TermOptions> = {},
): CompiledMapping {
  const context: Context = { mapping, columns, options: { ...OPTIONS, ...options }, subjects: new Map() }
  const rules = mapping.resources.map(rule => ({
    writeSubject: subjectWriter(rule, context),
    report: subjectReport(rule),
    statements: rule.statements.map(statement => {
      const report = statementReport(rule, statement)
      return { report, write: compileStatement(rule, statement, report, context) }
    }),
  }))
  const mappers = rules.map(recordMapper)
  return {
    report: rules.flatMap(({ report, statements }) => [report, ...statements.map(each => each.report)]),
    hasGraphs: hasGraphs(mapping),
    map: (record, out) => {
      for (const map of mappers) map(record, out)
    },
  }
}

/** A resource with compiled subject and statements. */
interface CompiledRule {
  readonly writeSubject: TermWriter
  readonly report: RuleReport
  readonly statements: readonly { readonly write: LineWriter; readonly report: RuleReport }[]
}

interface Context {
  readonly mapping: Mapping
  readonly columns: readonly MappingColumn[]
  readonly options: TermOptions
  /** The writers of subjects that were compiled so far. */
  readonly subjects: Map<ResourceRule, TermWriter>
}

/** Writes the lines of one statement about a subject, an empty text if there is none, and counts them in the report. */
type LineWriter = (record: DatasetRecord, subject: string) => string

/** True if a mapping has statements in named graphs. */
export function hasGraphs({ resources }: Mapping): boolean {
  const maps = resources.flatMap(({ graphs, statements }) => [graphs, ...statements.map(each => each.graphs)])
  return maps.some(graphs => (graphs?.length ?? 0) > 0)
}

function recordMapper({ writeSubject, report: own, statements }: CompiledRule): RecordMapper {
  const writers = statements.map(({ write }) => write)
  const reports = statements.map(({ report }) => report)
  let before = 0
  const flush = (lines: string, out: Pick<WrittenTriple, 'add'>) => {
    let written = 0
    for (const report of reports) written += report.made
    if (written > before) out.add(lines, written - before)
    before = written
  }
  return (record, out) => {
    const subjects = writeSubject(record, own)
    if (subjects === null) return
    let lines = ''
    if (typeof subjects === 'string') {
      own.made += 1
      for (const write of writers) lines += write(record, subjects)
    } else
      writeForSubjects(subjects, own, reports, (index, subject) => {
        const written = writers[index]?.(record, subject) ?? ''
        lines += written
        return written.length
      })
    flush(lines, out)
  }
}

/** The writer of a resource's subjects, shared with the links to it: it creates them once for each record. */
function subjectWriter(rule: ResourceRule, context: Context): TermWriter {
  const known = context.subjects.get(rule)
  if (known !== undefined) return known
  if (rule.subject.type === 'literal' || rule.subject.type === 'natural')
    throw new Fault(MAPPING_INVALID, { reason: `the subject of ${rule.key} is a literal` })
  const write = compileTerm(rule.subject, context.columns, context.options, rule.key)
  let last: DatasetRecord | null = null
  let written: ReturnType<TermWriter> = null
  let wasCut = 0
  const remembered: TermWriter = (record, report) => {
    // Absent subjects are computed again, because each rule that needs them counts them.
    if (record === last && written !== null) {
      report.cut += wasCut
      return written
    }
    const before = report.cut
    written = write(record, report)
    wasCut = report.cut - before
    last = record
    return written
  }
  context.subjects.set(rule, remembered)
  return remembered
}

function objectWriter(object: ObjectMap, key: string, context: Context): TermWriter {
  if (object.type !== 'link') return compileTerm(object, context.columns, context.options, key)
  const targets = context.mapping.resources.filter(rule => rule.key === object.resource)
  if (targets.length === 0)
    throw new Fault(MAPPING_INVALID, { reason: `${key} links to ${object.resource}, which is no mapping` })
  const writers = targets.map(rule => subjectWriter(rule, context))
  const [only] = writers
  if (only !== undefined && writers.length === 1) return only
  return (record, report) => {
    const written = writers.flatMap(write => write(record, report) ?? [])
    return written.length === 0 ? null : written
  }
}

function compileStatement(
  rule: ResourceRule,
  statement: StatementRule,
  report: RuleReport,
  context: Context,
): LineWriter {
  const { predicate, object, inverse } = statement
  const graphs = [...(rule.graphs ?? []), ...(statement.graphs ?? [])]
  const isSimple = typeof predicate === 'string' && graphs.length === 0 && inverse !== true
  if (!isSimple) return generalStatement(rule.key, statement, graphs, report, context)
  const middle = ` ${iriText(predicate)} `
  if (object.type === 'natural') {
    const column = columnReader(context.columns, object.field)
    if (column?.natural && !column.several)
      return naturalStatement(middle, column.index, column.natural, report)
  }
  if (isConstant(object)) return constantStatement(middle, object, rule.key, report, context)
  const write = objectWriter(object, rule.key, context)
  return (record, subject) => {
    const terms = write(record, report)
    if (terms === null) return ''
    if (typeof terms === 'string') {
      report.made += 1
      return subject + middle + terms + END
    }
    report.made += terms.length
    let lines = ''
    for (const term of terms) lines += subject + middle + term + END
    return lines
  }
}

/** The statement of nearly all fields: constant text is written once, for speed. */
function naturalStatement(
  middle: string,
  index: number,
  natural: { readonly text: (value: ScalarColumn) => string; readonly end: string },
  report: RuleReport,
): LineWriter {
  const head = `${middle}"`
  const tail = natural.end + END
  const { text } = natural
  return ({ id, values }, subject) => {
    const value = values[index]
    if (value === null || value === undefined) {
      skip(report, 'null', id)
      return ''
    }
    report.made += 1
    return subject + head + text(value as ScalarColumn) + tail
  }
}

function isConstant(object: ObjectMap): object is Extract<TermMap, { readonly type: 'iri' }> {
  return object.type === 'iri' && object.segments.every(({ type }) => type === 'constant')
}

function constantStatement(
  middle: string,
  object: TermMap,
  key: string,
  report: RuleReport,
  context: Context,
): LineWriter {
  const term = compileTerm(object, context.columns, context.options, key)(NO_RECORD, report)
  const tail = middle + String(term) + END
  return (_, subject) => {
    report.made += 1
    return subject + tail
  }
}

const NO_RECORD: DatasetRecord = { id: '', position: 0, values: [] }

/** A statement with graphs, a computed predicate, or inverse direction. */
function generalStatement(
  key: string,
  { predicate, object, inverse }: StatementRule,
  graphs: readonly TermMap[],
  report: RuleReport,
  context: Context,
): LineWriter {
  const several = (write: TermWriter) => (record: DatasetRecord) => {
    const written = write(record, report) ?? []
    return typeof written === 'string' ? [written] : written
  }
  const term = (map: TermMap) => several(compileTerm(map, context.columns, context.options, key))
  const constant = typeof predicate === 'string' ? [iriText(predicate)] : null
  const predicates = typeof predicate === 'string' ? () => constant ?? [] : term(predicate)
  const objects = several(objectWriter(object, key, context))
  const graphWriters = graphs.map(term)
  const graphsOf = (record: DatasetRecord) =>
    graphWriters.length === 0
      ? ['']
      : [...new Set(graphWriters.flatMap(write => write(record)).map(graphText))]
  return (record, subject) => {
    const ends = graphsOf(record)
    // A record that lacks several parts is counted once.
    const middles = ends.length === 0 ? [] : predicates(record)
    const values = middles.length === 0 ? [] : objects(record)
    const limit = Math.max(MAX_EXPANSION, middles.length, values.length, ends.length)
    const before = report.made
    let lines = ''
    for (const middle of middles)
      for (const value of values) {
        if (!middle.startsWith('<') || (inverse === true && value.startsWith('"'))) {
          skip(report, 'invalid-iri', record.id, inverse === true ? value : middle)
          continue
        }
        if (report.made - before >= limit) {
          report.cut += 1
          return lines
        }
        const triple = inverse === true ? `${value} ${middle} ${subject}` : `${subject} ${middle} ${value}`
        for (const end of ends) lines += triple + end + END
        report.made += ends.length
      }
    return lines
  }
}

function graphText(graph: string): string {
  return DEFAULT_GRAPHS.includes(graph) ? '' : ` ${graph}`
}
