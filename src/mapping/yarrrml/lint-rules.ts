import { nearName } from '../../model/did-you-mean.ts'
import { lookup } from '../../model/lookup.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { INITIAL_CONTEXT } from '../../rdf/prefixes.ts'
import { RDF } from '../../rdf/vocab.ts'
import { constantIri, type MappingPlace, type ResourceRule, type StatementRule, type TermMap } from '../ir.ts'
import { KNOWN_NAMESPACES, knownTerms, namespaceOf, nearNamespace, SCHEMA_TERMS } from '../known-terms.ts'
import type { Context } from './context.ts'
import { childPath } from './keys.ts'
import { quoted, type YamlEntry } from './node.ts'

const LONG = 200
const PLACES = ['place', 'predicatePlace', 'objectPlace', 'markPlace']

/** Reports declared prefixes that are probably mistakes; call it after everything else was read. */
export function reportPrefixes(context: Context, prefixes: YamlEntry | undefined): void {
  if (prefixes?.value.type !== 'map') return
  for (const entry of prefixes.value.entries) reportPrefix(context, entry)
}

/** Reports what is allowed but probably a mistake: in subjects, statements and the names of vocabularies. */
export function reportLintRules(context: Context, resources: readonly ResourceRule[]): void {
  const described = new Set<readonly StatementRule[]>()
  for (const resource of resources) {
    reportSubject(context, resource)
    // Further subjects of one mapping share its statements.
    if (described.has(resource.statements)) continue
    described.add(resource.statements)
    const known = new Map<string, StatementRule>()
    for (const statement of resource.statements) {
      reportDuplicate(context, statement, known)
      reportTerms(context, statement)
    }
  }
}

function reportPrefix({ report, usedPrefixes }: Context, { key, value }: YamlEntry): void {
  if (value.type !== 'text') return
  const _path = childPath('prefixes', key.text)
  const name = key.text.replace(/:$/, '')
  const iri = value.text.replace(/^<(.*)>$/, '$1')
  const known = lookup(INITIAL_CONTEXT, name)
  if (!usedPrefixes.has(name))
    report('prefix-unused', key, `the prefix ${quoted(name)} is declared and not used`)
  if (isIri(iri) && !/[/#:?=&_-]$/.test(iri))
    report(
      'prefix-without-separator',
      value,
      `the namespace of ${quoted(name)} ends in neither / nor #: ${quoted(`${name}:name`)} becomes ${quoted(`${iri}name`)}`,
    )
  const other = otherScheme(iri)
  const near = KNOWN_NAMESPACES.includes(iri) ? undefined : nearNamespace(iri)
  if (other !== undefined) report('http-vs-https', value, `the vocabulary is written ${quoted(other)}`)
  else if (known !== undefined && known !== iri) {
    const found = `the prefix ${quoted(name)} usually stands for ${quoted(known)}, here for ${quoted(iri)}`
    report('prefix-redefines-default', value, found)
  } else if (near !== undefined)
    report('term-unknown', value, `${quoted(iri)} is not known, ${quoted(near)} is near`)
}

/** The same namespace with the other scheme of http and https, if only that one is known. */
function otherScheme(namespace: string): string | undefined {
  const other = namespace.startsWith('https:')
    ? `http:${namespace.slice(6)}`
    : namespace.replace(/^http:/, 'https:')
  return !KNOWN_NAMESPACES.includes(namespace) && KNOWN_NAMESPACES.includes(other) ? other : undefined
}

function reportSubject(
  { reportAt }: Context,
  { key, subject, statements, subjectPlace }: ResourceRule,
): void {
  if (subjectPlace === undefined || subject.type !== 'iri') return
  const constant = subject.segments.every(({ type }) => type === 'constant')
  if (constant && statements.some(({ object }) => object.type === 'link' || !isConstant(object)))
    reportAt(
      'subject-constant',
      subjectPlace,
      `the subject of ${quoted(key)} has no reference: all records become one resource`,
      'Put a field that identifies the records into it: …/$(field).',
    )
  const length = subject.segments.reduce(
    (sum, part) => sum + (part.type === 'constant' ? part.text.length : 0),
    0,
  )
  if (length > LONG)
    reportAt('long-iri', subjectPlace, `the subject of ${quoted(key)} has more than ${LONG} characters`)
}

function isConstant(term: TermMap): boolean {
  return term.type !== 'natural' && term.segments.every(({ type }) => type === 'constant')
}

function reportDuplicate(
  { reportAt }: Context,
  statement: StatementRule,
  known: Map<string, StatementRule>,
): void {
  const { predicate, object, graphs, inverse } = statement
  const text = JSON.stringify([predicate, object, graphs, inverse], (key, value) =>
    PLACES.includes(key) ? undefined : value,
  )
  const before = known.get(text)
  if (before === undefined) known.set(text, statement)
  else if (statement.objectPlace !== undefined)
    reportAt(
      'duplicate-rule',
      statement.objectPlace,
      `the statement is there twice, first in line ${before.objectPlace?.line}`,
    )
}

/** Checks names against the known vocabularies. */
function reportTerms(context: Context, statement: StatementRule): void {
  const { predicate, object, inverse, predicatePlace, objectPlace } = statement
  if (predicatePlace === undefined || objectPlace === undefined) return
  const property = constantIri(predicate)
  if (property !== null) reportTerm(context, property, predicatePlace)
  const named =
    object.type === 'iri' && property === RDF.type && inverse !== true ? constantIri(object) : null
  if (named !== null) reportTerm(context, named, objectPlace)
  if (
    named !== null &&
    /^[a-z]/.test(named.slice(namespaceOf(named).length)) &&
    KNOWN_NAMESPACES.includes(namespaceOf(named))
  )
    context.reportAt(
      'term-unknown',
      objectPlace,
      `${quoted(named)} is no class: classes begin with a capital letter`,
    )
}

function reportTerm({ reportAt, declared, prefixes }: Context, iri: string, place: MappingPlace): void {
  const namespace = namespaceOf(iri)
  const name = iri.slice(namespace.length)
  // A namespace that the document declares was already reported at its declaration.
  const own = [...declared].some(prefix => prefixes.get(prefix) === namespace)
  const other = own ? undefined : otherScheme(namespace)
  if (other !== undefined) {
    reportAt('http-vs-https', place, `the vocabulary of ${quoted(iri)} is written ${quoted(other)}`)
    return
  }
  const near = own || KNOWN_NAMESPACES.includes(namespace) ? undefined : nearNamespace(namespace)
  if (near !== undefined) {
    reportAt('term-unknown', place, `${quoted(namespace)} is not known, ${quoted(near)} is near`)
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
  reportAt(
    'term-unknown',
    place,
    schema
      ? `${quoted(name)} is no common term of schema.org`
      : `the vocabulary ${quoted(namespace)} has no term ${quoted(name)}`,
    close === undefined ? undefined : `Did you mean ${close}?`,
  )
}

/** True for a name of at least four letters with one letter wrong, missing or added, or two letters swapped. */
function isTypo(name: string, term: string): boolean {
  if (name.length < 4 || Math.abs(name.length - term.length) > 1) return false
  if (name.toLowerCase() === term.toLowerCase()) return true
  // A plural is a different word.
  if (name === `${term}s` || term === `${name}s`) return false
  let head = 0
  while (head < name.length && name[head] === term[head]) head++
  const rest = name.slice(head)
  const required = term.slice(head)
  if (rest.slice(1) === required || rest === required.slice(1) || rest.slice(1) === required.slice(1))
    return true
  return rest[0] === required[1] && rest[1] === required[0] && rest.slice(2) === required.slice(2)
}
