import { Fault } from '../../errors/errors.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { escapeText, literalEnd } from '../../rdf/ntriples.ts'
import { XSD } from '../../rdf/vocab.ts'
import { type MappingColumn, naturalDatatype } from '../columns.ts'
import { MAPPING_INVALID } from '../diagnostic.ts'
import { constantText, type LogicalSource, type Segment, type TermMap } from '../ir.ts'
import { escapeTemplate } from './template.ts'
import { CSVW } from './vocabulary.ts'

/** The context for writing terms. */
export interface RmlDialect {
  readonly names: PrefixedNames
  /** The name of an RML term in the vocabulary of the document: `rml:template`, `rr:template`. */
  readonly term: (name: string) => string
  readonly vocabulary: 'rml' | 'r2rml-era'
  /** The reference to a field in the file: `name`, `$.name`, `$['first name'][*]`. */
  readonly reference: (field: string) => string
  /** Name of the reference to the record's own id. */
  readonly recordId: string | undefined
  readonly columns: readonly MappingColumn[]
  readonly name: (name: string) => string
}

/** A term map as a constant in Turtle, if a shortcut property can express it; null if it needs a node. */
export function writtenConstant({ names }: RmlDialect, term: TermMap): string | null {
  if (term.type !== 'iri' && term.type !== 'literal') return null
  const text = constantText(term.segments)
  if (text === null || text === '') return term.type === 'literal' && text === '' ? '""' : null
  if (term.type === 'iri')
    return names.iri(/^[a-z][a-z0-9+.-]*:/i.test(text) ? text : (term.base ?? '') + text)
  if (typeof (term.datatype ?? '') !== 'string' || typeof (term.language ?? '') !== 'string') return null
  return names.literal(text, term.datatype as string | undefined, term.language as string | undefined)
}

/**
 * A term map as a node.
 *
 * @param isObject for object maps, whose default for a reference is a literal
 */
export function termNode(dialect: RmlDialect, term: TermMap, isObject: boolean): WrittenNode {
  const { term: name } = dialect
  const constant = writtenConstant(dialect, term)
  if (constant !== null) return [{ predicate: name('constant'), object: constant }]
  switch (term.type) {
    case 'natural':
      return naturalNode(dialect, term.field)
    case 'blank': {
      const type = { predicate: name('termType'), object: name('BlankNode') }
      return term.segments.length === 0 ? [type] : [sourcesOf(dialect, term.segments, false), type]
    }
    case 'iri': {
      const sources = sourcesOf(dialect, term.segments, term.segments.length === 1)
      const isReference = term.segments.length === 1
      if (term.encode !== undefined && term.encode !== 'iri' && !isReference)
        return [sources, { predicate: name('termType'), object: unsafeType(dialect, term.encode) }]
      return isObject && isReference
        ? [sources, { predicate: name('termType'), object: name('IRI') }]
        : [sources]
    }
    case 'literal': {
      const tag = tagOf(dialect, term)
      const isReference = term.segments.length === 1 && tag !== null
      const sources = sourcesOf(dialect, term.segments, isReference)
      return tag === null
        ? [sources, { predicate: name('termType'), object: name('Literal') }]
        : [sources, tag]
    }
  }
}

function unsafeType({ term, vocabulary }: RmlDialect, encode: 'uri' | 'none'): string {
  if (vocabulary === 'rml') return term(encode === 'uri' ? 'URI' : 'UnsafeIRI')
  throw new Fault(MAPPING_INVALID, {
    reason: 'The old vocabulary of RML has no IRIs that are escaped otherwise than usual: use the new one',
  })
}

/** A field in its own type: a type that the file does not carry is written as a datatype. */
function naturalNode(dialect: RmlDialect, field: string): WrittenNode {
  const { term, names, columns } = dialect
  const sources = sourcesOf(dialect, [{ type: 'field', name: field }], true)
  const type = columns.find(({ name }) => name === field)?.type ?? 'any'
  const datatype = type === 'any' ? XSD.string : naturalDatatype(type)
  return datatype === XSD.string
    ? [sources]
    : [sources, { predicate: term('datatype'), object: names.iri(datatype) }]
}

/** The expression of a term: a reference, or a template. */
function sourcesOf(dialect: RmlDialect, segments: readonly Segment[], isReference: boolean): WrittenProperty {
  const [first] = segments
  if (isReference && first?.type !== undefined && first.type !== 'constant')
    return {
      predicate: dialect.term('reference'),
      object: dialect.names.literal(referenceTo(dialect, first)),
    }
  const template = segments
    .map(segment =>
      segment.type === 'constant'
        ? escapeTemplate(segment.text)
        : `{${escapeTemplate(referenceTo(dialect, segment))}}`,
    )
    .join('')
  return { predicate: dialect.term('template'), object: dialect.names.literal(template) }
}

function referenceTo(dialect: RmlDialect, segment: Exclude<Segment, { readonly type: 'constant' }>): string {
  if (segment.type === 'field') return dialect.reference(segment.name)
  if (dialect.recordId !== undefined) return dialect.reference(dialect.recordId)
  throw new Fault(MAPPING_INVALID, {
    reason: 'The mapping uses the id of the record, which is no field of a file: RML cannot express it',
  })
}

function tagOf(
  dialect: RmlDialect,
  { datatype, language }: Extract<TermMap, { readonly type: 'literal' }>,
): WrittenProperty | null {
  const { names, term } = dialect
  if (typeof language === 'string') return { predicate: term('language'), object: names.literal(language) }
  if (language !== undefined)
    return { predicate: term('languageMap'), object: [sourcesOf(dialect, language, language.length === 1)] }
  if (typeof datatype === 'string') return { predicate: term('datatype'), object: names.iri(datatype) }
  if (datatype !== undefined)
    return { predicate: term('datatypeMap'), object: [sourcesOf(dialect, datatype, datatype.length === 1)] }
  return null
}

/** A logical source: a file by its path, or a table with its own dialect, described with CSVW. */
export function sourceNode(
  dialect: RmlDialect,
  { path, formulation, iterator, dialect: table }: LogicalSource,
): WrittenNode {
  const { term, names, vocabulary } = dialect
  const file = names.literal(path ?? (formulation === 'csv' ? 'data.csv' : 'data.json'))
  const relative: WrittenNode = [
    { predicate: 'a', object: term('RelativePathSource') },
    { predicate: term('root'), object: term('MappingDirectory') },
    { predicate: term('path'), object: file },
    ...(table?.nulls ?? []).map(value => ({
      predicate: term('null'),
      object: names.literal(value),
    })),
  ]
  const hasDialect = table !== undefined && Object.keys(table).some(key => key !== 'nulls')
  const source =
    vocabulary === 'rml' && !hasDialect
      ? relative
      : table !== undefined
        ? tableNode(dialect, file, table)
        : file
  return [
    { predicate: term('source'), object: source },
    { predicate: term('referenceFormulation'), object: term(formulation === 'csv' ? 'CSV' : 'JSONPath') },
    ...(iterator === null ? [] : [{ predicate: term('iterator'), object: names.literal(iterator) }]),
  ]
}

function tableNode(
  { names }: RmlDialect,
  file: string,
  table: NonNullable<LogicalSource['dialect']>,
): WrittenNode {
  const name = (local: string) => names.iri(CSVW + local)
  const text = (value: string) => names.literal(value)
  const said = [
    ['delimiter', table.delimiter === undefined ? undefined : text(table.delimiter)],
    ['quoteChar', table.quote === undefined ? undefined : text(table.quote ?? '')],
    ['encoding', table.encoding === undefined ? undefined : text(table.encoding)],
    ['commentPrefix', table.comment === undefined ? undefined : text(table.comment)],
    ['header', table.header?.toString()],
    ['trim', table.trim?.toString()],
  ] as const
  const dialect = said.flatMap(([local, object]) =>
    object === undefined ? [] : { predicate: name(local), object },
  )
  return [
    { predicate: 'a', object: name('Table') },
    { predicate: name('url'), object: file },
    ...(dialect.length === 0 ? [] : [{ predicate: name('dialect'), object: dialect }]),
    ...(table.nulls ?? []).map(value => ({ predicate: name('null'), object: text(value) })),
  ]
}

/** A property with its value: Turtle text, or a nested node. */
export interface WrittenProperty {
  readonly predicate: string
  readonly object: string | WrittenNode
}

/** The properties of a blank node. */
export type WrittenNode = readonly WrittenProperty[]

/** Maximum length of a line that is not wrapped. */
const WIDTH = 100

/** A subject with all its properties, one a line, short nodes on one line. */
export function subjectText(subject: string, node: WrittenNode): string {
  const [first, ...rest] = node.map(property => propertyText(property, 1))
  return `${subject} ${[first, ...rest.map(text => `  ${text}`)].join(' ;\n')} .\n`
}

function propertyText({ predicate, object }: WrittenProperty, depth: number): string {
  return `${predicate} ${typeof object === 'string' ? object : nodeText(object, predicate.length, depth)}`
}

function nodeText(node: WrittenNode, before: number, depth: number): string {
  const short = inOneLine(node)
  if (short !== null && short.length + before + 2 * depth <= WIDTH) return short
  const indent = '  '.repeat(depth)
  const lines = node.map(property => `${indent}  ${propertyText(property, depth + 1)}`)
  return `[\n${lines.join(' ;\n')}\n${indent}]`
}

/** A node on one line; null if it contains nodes at two levels. */
function inOneLine(node: WrittenNode): string | null {
  const parts: string[] = []
  for (const { predicate, object } of node) {
    if (typeof object !== 'string' && object.some(inner => typeof inner.object !== 'string')) return null
    parts.push(`${predicate} ${typeof object === 'string' ? object : inOneLine(object)}`)
  }
  return `[ ${parts.join(' ; ')} ]`
}

const PREFIX_NAME = /^[A-Za-z](?:[A-Za-z0-9_-]*[A-Za-z0-9])?$/
const LOCAL_NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]*)$/

/** The prefixes of a document: shortens IRIs and records which prefixes were used. */
export class PrefixedNames {
  private readonly used = new Map<string, string>()
  private readonly known: readonly (readonly [prefix: string, namespace: string])[]

  /** Of several prefixes with the same name the first is used; of several matching namespaces the longest. */
  constructor(...tables: readonly Readonly<Record<string, string>>[]) {
    const all = new Map<string, string>()
    for (const table of tables)
      for (const [prefix, namespace] of Object.entries(table))
        if (!all.has(prefix) && PREFIX_NAME.test(prefix) && isIri(namespace)) all.set(prefix, namespace)
    this.known = [...all].sort(([, a], [, b]) => b.length - a.length)
  }

  /** An IRI of the document, shortened if a prefix matches. Throws MappingInvalid for an invalid IRI. */
  iri(iri: string): string {
    for (const [prefix, namespace] of this.known) {
      if (!iri.startsWith(namespace) || !LOCAL_NAME.test(iri.slice(namespace.length))) continue
      this.used.set(prefix, namespace)
      return `${prefix}:${iri.slice(namespace.length)}`
    }
    if (!isIri(iri)) throw new Fault(MAPPING_INVALID, { reason: `${JSON.stringify(iri)} is no IRI` })
    return `<${iri}>`
  }

  /** A literal of the document. */
  literal(text: string, datatype?: string, language?: string): string {
    if (language !== undefined) return `"${escapeText(text)}${literalEnd(XSD.string, language)}`
    const end = datatype === undefined || datatype === XSD.string ? '' : `^^${this.iri(datatype)}`
    return `"${escapeText(text)}"${end}`
  }

  /** The declarations of all used prefixes, sorted by name. */
  declarations(): string {
    return [...this.used]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([prefix, namespace]) => `@prefix ${prefix}: <${namespace}> .\n`)
      .join('')
  }
}
