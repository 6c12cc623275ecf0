import { nearest } from '../../model/did-you-mean.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { isLanguageTag, isUnknownDatatype, literalType } from '../../rdf/literals.ts'
import { RDF, XSD } from '../../rdf/vocab.ts'
import type { DiagnosticCode } from '../diagnostic.ts'
import { constantText, type Segment, type TermMap } from '../ir.ts'
import { XSD_NAMES } from '../known-terms.ts'
import {
  below,
  type Location,
  type Reading,
  type Role,
  shownTerm,
  type TermContext,
  turtlePlaceOf,
} from './reading.ts'
import { checkScheme, hasScheme, referenceSegments, templateSegments } from './template.ts'
import type { DocumentNode, Property } from './turtle.ts'
import { R2RML, RML, RR_DEFAULT_GRAPH, rmlName, TERM_TYPES, type TermTypeName } from './vocabulary.ts'

/** The error for a term that is invalid in a role. */
const WRONG: Readonly<Record<Role, DiagnosticCode>> = {
  subject: 'subject-not-iri',
  predicate: 'predicate-not-iri',
  object: 'value-shape',
  graph: 'value-shape',
  datatype: 'datatype-not-iri',
  language: 'language-invalid',
}

/** Term types that a role allows (RML-Core, "Term types"). */
const ALLOWED: Readonly<Record<Role, readonly ('iri' | 'blank' | 'literal')[]>> = {
  subject: ['iri', 'blank'],
  predicate: ['iri'],
  object: ['iri', 'blank', 'literal'],
  graph: ['iri', 'blank'],
  datatype: ['iri'],
  language: ['literal'],
}

/** Reads a term map, given as a node or as the constant of a shortcut property; null if it is invalid. */
export function readTerm(context: TermContext, property: Property, shortcut: boolean): TermMap | null {
  const { reading, role, at } = context
  if (shortcut && property.object.type !== 'blank') return constantTerm(context, property)
  const node = reading.nodeOf(property.object, `${role} map`, at)
  if (node !== undefined) return readTermNode(context, node)
  const message = `The ${role} map ${shownTerm(property.object)} is not described in the document`
  return reading.report(role === 'subject' ? 'subject-missing' : 'value-shape', at, message)
}

/** Reads a term map that is a node of the document. */
export function readTermNode(context: TermContext, node: DocumentNode): TermMap | null {
  const { reading, role, at } = context
  const [first, second] = reading.values(node, 'constant', 'template', 'reference')
  const typeName = readTermType(context, node)
  if (typeName === null) return null
  if (second !== undefined)
    return reading.report(
      'key-twice',
      below(at, second),
      `${role === 'object' ? 'An' : 'A'} ${role} map has one of constant, template and reference`,
    )
  if (first === undefined) {
    if (typeName === 'BlankNode') return { type: 'blank', segments: [] }
    if (node.properties.some(({ iri }) => isUnknown(iri))) return null
    const message = `The ${role} map has no constant, template or reference`
    return reading.report(role === 'subject' ? 'subject-missing' : 'value-shape', at, message)
  }
  const tags = role === 'object' ? readTags(context, node) : {}
  if (tags === null) return null
  const here = { ...context, at: below(at, first) }
  const name = rmlName(first.iri)
  if (name === 'constant') return constantTerm(here, textAsIri(role, first, typeName), typeName, tags)
  const isTagged = tags.datatype !== undefined || tags.language !== undefined
  const byDefault =
    role === 'language' || isTagged || (role === 'object' && name === 'reference') ? 'Literal' : 'IRI'
  const type = kindOf(typeName ?? byDefault)
  if (!ALLOWED[role].includes(type))
    return reading.report(
      WRONG[role],
      at,
      `A ${role} map cannot make a term of type ${typeName ?? byDefault}`,
    )
  if (isTagged && type !== 'literal')
    return reading.report('value-shape', at, 'Only literals have a datatype or a language')
  const segments = name === 'reference' ? referenceSegments(here, first) : templateSegments(here, first, type)
  if (segments === null) return null
  if (type === 'blank') return { type, segments }
  if (type === 'literal') {
    const [only] = segments
    const isNatural = role === 'object' && !isTagged && name === 'reference' && only?.type === 'field'
    return isNatural
      ? { type: 'natural', field: only.name, place: only.place ?? turtlePlaceOf(here.at) }
      : { type, segments, ...tags }
  }
  return iriMap(here, segments, name === 'template', typeName)
}

/** True for a property of RML that was refused already, so that no second error is reported for it. */
function isUnknown(iri: string): boolean {
  const name = rmlName(iri)
  return name !== undefined && !['termType', 'class', 'graph', 'graphMap'].includes(name)
}

function kindOf(type: TermTypeName): 'iri' | 'blank' | 'literal' {
  return type === 'Literal' ? 'literal' : type === 'BlankNode' ? 'blank' : 'iri'
}

/** The declared type of a term map, undefined if it has none, null if it is invalid. */
function readTermType({ reading, at }: TermContext, node: DocumentNode): TermTypeName | undefined | null {
  const property = reading.onlyValue(node, at, 'termType')
  if (property === undefined) return undefined
  const { object } = property
  const name = object.type === 'iri' ? rmlName(object.value) : undefined
  const type = TERM_TYPES.find(known => known === name)
  if (type !== undefined) return type
  const meant = nearest(name ?? object.value, TERM_TYPES)
  return reading.report(
    'value-shape',
    below(at, property),
    `${shownTerm(object)} is no term type`,
    meant === undefined ? `Term types are ${TERM_TYPES.join(', ')}` : `Did you mean ${meant}?`,
  )
}

/** The text of an IRI is that IRI where the term can be nothing else: yarrrml-parser writes constant graphs so. */
function textAsIri(role: Role, constant: Property, typeName?: TermTypeName): Property {
  const { object } = constant
  const isNamed = typeName === undefined ? !ALLOWED[role].includes('literal') : kindOf(typeName) === 'iri'
  if (!isNamed || object.type !== 'literal' || object.datatype !== XSD.string || !isIri(object.value))
    return constant
  return { ...constant, object: { type: 'iri', value: object.value, written: object.value } }
}

/** A constant: IRI or literal (RML-Core, "Constant-valued expression maps"). */
export function constantTerm(
  { reading, role, at, base }: TermContext,
  { object }: Property,
  typeName?: TermTypeName,
  tags: Tags = {},
): TermMap | null {
  if (typeName !== undefined && kindOf(typeName) !== object.type)
    return reading.report(
      WRONG[role],
      at,
      `The constant ${shownTerm(object)} is not of the term type ${typeName}`,
    )
  if (!ALLOWED[role].includes(object.type) || object.type === 'blank') {
    const expected = role === 'language' ? 'a text' : role === 'object' ? 'an IRI or a literal' : 'an IRI'
    return reading.report(
      WRONG[role],
      at,
      `${shownTerm(object)} is no constant of a ${role} map: ${expected} is expected`,
    )
  }
  const segments: Segment[] = [{ type: 'constant', text: object.value }]
  if (object.type === 'iri') {
    const iri = object.value === `${R2RML}defaultGraph` ? RR_DEFAULT_GRAPH : absolute(object.value, base)
    if (iri.startsWith(RML) && role === 'graph' && iri !== RR_DEFAULT_GRAPH)
      reading.report('key-unknown', at, `${object.written} is no graph`, 'Did you mean rml:defaultGraph?')
    checkScheme(reading, at, object.value)
    if (isIri(iri)) return { type: 'iri', segments: [{ type: 'constant', text: iri }] }
    return reading.report(
      role === 'object' ? 'iri-invalid-char' : WRONG[role],
      at,
      `${object.written} is no absolute IRI`,
    )
  }
  if (object.language !== '') {
    if (!checkLanguage(reading, object.language, at)) return null
    return { type: 'literal', segments, language: object.language, ...tags }
  }
  if (!checkDatatype({ reading, role, at, base }, object.datatype)) return null
  const datatype = tags.datatype ?? object.datatype
  if (typeof datatype === 'string' && literalType(datatype)?.canonical(object.value) === null) {
    const message = `${shownTerm(object)} is no value of ${datatype.split(/[#/]/).at(-1)}`
    return reading.report('constant-ill-typed', at, message)
  }
  const isPlain = object.datatype === XSD.string
  return { type: 'literal', segments, ...(isPlain ? {} : { datatype: object.datatype }), ...tags }
}

/** An IRI, with the base prepended if it is relative; it is not resolved (R2RML, section 11.2). */
function absolute(iri: string, base: string | undefined): string {
  return hasScheme(iri) || base === undefined ? iri : base + iri
}

function iriMap(
  { reading, role, at, base }: TermContext,
  segments: readonly Segment[],
  isTemplate: boolean,
  typeName: TermTypeName | undefined,
): TermMap | null {
  const [first, second] = segments
  // http://{host}/ is an address too.
  if (first?.type === 'constant')
    checkScheme(reading, at, second === undefined ? first.text : `${first.text}x`)
  if (first?.type === 'constant' && base === undefined && !hasScheme(first.text)) {
    const message = `The template begins with ${JSON.stringify(first.text)} and there is no base: it makes no absolute IRI`
    reading.report(role === 'object' ? 'looks-like-iri-without-scheme' : WRONG[role], at, message)
    if (role !== 'object') return null
  }
  const encode = typeName === 'URI' ? 'uri' : typeName?.startsWith('Unsafe') ? 'none' : undefined
  return {
    type: 'iri',
    // A template of one reference escapes its value, a reference does not: the empty text distinguishes them.
    segments: isTemplate && segments.length === 1 ? [{ type: 'constant', text: '' }, ...segments] : segments,
    ...(encode === undefined ? {} : { encode }),
    ...(base === undefined ? {} : { base }),
  }
}

interface Tags {
  readonly datatype?: string | readonly Segment[]
  readonly language?: string | readonly Segment[]
}

/** Datatype or language of an object map; null if they are invalid. */
function readTags(context: TermContext, node: DocumentNode): Tags | null {
  const { reading, at } = context
  const datatype = reading.onlyValue(node, at, 'datatype', 'datatypeMap')
  const language = reading.onlyValue(node, at, 'language', 'languageMap')
  if (datatype !== undefined && language !== undefined)
    return reading.report(
      'datatype-and-language',
      below(at, language),
      'A literal has a datatype or a language, not both',
    )
  if (datatype !== undefined)
    return datatypeTag({ ...context, role: 'datatype', at: below(at, datatype) }, datatype)
  if (language !== undefined)
    return languageTag({ ...context, role: 'language', at: below(at, language) }, language)
  return {}
}

function datatypeTag(context: TermContext, property: Property): Tags | null {
  const term = readTerm(context, property, rmlName(property.iri) === 'datatype')
  if (term?.type !== 'iri') return null
  const text = constantText(term.segments)
  if (text !== null) return checkDatatype(context, text) ? { datatype: text } : null
  const [first] = term.segments
  const relative = first?.type === 'constant' && first.text !== '' && !hasScheme(first.text)
  if (!relative || context.base === undefined) return { datatype: term.segments }
  return { datatype: [{ type: 'constant', text: context.base + first.text }, ...term.segments.slice(1)] }
}

function checkDatatype({ reading, at }: TermContext, datatype: string): boolean {
  if (datatype === RDF.langString) {
    reading.report('datatype-and-language', at, 'rdf:langString needs a language: write rml:language instead')
    return false
  }
  if (!isUnknownDatatype(datatype)) return true
  const name = datatype.slice(datatype.indexOf('#') + 1)
  const meant = nearest(name, XSD_NAMES)
  const hint = meant === undefined ? undefined : `Did you mean xsd:${meant}?`
  reading.report('datatype-unknown', at, `XML Schema has no datatype ${JSON.stringify(name)}`, hint)
  return false
}

function languageTag(context: TermContext, property: Property): Tags | null {
  const term = readTerm(context, property, rmlName(property.iri) === 'language')
  if (term?.type !== 'literal') return null
  const text = constantText(term.segments)
  if (text === null) return { language: term.segments }
  return checkLanguage(context.reading, text, context.at) ? { language: text } : null
}

/** Refuses malformed tags, and languages of more than three letters, of which none is registered. */
function checkLanguage(reading: Reading, tag: string, at: Location): boolean {
  if (isLanguageTag(tag) && /^(?:[a-z]{2,3}|[xi])(?:-|$)/i.test(tag)) return true
  const hint = 'Write a code of BCP 47 such as en, pt-BR or zh-Hant'
  reading.report('language-invalid', at, `${JSON.stringify(tag)} is no language`, hint)
  return false
}
