import { Fault, UNPROCESSABLE_ENTITY } from '../errors/errors.ts'
import { memoised } from '../model/memoised.ts'
import type { Triple } from '../rdf/ntriples-reader.ts'
import type { Term } from '../rdf/term.ts'
import { RDF, XSD } from '../rdf/vocab.ts'
import type { Prefixes } from './turtle.ts'

/** Term names and their predicates. */
export type Terms = readonly (readonly [name: string, iri: string])[]

/** The names of predicates in a document. */
export interface TermNames {
  /** At most one name a predicate, without colon. */
  readonly terms?: Terms
  readonly prefixes?: Prefixes
}

/** JSON objects as ordered members: keys may be `__proto__` or numbers. */
export type Members = readonly (readonly [key: string, value: unknown])[]

/** IRIs with such an ending can be prefixes without an explicit declaration (JSON-LD 1.1 API, section 4.2.2, step 14.2.5). */
const ENDS_AS_PREFIX = /[:/?#[\]@]$/

const MAX_CACHED = 10_000

/** A key, and its prefix; empty for none. */
interface Key {
  readonly key: string
  readonly prefix: string
}

/** The context of a document (W3C JSON-LD 1.1, section 3.1), and the keys that it defines for predicates. */
export class JsonldContext {
  /**
   * Definitions of terms and prefixes. No term has the form of a compact IRI, and no prefix is the scheme of an IRI that is
   * defined here.
   */
  readonly members: Members
  private readonly namespaces: readonly (readonly [prefix: string, namespace: string])[]
  private readonly prefixes: ReadonlySet<string>
  private readonly keys: Map<string, Key>

  constructor({ terms = [], prefixes = {} }: TermNames) {
    const all = Object.entries(prefixes)
    const taken = new Set([...terms, ...all].map(([, iri]) => schemeOf(iri)))
    for (const [name] of terms) taken.add(name)
    const spaces = all.filter(([prefix]) => !taken.has(prefix))
    this.keys = new Map(terms.map(([name, iri]) => [iri, { key: name, prefix: '' }]))
    this.prefixes = new Set(spaces.map(([prefix]) => prefix))
    this.namespaces = spaces.toSorted(([, a], [, b]) => b.length - a.length)
    this.members = [
      ...spaces.map(
        ([prefix, iri]) => [prefix, isPrefix(iri) ? iri : { '@id': iri, '@prefix': true }] as const,
      ),
      ...terms.map(([name, iri]) => [name, isPrefix(iri) ? { '@id': iri } : iri] as const),
    ]
  }

  /** The key of a predicate: its term, a compact IRI with its prefix, or the IRI. */
  keyOf(predicate: string): Key {
    let known = this.keys.get(predicate)
    if (known === undefined) {
      known = this.compact(predicate)
      if (this.keys.size < MAX_CACHED) this.keys.set(predicate, known)
    }
    return known
  }

  /** The prefix that a parser would find in an unabbreviated IRI: `geo` in `geo:48.5,2.2`; null for none. */
  prefixIn(iri: string): string | null {
    const scheme = schemeOf(iri)
    return scheme !== null && this.prefixes.has(scheme) ? scheme : null
  }

  private compact(predicate: string): Key {
    for (const [prefix, namespace] of this.namespaces) {
      const local = predicate.slice(namespace.length)
      if (predicate.startsWith(namespace) && local !== '' && !local.startsWith('//'))
        return { key: `${prefix}:${local}`, prefix }
    }
    return { key: predicate, prefix: '' }
  }
}

/** The prefixes that shorten at least one of these predicates. */
export function neededPrefixes(prefixes: Prefixes, predicates: Iterable<string>): Prefixes {
  const context = new JsonldContext({ prefixes })
  const needed = new Set(Array.from(predicates, predicate => context.keyOf(predicate).prefix))
  return Object.fromEntries(Object.entries(prefixes).filter(([prefix]) => needed.has(prefix)))
}

/** The text before the colon of an IRI that could be a prefix: not before `//`. */
function schemeOf(iri: string): string | null {
  const colon = iri.indexOf(':')
  return colon < 0 || iri.startsWith('//', colon + 1) ? null : iri.slice(0, colon)
}

function isPrefix(iri: string): boolean {
  return ENDS_AS_PREFIX.test(iri)
}

/** The triples of one subject. */
export class JsonldNode {
  readonly id: string
  private readonly context: JsonldContext
  private readonly values = new Map<string, unknown[]>()
  /** Prefixes that are also schemes of IRIs of this node: in this node they are not used as prefixes. */
  private readonly schemes = new Set<string>()

  constructor(id: string, context: JsonldContext) {
    this.id = id
    this.context = context
    this.note(id)
  }

  add({ predicate, object }: Triple): void {
    const isType = predicate.value === RDF.type && object.type !== 'literal'
    const key = isType ? '@type' : predicate.value
    const value = isType ? idOf(object) : this.valueOf(object)
    this.note(predicate.value)
    if (isType) this.note(object.value)
    memoised(this.values, key, () => []).push(value)
  }

  members(): Members {
    const { schemes } = this
    const own = schemes.size === 0 ? [] : [['@context', withoutMeaning(schemes)] as const]
    const values = Array.from(
      this.values,
      ([key, all]) => [key === '@type' ? key : this.keyOf(key), all.length === 1 ? all[0] : all] as const,
    )
    return [...own, ['@id', this.id], ...values]
  }

  private keyOf(predicate: string): string {
    const { key, prefix } = this.context.keyOf(predicate)
    return this.schemes.has(prefix) ? predicate : key
  }

  /** A plain JSON value only if it represents exactly this literal (JSON-LD 1.1 API, section 8.2.2). */
  private valueOf(term: Term): unknown {
    if (term.type !== 'literal') this.note(term.value)
    if (term.type !== 'literal' || term.language !== '') return expandedValue(term)
    const { value, datatype } = term
    if (datatype === XSD.string) return value
    if (datatype === XSD.boolean && (value === 'true' || value === 'false')) return value === 'true'
    if (datatype === XSD.integer && /^(?:0|-?[1-9]\d{0,14})$/.test(value)) return Number(value)
    this.note(datatype)
    return expandedValue(term)
  }

  private note(iri: string): void {
    const prefix = this.context.prefixIn(iri)
    if (prefix !== null) this.schemes.add(prefix)
  }
}

/** The value of `@id` or `@type` for an IRI or a blank node. Faults: UnprocessableEntity for a triple term. */
export function idOf(term: Exclude<Term, { type: 'literal' }>): string {
  if (term.type === 'triple') throw noTripleTerms()
  return term.type === 'blank' ? `_:${term.value}` : term.value
}

/** A term as a value in expanded form (JSON-LD 1.1 API, section 5.1). Faults: UnprocessableEntity for a triple term. */
export function expandedValue(term: Term): unknown {
  if (term.type !== 'literal') return { '@id': idOf(term) }
  const { value, datatype, language } = term
  if (language === '')
    return datatype === XSD.string ? { '@value': value } : { '@value': value, '@type': datatype }
  const [tag, direction] = language.split('--')
  const more = direction === undefined ? {} : { '@direction': direction }
  return { '@value': value, '@language': tag, ...more }
}

/** JSON-LD 1.1 and N3 cannot represent the triple terms of RDF 1.2. */
export function noTripleTerms(format: 'JSON-LD' | 'N3' = 'JSON-LD'): Fault {
  return new Fault(UNPROCESSABLE_ENTITY, {
    reason: `A triple term (RDF 1.2) cannot be written in ${format}. Ask for turtle instead.`,
  })
}

function withoutMeaning(prefixes: ReadonlySet<string>): Readonly<Record<string, null>> {
  return Object.fromEntries(Array.from(prefixes, prefix => [prefix, null]))
}
