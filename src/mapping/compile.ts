import type { Field } from '../model/field.ts'
import type { DatasetRecord, Value } from '../model/value.ts'
import { iriSafe, isIri } from '../rdf/iri.ts'
import { escapeText, iriText, literalEnd } from '../rdf/ntriples.ts'
import { XSD } from '../rdf/vocab.ts'
import type { Mapping, ResourceRule, Segment, StatementRule, TermMap } from './ir.ts'
import { naturalEnd, naturalText } from './natural.ts'
import type { TripleText } from './triple-text.ts'

/** Turns one record into triples. */
export type RecordMapper = (record: DatasetRecord, out: TripleText) => void

/** How often a rule made a triple, or had a value and could make none. */
export interface RuleReport {
  readonly resource: string
  readonly predicate: string
  made: number
  invalidIri: number
}

export interface CompiledMapping {
  readonly map: RecordMapper
  readonly report: readonly RuleReport[]
}

/**
 * Compiles a mapping for the fields of a dataset: constants are escaped and references resolved to columns once, so
 * that a record costs string concatenation alone.
 */
export function compileMapping(mapping: Mapping, fields: readonly Field[]): CompiledMapping {
  const report: RuleReport[] = []
  const resources = mapping.resources.map(rule => compileResource(rule, fields, report))
  return {
    report,
    map: (record, out) => {
      for (const resource of resources) resource(record, out)
    },
  }
}

/** Writes the terms that a term map makes of a record, in N-Triples. */
type TermWriter = (record: DatasetRecord) => string | readonly string[] | null

/** Writes the lines of one statement about a subject, empty where there is none, and counts them in the report. */
type LineWriter = (record: DatasetRecord, subject: string) => string

function compileResource(rule: ResourceRule, fields: readonly Field[], report: RuleReport[]): RecordMapper {
  const subject = compileTerm(rule.subject, fields)
  const rules: RuleReport[] = []
  const writers = rule.statements.map(statement => {
    const own = { resource: rule.key, predicate: statement.predicate, made: 0, invalidIri: 0 }
    rules.push(own)
    return compileStatement(statement, fields, own)
  })
  report.push(...rules)
  let before = 0
  return (record, out) => {
    const subjects = subject(record)
    if (subjects === null) return
    let lines = ''
    for (const text of typeof subjects === 'string' ? [subjects] : subjects)
      for (const write of writers) lines += write(record, text)
    let made = 0
    for (const own of rules) made += own.made
    out.add(lines, made - before)
    before = made
  }
}

const END = ' .\n'

function compileStatement(
  statement: StatementRule,
  fields: readonly Field[],
  report: RuleReport,
): LineWriter {
  const predicate = ` ${iriText(statement.predicate)} `
  const { object } = statement
  if (object.type === 'natural' && !object.field.multivalued)
    return naturalStatement(predicate, object.field, fields, report)
  const write = compileTerm(object, fields, report)
  return (record, subject) => {
    const terms = write(record)
    if (terms === null) return ''
    let lines = ''
    for (const term of typeof terms === 'string' ? [terms] : terms) {
      lines += subject + predicate + term + END
      report.made += 1
    }
    return lines
  }
}

/** The statement of nearly every field: all that is constant is written once, for speed. */
function naturalStatement(
  predicate: string,
  field: Field,
  fields: readonly Field[],
  report: RuleReport,
): LineWriter {
  const index = fields.findIndex(({ name }) => name === field.name)
  const write = naturalText(field.type)
  const head = `${predicate}"`
  const tail = naturalEnd(field.type) + END
  return ({ values }, subject) => {
    const value = values[index]
    if (value === null || value === undefined) return ''
    report.made += 1
    return subject + head + write(value) + tail
  }
}

function compileTerm(term: TermMap, fields: readonly Field[], report?: RuleReport): TermWriter {
  switch (term.type) {
    case 'natural':
      return naturalTerm(term.field, fields)
    case 'iri':
      return iriTerm(term.segments, fields, report)
    case 'literal': {
      const end = literalEnd(term.datatype ?? XSD.string, term.language ?? '')
      const expand = compileSegments(term.segments, fields, escapeText)
      return record => expand(record)?.map(text => `"${text}${end}`) ?? null
    }
    default:
      return term satisfies never
  }
}

function naturalTerm(field: Field, fields: readonly Field[]): TermWriter {
  const index = fields.findIndex(({ name }) => name === field.name)
  const write = naturalText(field.type)
  const end = naturalEnd(field.type)
  if (field.multivalued)
    return ({ values }) => {
      const value = values[index]
      return Array.isArray(value) ? value.map(element => `"${write(element as string)}${end}`) : null
    }
  return ({ values }) => {
    const value = values[index]
    return value === null || value === undefined ? null : `"${write(value)}${end}`
  }
}

function iriTerm(
  segments: readonly Segment[],
  fields: readonly Field[],
  report: RuleReport | undefined,
): TermWriter {
  const [first, second] = segments
  if (first?.type === 'constant' && second?.type === 'recordId' && segments.length === 2) {
    const head = `<${iriText(first.text).slice(1, -1)}`
    return record => `${head}${record.id}>`
  }
  const single = segments.length === 1
  const expand = compileSegments(segments, fields, single ? text => text : iriSafe)
  return record => {
    const made = expand(record)
    if (made === null) return null
    const valid = made.filter(isIri)
    if (report !== undefined) report.invalidIri += made.length - valid.length
    return valid.map(text => `<${text}>`)
  }
}

/** Most terms that one template makes of one record: several multivalued references multiply. */
const MAX_EXPANSION = 1000

function compileSegments(
  segments: readonly Segment[],
  fields: readonly Field[],
  encode: (text: string) => string,
): (record: DatasetRecord) => string[] | null {
  const readers = segments.map(segment => segmentReader(segment, fields, encode))
  return record => {
    let made = ['']
    for (const read of readers) {
      const texts = read(record)
      if (texts.length === 0) return null
      made = made.flatMap(head => texts.map(text => head + text)).slice(0, MAX_EXPANSION)
    }
    return made
  }
}

function segmentReader(
  segment: Segment,
  fields: readonly Field[],
  encode: (text: string) => string,
): (record: DatasetRecord) => readonly string[] {
  if (segment.type === 'constant') return () => [segment.text]
  if (segment.type === 'recordId') return record => [record.id]
  const index = fields.findIndex(({ name }) => name === segment.field.name)
  return ({ values }) => {
    const value: Value = values[index] ?? null
    if (value === null || value === '') return []
    return Array.isArray(value) ? value.map(element => encode(String(element))) : [encode(plainText(value))]
  }
}

function plainText(value: NonNullable<Value>): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
