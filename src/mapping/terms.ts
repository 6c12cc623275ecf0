import { Fault } from '../errors/errors.ts'
import { exactJson } from '../model/exact-json.ts'
import type { DatasetRecord } from '../model/value.ts'
import { iriSafe, isIri, percentEncode } from '../rdf/iri-syntax.ts'
import { isLanguageTag, literalType } from '../rdf/literals.ts'
import { escapeText, literalEnd } from '../rdf/ntriples.ts'
import { XSD } from '../rdf/vocab.ts'
import { columnReader, type MappingColumn, RECORD_ID, type ScalarColumn } from './columns.ts'
import { MAPPING_INVALID } from './diagnostic.ts'
import { compileTemplate, type Expander } from './expand.ts'
import { constantText, type Segment, type TermMap } from './ir.ts'
import { type RuleReport, skip } from './report.ts'

/** Writes the terms that a term map creates from a record, in N-Triples; null for none. */
export type TermWriter = (record: DatasetRecord, report: RuleReport) => string | readonly string[] | null

/** How terms are written. */
export interface TermOptions {
  /** True for literals in the canonical form of the store; false for their unchanged text. */
  readonly canonical: boolean
  /** Writes the blank node with a label of letters, digits and underscores. */
  readonly blank: (label: string) => string
}

/** Compiles a term map. Throws MappingInvalid if it refers to no column, or could never create a term. */
export function compileTerm(
  term: TermMap,
  columns: readonly MappingColumn[],
  options: TermOptions,
  key: string,
): TermWriter {
  switch (term.type) {
    case 'natural':
      return naturalTerm(term.field, columns)
    case 'iri':
      return iriTerm(term, columns)
    case 'blank':
      return blankTerm(term.segments, columns, options, key)
    case 'literal':
      return literalTerm(term, columns, options)
  }
}

/** Applies a function to one or several texts and omits null results. */
function each(
  texts: string | readonly string[],
  write: (text: string) => string | null,
): string | readonly string[] | null {
  if (typeof texts === 'string') return write(texts)
  const written = texts.map(write).filter(text => text !== null)
  return written.length === 0 ? null : written
}

function naturalTerm(name: string, columns: readonly MappingColumn[]): TermWriter {
  const column = columnReader(columns, name)
  if (column === null) {
    if (name === RECORD_ID) return ({ id }) => `"${id}"`
    throw new Fault(MAPPING_INVALID, { reason: `$(${name}) names no field` })
  }
  const literalOf = (value: ScalarColumn, id: string, report: RuleReport) => {
    const literal = column.literal(value)
    if (literal === null) skip(report, 'ill-typed', id, exactJson(value))
    return literal
  }
  return ({ id, values }, report) => {
    const value = values[column.index]
    const isSeveral = Array.isArray(value)
    if (value === null || value === undefined || (isSeveral && value.length === 0)) {
      skip(report, 'null', id)
      return null
    }
    if (!isSeveral) return literalOf(value as ScalarColumn, id, report)
    const all = value as readonly ScalarColumn[]
    return all.map(each => literalOf(each, id, report)).filter(literal => literal !== null)
  }
}

type IriMap = Extract<TermMap, { readonly type: 'iri' }>

/** Strings that an IRI-safe value may begin with or contain: if these are valid, every value is. */
const SAFE_PROBES = ['x', '0', '%20', 'é', '-._~', '%F0%9F']

function iriTerm({ segments, encode, base }: IriMap, columns: readonly MappingColumn[]): TermWriter {
  const isReference = segments.length === 1 && segments[0]?.type !== 'constant'
  const expand = compileTemplate(segments, columns, {
    encode: isReference || encode === 'none' ? same : encode === 'uri' ? uriSafe : iriSafe,
    emptyIsNull: true,
  })
  if (segments.every(({ type }) => type === 'constant')) return constantIri(segments, base)
  const isSafe = !isReference && encode !== 'none' && alwaysValid(segments)
  return (record, report) => {
    const texts = expand(record, report)
    if (texts === null) {
      skip(report, 'null', record.id)
      return null
    }
    if (isSafe) return typeof texts === 'string' ? `<${texts}>` : texts.map(text => `<${text}>`)
    return each(texts, text => {
      const iri = absolute(text, base)
      if (iri !== null) return `<${iri}>`
      skip(report, 'invalid-iri', record.id, text)
      return null
    })
  }
}

function constantIri(segments: readonly Segment[], base: string | undefined): TermWriter {
  const text = constantText(segments) ?? ''
  const iri = absolute(text, base)
  if (iri === null) throw new Fault(MAPPING_INVALID, { reason: `${JSON.stringify(text)} is no IRI` })
  const term = `<${iri}>`
  return () => term
}

/** An IRI, with the base prepended if it is relative (R2RML, section 11.2: it is not resolved); null if it is invalid. */
function absolute(text: string, base: string | undefined): string | null {
  if (isIri(text)) return text
  if (base === undefined) return null
  return isIri(base + text) ? base + text : null
}

const WEB_FOLDER = /^https?:\/\/[A-Za-z0-9\-._~]+(?::\d*)?\/[A-Za-z0-9\-._~/]*$/
const PATH = /^[A-Za-z0-9\-._~/]*$/

/** True if a template creates a valid IRI for all IRI-safe values. */
function alwaysValid(segments: readonly Segment[]): boolean {
  const [first, ...others] = segments.map(segment => (segment.type === 'constant' ? segment.text : 'x'))
  // Nearly all templates are such paths; the regular expression of all IRIs takes milliseconds to compile.
  if (first !== undefined && WEB_FOLDER.test(first) && others.every(text => PATH.test(text))) return true
  return SAFE_PROBES.every(probe =>
    isIri(segments.map(segment => (segment.type === 'constant' ? segment.text : probe)).join('')),
  )
}

function same(text: string): string {
  return text
}

/** Encodes a value for a template of a URI: in addition to what {@link iriSafe} escapes, all that is not ASCII (RML-Core, "rml:URI"). */
function uriSafe(text: string): string {
  return iriSafe(text).replace(/[^\0-\x7f]/gu, percentEncode)
}

function blankTerm(
  segments: readonly Segment[],
  columns: readonly MappingColumn[],
  { blank }: TermOptions,
  key: string,
): TermWriter {
  if (segments.length === 0) {
    const name = blankLabel(key)
    return record => blank(`r${record.id}_${name}`)
  }
  const expand = compileTemplate(segments, columns, { encode: same, emptyIsNull: false })
  return (record, report) => {
    const texts = expand(record, report)
    if (texts !== null) return each(texts, text => blank(`b${blankLabel(text)}`))
    skip(report, 'null', record.id)
    return null
  }
}

/** A label of letters, digits and underscores, distinct for every text. */
function blankLabel(text: string): string {
  return text.replace(/[^A-Za-z0-9]/gu, character => `_${(character.codePointAt(0) ?? 0).toString(16)}_`)
}

type LiteralMap = Extract<TermMap, { readonly type: 'literal' }>

function literalTerm(term: LiteralMap, columns: readonly MappingColumn[], options: TermOptions): TermWriter {
  const expand = compileTemplate(term.segments, columns, { encode: same, emptyIsNull: false })
  const write = literalWriter(term, columns, options)
  return (record, report) => {
    const texts = expand(record, report)
    if (texts !== null) return write(texts, record, report)
    skip(report, 'null', record.id)
    return null
  }
}

type TextWriter = (
  texts: string | readonly string[],
  record: DatasetRecord,
  report: RuleReport,
) => string | readonly string[] | null

function literalWriter(
  { datatype, language }: LiteralMap,
  columns: readonly MappingColumn[],
  options: TermOptions,
): TextWriter {
  if (language !== undefined) return languageWriter(language, columns, options)
  if (datatype === undefined) return texts => each(texts, text => `"${escapeText(text)}"`)
  const constant = typeof datatype === 'string' ? datatype : constantText(datatype)
  if (constant !== null) return typedWriter(constant, options)
  const expand = compileTemplate(datatype as readonly Segment[], columns, {
    encode: iriSafe,
    emptyIsNull: true,
  })
  const plain = (datatype as readonly Segment[]).length === 1
  const reference = plain ? compileTemplate(datatype as readonly Segment[], columns, ASIS) : expand
  const writers = new Map<string, TextWriter | null>()
  return (texts, record, report) => {
    const found = firstOf(reference(record, report))
    if (found === null) {
      skip(report, 'null', record.id)
      return null
    }
    let write = writers.get(found)
    if (write === undefined) {
      write = isIri(found) ? typedWriter(found, options) : null
      if (writers.size < MAX_DATATYPES) writers.set(found, write)
    }
    if (write !== null) return write(texts, record, report)
    skip(report, 'invalid-datatype', record.id, found)
    return null
  }
}

const ASIS = { encode: same, emptyIsNull: true }

/** Maximum number of cached datatypes and languages. */
const MAX_DATATYPES = 1000

function typedWriter(datatype: string, { canonical }: TermOptions): TextWriter {
  const type = literalType(datatype)
  if (type === null) {
    const end = literalEnd(datatype)
    return texts => each(texts, text => `"${escapeText(text)}${end}`)
  }
  const end = literalEnd(canonical ? type.stored : datatype)
  return (texts, record, report) =>
    each(texts, text => {
      const form = type.canonical(text)
      if (form !== null) return `"${escapeText(canonical ? form : text)}${end}`
      skip(report, 'ill-typed', record.id, text)
      return null
    })
}

function languageWriter(
  language: string | readonly Segment[],
  columns: readonly MappingColumn[],
  { canonical }: TermOptions,
): TextWriter {
  const tagText = (tag: string) => (canonical ? tag.toLowerCase() : tag)
  const constant = typeof language === 'string' ? language : constantText(language)
  if (constant !== null) {
    const end = literalEnd(XSD.string, tagText(constant))
    return texts => each(texts, text => `"${escapeText(text)}${end}`)
  }
  const expand = compileTemplate(language as readonly Segment[], columns, ASIS)
  return (texts, record, report) => {
    const found = firstOf(expand(record, report))
    if (found !== null && isLanguageTag(found)) {
      const end = literalEnd(XSD.string, tagText(found))
      return each(texts, text => `"${escapeText(text)}${end}`)
    }
    skip(report, found === null ? 'null' : 'invalid-language', record.id, found ?? '')
    return null
  }
}

function firstOf(texts: ReturnType<Expander>): string | null {
  return texts === null || typeof texts === 'string' ? texts : (texts[0] ?? null)
}
