import { lookup } from '../../model/lookup.ts'
import { INITIAL_CONTEXT } from '../../rdf/initial-context.ts'
import { isIri } from '../../rdf/iri.ts'
import { RDF } from '../../rdf/vocab.ts'
import type { MappingPlace, ResourceRule, StatementRule, TermMap } from '../ir.ts'
import { KNOWN_NAMESPACES, knownTerms, namespaceOf, nearNamespace, SCHEMA_TERMS } from '../known-terms.ts'
import { nearName } from '../near.ts'
import { constantIri } from '../vocabulary.ts'
import type { Context } from './context.ts'
import { childPath } from './keys.ts'
import { quoted, type YamlEntry } from './node.ts'

const LONG = 200
const PLACES = ['place', 'predicatePlace', 'objectPlace', 'markPlace']

/** Tells what is hardly ever meant of declared prefixes; call it when all else was read. */
export function tellPrefixes(context: Context, prefixes: YamlEntry | undefined): void {
  if (prefixes?.value.type !== 'map') return
  for (const entry of prefixes.value.entries) tellPrefix(context, entry)
}

/** Tells what is allowed and hardly ever meant: of subjects, statements and the names of vocabularies. */
export function tellHabits(context: Context, resources: readonly ResourceRule[]): void {
  const told = new Set<readonly StatementRule[]>()
  for (const resource of resources) {
    tellSubject(context, resource)
    // Further subjects of one mapping have its statements.
    if (told.has(resource.statements)) continue
    told.add(resource.statements)
    const seen = new Map<string, StatementRule>()
    for (const statement of resource.statements) {
      tellDuplicate(context, statement, seen)
      tellTerms(context, statement)
    }
  }
}

function tellPrefix({ notes, usedPrefixes }: Context, { key, value }: YamlEntry): void {
  if (value.type !== 'text') return
  const path = childPath('prefixes', key.text)
  const name = key.text.replace(/:$/, '')
  const iri = value.text.replace(/^<(.*)>$/, '$1')
  const known = lookup(INITIAL_CONTEXT, name)
  if (!usedPrefixes.has(name))
    notes.tell('prefix-unused', key.span, path, `the prefix ${quoted(name)} is declared and not used`)
  if (isIri(iri) && !/[/#:?=&_-]$/.test(iri))
    notes.tell(
      'prefix-without-separator',
      value.span,
      path,
      `the namespace of ${quoted(name)} ends in neither / nor #: ${quoted(`${name}:name`)} becomes ${quoted(`${iri}name`)}`,
    )
  const other = otherScheme(iri)
  const near = KNOWN_NAMESPACES.includes(iri) ? undefined : nearNamespace(iri)
  if (other !== undefined)
    notes.tell('http-vs-https', value.span, path, `the vocabulary is written ${quoted(other)}`)
  else if (known !== undefined && known !== iri) {
    const found = `the prefix ${quoted(name)} usually stands for ${quoted(known)}, here for ${quoted(iri)}`
    notes.tell('prefix-redefines-default', value.span, path, found)
  } else if (near !== undefined)
    notes.tell('term-unknown', value.span, path, `${quoted(iri)} is not known, ${quoted(near)} is near`)
}

/** The same namespace with the other of http and https, where only that is known. */
function otherScheme(namespace: string): string | undefined {
  const other = namespace.startsWith('https:')
    ? `http:${namespace.slice(6)}`
    : namespace.replace(/^http:/, 'https:')
  return !KNOWN_NAMESPACES.includes(namespace) && KNOWN_NAMESPACES.includes(other) ? other : undefined
}

function tellSubject({ notes }: Context, { key, subject, statements, subjectPlace }: ResourceRule): void {
  if (subjectPlace === undefined || subject.type !== 'iri') return
  const path = subjectPlace.path
  const constant = subject.segments.every(({ type }) => type === 'constant')
  if (constant && statements.some(({ object }) => object.type === 'link' || !isConstant(object)))
    notes.tellAt(
      'subject-constant',
      subjectPlace,
      `the subject of ${quoted(key)} has no reference: all records become one resource`,
      'Put a field that tells the records apart into it: …/$(field).',
    )
  const length = subject.segments.reduce(
    (sum, part) => sum + (part.type === 'constant' ? part.text.length : 0),
    0,
  )
  if (length > LONG)
    notes.tellAt(
      'long-iri',
      { ...subjectPlace, path },
      `the subject of ${quoted(key)} has more than ${LONG} characters`,
    )
}

function isConstant(term: TermMap): boolean {
  return term.type !== 'natural' && term.segments.every(({ type }) => type === 'constant')
}

function tellDuplicate({ notes }: Context, statement: StatementRule, seen: Map<string, StatementRule>): void {
  const { predicate, object, graphs, inverse } = statement
  const text = JSON.stringify([predicate, object, graphs, inverse], (key, value) =>
    PLACES.includes(key) ? undefined : value,
  )
  const before = seen.get(text)
  if (before === undefined) seen.set(text, statement)
  else if (statement.objectPlace !== undefined)
    notes.tellAt(
      'duplicate-rule',
      statement.objectPlace,
      `the statement is there twice, first in line ${before.objectPlace?.line}`,
    )
}

/** Checks names against the vocabularies that are known. */
function tellTerms(context: Context, statement: StatementRule): void {
  const { predicate, object, inverse, predicatePlace, objectPlace } = statement
  if (predicatePlace === undefined || objectPlace === undefined) return
  const property = constantIri(predicate)
  if (property !== null) tellTerm(context, property, predicatePlace)
  const named =
    object.type === 'iri' && property === RDF.type && inverse !== true ? constantIri(object) : null
  if (named !== null) tellTerm(context, named, objectPlace)
  if (
    named !== null &&
    /^[a-z]/.test(named.slice(namespaceOf(named).length)) &&
    KNOWN_NAMESPACES.includes(namespaceOf(named))
  )
    context.notes.tellAt(
      'term-unknown',
      objectPlace,
      `${quoted(named)} is no class: classes begin with a capital letter`,
    )
}

function tellTerm({ notes, declared, prefixes }: Context, iri: string, place: MappingPlace): void {
  const namespace = namespaceOf(iri)
  const name = iri.slice(namespace.length)
  // A namespace that the document declares was told there.
  const own = [...declared].some(prefix => prefixes.get(prefix) === namespace)
  const other = own ? undefined : otherScheme(namespace)
  if (other !== undefined) {
    notes.tellAt('http-vs-https', place, `the vocabulary of ${quoted(iri)} is written ${quoted(other)}`)
    return
  }
  const near = own || KNOWN_NAMESPACES.includes(namespace) ? undefined : nearNamespace(namespace)
  if (near !== undefined) {
    notes.tellAt('term-unknown', place, `${quoted(namespace)} is not known, ${quoted(near)} is near`)
    return
  }
  const terms = knownTerms(namespace)
  const schema = namespace === INITIAL_CONTEXT.schema
  if (terms === undefined && !schema) return
  if ((terms ?? SCHEMA_TERMS).includes(name)) return
  if (namespace === INITIAL_CONTEXT.rdf && /^_\d+$/.test(name)) return
  const close = nearName(
    name,
    (terms ?? SCHEMA_TERMS).filter(term => (schema ? isTypo(name, term) : true)),
  )
  if (terms === undefined && close === undefined) return
  notes.tellAt(
    'term-unknown',
    place,
    schema
      ? `${quoted(name)} is no common term of schema.org`
      : `the vocabulary ${quoted(namespace)} has no term ${quoted(name)}`,
    close === undefined ? undefined : `Did you mean ${close}?`,
  )
}

/** True for a name of at least four letters in which one letter is wrong, missing, too many, or two are swapped. */
function isTypo(name: string, term: string): boolean {
  if (name.length < 4 || Math.abs(name.length - term.length) > 1) return false
  if (name.toLowerCase() === term.toLowerCase()) return true
  // A plural is a word of its own.
  if (name === `${term}s` || term === `${name}s`) return false
  let head = 0
  while (head < name.length && name[head] === term[head]) head++
  const rest = name.slice(head)
  const wanted = term.slice(head)
  if (rest.slice(1) === wanted || rest === wanted.slice(1) || rest.slice(1) === wanted.slice(1)) return true
  return rest[0] === wanted[1] && rest[1] === wanted[0] && rest.slice(2) === wanted.slice(2)
}
