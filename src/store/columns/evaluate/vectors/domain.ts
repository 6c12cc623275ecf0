import { memoised } from '../../../../model/memoised.ts'
import type { Term } from '../../../../rdf/term.ts'
import { XSD } from '../../../../rdf/vocab.ts'
import { sharedUint32 } from '../../bytes.ts'
import type { Column } from '../../column.ts'
import type { Dictionary } from '../../dictionary.ts'
import { type DictionarySection, datatypeOf } from '../../dictionary-parts.ts'
import type { TermBytes } from '../../dictionary-texts.ts'
import { TRIPLE_TERM } from '../../file-layout.ts'
import type { GraphColumns } from '../../graph.ts'
import { numericKind } from '../../lexical.ts'
import { compareForOrder } from './term-order.ts'
import { literalOf, type TermValue, termValue } from './value.ts'

/** Terms by number, from 1; 0 is no term. Different numbers of one domain are different terms. */
export interface Domain {
  /** The largest number. */
  readonly size: number
  term(id: number): Term
  /** Returns the location of the text of a term; false, or no such method, where it is not stored verbatim. */
  bytes?(id: number, found: TermBytes): boolean
  value(id: number): TermValue
  /** The number of a term; 0 where the domain lacks it. */
  find(term: Term): number
  /**
   * Ranks in the order of results, by number; equal values have equal ranks; null where the numbers themselves are in that order
   * and no two values are equal.
   */
  ranks(): Uint32Array | null
}

/** The values of a column. */
export class ColumnDomain implements Domain {
  readonly size: number
  readonly graph: GraphColumns
  readonly dictionary: Dictionary
  /** A column with the dictionary. */
  readonly column: Column
  private values: (TermValue | undefined)[] = []
  private cachedRanks: Uint32Array | null | undefined

  constructor(graph: GraphColumns, column: Column) {
    this.graph = graph
    this.column = column
    this.dictionary = column.dictionary
    this.size = column.dictionary.count
  }

  term(id: number): Term {
    return this.dictionary.term(id)
  }

  bytes(id: number, found: TermBytes): boolean {
    return this.dictionary.bytes(id, found)
  }

  find(term: Term): number {
    return this.dictionary.find(term)
  }

  value(id: number): TermValue {
    const known = this.values[id]
    if (known !== undefined) return known
    const value = this.read(id)
    if (this.values.length < MAX_CACHED) this.values[id] = value
    return value
  }

  ranks(): Uint32Array | null {
    if (this.cachedRanks === undefined) this.cachedRanks = isInOrder(this.dictionary) ? null : ranksOf(this)
    return this.cachedRanks
  }

  /** Bytes in private memory are not cached indefinitely. */
  private read(id: number): TermValue {
    const { dictionary } = this
    const part = dictionary.partOf(id)
    const place = id - part.first
    if (part.kind === 'text' && part.tags === null)
      return { type: 'text', value: part.texts.get(place), language: '' }
    if (part.kind === 'number' && part.exact && part.forms === null) {
      const datatype = datatypeOf(part, place)
      const kind = numericKind(datatype) ?? 'double'
      const value = part.values[place] as number
      if (datatype === XSD.integer || datatype === XSD.double || datatype === XSD.decimal)
        return { type: 'number', kind, value }
    }
    return termValue(dictionary.term(id))
  }
}

/** Maximum number of values of a domain that are cached as objects. */
const MAX_CACHED = 100_000

/** True where codes are in the order of results, and equal values have one code. */
function isInOrder(dictionary: Dictionary): boolean {
  const kinds = dictionary.header.parts.map(({ kind }) => kind)
  if (kinds.includes('point') && kinds.includes('other')) return false
  return dictionary.parts.every(part => {
    switch (part.kind) {
      case 'number':
        return part.exact && !hasTies(part.values)
      case 'moment':
        return !hasTies(part.values)
      case 'boolean':
        return part.count === 1 || (part.count === 2 && part.values[0] !== part.values[1])
      case 'other':
        return part.datatypes.every(datatype => !COMPARED.has(datatype))
      default:
        return true
    }
  })
}

function hasTies(values: Float64Array): boolean {
  for (let at = 1; at < values.length; at++) if (values[at] === values[at - 1]) return true
  return false
}

/** Datatypes of the part `other` that have their own order. */
const COMPARED: ReadonlySet<string> = new Set([
  TRIPLE_TERM,
  XSD.dateTimeStamp,
  XSD.time,
  XSD.gYear,
  XSD.gYearMonth,
  XSD.gMonth,
  XSD.gMonthDay,
  XSD.gDay,
  XSD.duration,
  XSD.dayTimeDuration,
  XSD.yearMonthDuration,
])

/**
 * The ranks of all terms of a domain by comparison of their values.
 *
 * @param check called now and then; may throw
 */
export function ranksOf(domain: Domain, check: () => void = () => undefined): Uint32Array {
  const values: (TermValue | null)[] = [null]
  let compared = 0
  for (let id = 1; id <= domain.size; id++) {
    values.push(domain.value(id))
    if (id % COMPARED_BETWEEN_CHECKS === 0) check()
  }
  const order = Array.from(values.keys()).sort((a, b) => {
    if (++compared % COMPARED_BETWEEN_CHECKS === 0) check()
    return compareForOrder(values[a] as TermValue | null, values[b] as TermValue | null)
  })
  const ranks = sharedUint32(domain.size + 1)
  let rank = 0
  for (let at = 1; at < order.length; at++) {
    const before = order[at - 1] as number
    const next = order[at] as number
    if (compareForOrder(values[before] as TermValue | null, values[next] as TermValue | null) !== 0) rank += 1
    ranks[next] = rank
  }
  return ranks
}

/** Terms that are compared between two checks of the clock. */
export const COMPARED_BETWEEN_CHECKS = 2048

/** The IRIs and blank nodes of a graph. */
export class ResourceDomain implements Domain {
  readonly graph: GraphColumns
  readonly size: number

  constructor(graph: GraphColumns) {
    this.graph = graph
    this.size = graph.resources.count
  }

  term(id: number): Term {
    return this.graph.resources.term(id)
  }

  bytes(id: number, found: TermBytes): boolean {
    this.graph.resources.bytes(id, found)
    return true
  }

  value(id: number): TermValue {
    return termValue(this.term(id))
  }

  find(term: Term): number {
    return this.graph.resources.findTerm(term)
  }

  ranks(): null {
    return null
  }
}

/** The subjects of a graph, numbered from 1 in their own order. */
export class SubjectDomain implements Domain {
  readonly graph: GraphColumns
  readonly size: number

  constructor(graph: GraphColumns) {
    this.graph = graph
    this.size = graph.subjects
  }

  term(id: number): Term {
    return this.graph.subjectTerm(id - 1)
  }

  bytes(id: number, found: TermBytes): boolean {
    this.graph.resources.bytes(this.graph.subjectResources[id - 1] as number, found)
    return true
  }

  value(id: number): TermValue {
    return termValue(this.term(id))
  }

  find(term: Term): number {
    return this.graph.subjectOf(term) + 1
  }

  ranks(): Uint32Array {
    return this.graph.derived.numbers('subject ranks', () => {
      const ranks = sharedUint32(this.size + 1)
      ranks.set(this.graph.subjectResources, 1)
      return ranks
    })
  }
}

/** The numbers of the subjects as xsd:integer, from 0: source order. */
export class PositionDomain implements Domain {
  readonly size: number

  constructor(size: number) {
    this.size = size
  }

  term(id: number): Term {
    return literalOf(String(id - 1), XSD.integer)
  }

  value(id: number): TermValue {
    return { type: 'number', kind: 'integer', value: id - 1 }
  }

  find(term: Term): number {
    if (term.type !== 'literal' || term.datatype !== XSD.integer || !/^(?:0|[1-9]\d{0,14})$/.test(term.value))
      return 0
    const id = Number(term.value) + 1
    return id <= this.size ? id : 0
  }

  ranks(): null {
    return null
  }
}

/** The domains of a graph, each created once. */
export class GraphDomains {
  readonly graph: GraphColumns
  readonly resources: ResourceDomain
  readonly subjects: SubjectDomain
  readonly positions: PositionDomain
  private readonly columns = new Map<Dictionary, ColumnDomain>()

  constructor(graph: GraphColumns) {
    this.graph = graph
    this.resources = new ResourceDomain(graph)
    this.subjects = new SubjectDomain(graph)
    this.positions = new PositionDomain(graph.subjects)
  }

  of(column: Column): ColumnDomain {
    return memoised(this.columns, column.dictionary, () => new ColumnDomain(this.graph, column))
  }
}

/** The single part of the values of a domain, if it is a column with only one part. */
export function onlyPartOf(domain: Domain): DictionarySection | null {
  return domain instanceof ColumnDomain ? domain.dictionary.onlyPart() : null
}
