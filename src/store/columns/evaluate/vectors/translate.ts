import { memoised } from '../../../../model/memoised.ts'
import type { Term } from '../../../../rdf/term.ts'
import type { ResourcePart } from '../../dictionary-parts.ts'
import { lowerBound } from '../../dictionary-texts.ts'
import type { Resources } from '../../resources.ts'
import { domainsOf, type Evaluation } from '../evaluation.ts'
import { ColumnDomain, type Domain, PositionDomain, ResourceDomain, SubjectDomain } from './domain.ts'
import { PairMap } from './pair-map.ts'
import { PoolDomain } from './pool-domain.ts'
import { scratchUint32 } from './scratch.ts'
import { gathered, type IdVector, termAt, type Vector } from './vector.ts'

/** The number in the other domain has not been looked up yet. */
const UNKNOWN = 0xffff_ffff

/** Cache of the numbers of one domain's terms in another. */
interface KnownNumbers {
  /** By number; {@link UNKNOWN} for those that have not been looked up. */
  readonly numbers: Uint32Array
  looks: number
}

const TABLES = new WeakMap<Domain, WeakMap<Domain, KnownNumbers>>()

/** Translates between domains that have no term in common. */
const NOTHING = (): number => 0

/**
 * Translates numbers of terms of one domain to those in another, 0 for terms that it lacks. Numbers are looked up on first use;
 * between domains of graphs they are cached as long as these.
 */
export function codeTranslator(from: Domain, to: Domain): (id: number) => number {
  if (from === to) return id => id
  const direct = directTranslation(from, to)
  if (direct !== null) return direct
  if (from instanceof PoolDomain || from instanceof PositionDomain || to instanceof PoolDomain)
    return id => (id === 0 ? 0 : to.find(from.term(id)))
  const known = knownNumbers(from, to)
  if (from instanceof ResourceDomain && to instanceof ResourceDomain)
    return resourceTranslator(from.graph.resources, to.graph.resources, known)
  const { numbers } = known
  return id => {
    const before = numbers[id] as number
    if (before !== UNKNOWN) return before
    const number = to.find(from.term(id))
    numbers[id] = number
    return number
  }
}

function knownNumbers(from: Domain, to: Domain): KnownNumbers {
  const tables = memoised(TABLES, from, () => new WeakMap<Domain, KnownNumbers>())
  return memoised(tables, to, () => {
    const numbers = new Uint32Array(from.size + 1).fill(UNKNOWN)
    numbers[0] = 0
    return { numbers, looks: 0 }
  })
}

/** Maximum number of resources of two graphs that are all compared at once. */
const COMPARED = 2 ** 21

/** Cost of one look-up of a resource, in resources that are compared sequentially. */
const LOOKUP_COST = 16

/** Translates resources of graphs: looks each up, or compares all once that costs less. */
function resourceTranslator(from: Resources, to: Resources, known: KnownNumbers): (id: number) => number {
  const { numbers } = known
  const all = from.count + to.count
  return id => {
    const before = numbers[id] as number
    if (before !== UNKNOWN) return before
    known.looks += 1
    if (known.looks * LOOKUP_COST > all && all <= COMPARED) {
      numbers.set(from.numbersIn(to))
      return numbers[id] as number
    }
    const number = from.numberIn(to, id)
    numbers[id] = number
    return number
  }
}

/** Translation within a graph, by its arrays. */
function directTranslation(from: Domain, to: Domain): ((id: number) => number) | null {
  if (from instanceof SubjectDomain) {
    if (to instanceof ResourceDomain && to.graph === from.graph) {
      const resources = from.graph.subjectResources
      return id => (id === 0 ? 0 : (resources[id - 1] as number))
    }
    const toResource = codeTranslator(from, domainsOf(from.graph).resources)
    return after(toResource, domainsOf(from.graph).resources, to)
  }
  if (from instanceof ColumnDomain) {
    const areResources = to instanceof SubjectDomain || to instanceof ResourceDomain
    // Other literals in the dictionary may be values of another column, but are not resources of another graph.
    if (!areResources && from.dictionary.onlyPart()?.kind !== 'resource') return null
    const part = from.dictionary.parts.find((each): each is ResourcePart => each.kind === 'resource')
    if (part === undefined) return NOTHING
    const { ids, first } = part
    const end = first + part.count
    const resources = domainsOf(from.graph).resources
    const toResource = (id: number) => (id < first || id >= end ? 0 : (ids[id - first] as number))
    return to === resources ? toResource : after(toResource, resources, to)
  }
  if (!(from instanceof ResourceDomain)) return null
  if (to instanceof SubjectDomain) {
    if (to.graph === from.graph) {
      const subjects = from.graph.resourceSubjects
      return id => (id === 0 ? 0 : (subjects[id] as number))
    }
    return after(codeTranslator(from, domainsOf(to.graph).resources), domainsOf(to.graph).resources, to)
  }
  if (to instanceof ResourceDomain) {
    const [own, other] = [from.graph.resources, to.graph.resources]
    return own.overlaps(other) ? null : NOTHING
  }
  if (to instanceof ColumnDomain) {
    const own = domainsOf(to.graph).resources
    const part = to.dictionary.parts.find((each): each is ResourcePart => each.kind === 'resource')
    if (part === undefined) return NOTHING
    const find = (resource: number) => {
      if (resource === 0) return 0
      const place = lowerBound(part.ids, resource)
      return part.ids[place] === resource ? part.first + place : 0
    }
    if (own === from) return find
    const toOwn = codeTranslator(from, own)
    return toOwn === NOTHING ? NOTHING : id => find(toOwn(id))
  }
  return null
}

function after(first: (id: number) => number, between: Domain, to: Domain): (id: number) => number {
  if (between === to || first === NOTHING) return first
  const second = codeTranslator(between, to)
  return second === NOTHING ? NOTHING : id => second(first(id))
}

/** With at least this many times as many rows as terms, each term is translated once. */
const MANY_ROWS = 4

/** The numbers of all terms of a domain in another. */
function allTranslated(size: number, translate: (id: number) => number): Uint32Array {
  const numbers = new Uint32Array(size + 1)
  for (let id = 1; id <= size; id++) numbers[id] = translate(id)
  return numbers
}

/** The numbers of a vector's terms in another domain; 0 for none. Computed numbers are looked up as terms. */
export function translated(vector: Vector, to: Domain, size: number): Uint32Array {
  if (vector.type === 'constant')
    return new Uint32Array(size).fill(vector.id === 0 ? 0 : codeTranslator(vector.domain, to)(vector.id))
  if (vector.type === 'numbers') {
    const table = new Uint32Array(size)
    for (let row = 0; row < size; row++) {
      const term = termAt(vector, row)
      table[row] = term === null ? 0 : to.find(term)
    }
    return table
  }
  const { domain, ids } = vector
  if (domain === to) return ids
  const translate = codeTranslator(domain, to)
  if (MANY_ROWS * domain.size < size) return gathered(allTranslated(domain.size, translate), ids)
  const table = new Uint32Array(size)
  if (translate !== NOTHING) for (let row = 0; row < size; row++) table[row] = translate(ids[row] as number)
  return table
}

/** The numbers of a vector's terms in the pool of a query, where all of them are interned. */
export function pooledIds(vector: Vector, size: number, evaluation: Evaluation): Uint32Array {
  const { pool } = evaluation
  if (vector.type === 'numbers') return pool.internNumbers(vector, size)
  if (vector.type === 'constant')
    return new Uint32Array(size).fill(vector.id === 0 ? 0 : pool.internOf(vector.domain, vector.id))
  const { domain, ids } = vector
  if (domain === pool) return ids
  const table = scratchUint32(size)
  const known = evaluation.memo('pool', POOLED, domain, () => new PooledNumbers(domain, evaluation))
  for (let row = 0; row < size; row++) table[row] = known.of(ids[row] as number)
  return table
}

/** Maximum number of terms of a domain for which an array of all their pool numbers is created. */
const FEW_TERMS = 2 ** 20

/** Terms between two checks of the clock. */
const TERMS_BETWEEN_CHECKS = 1024

/** The pool numbers of a domain's terms: each term is read once. */
class PooledNumbers {
  private readonly domain: Domain
  private readonly evaluation: Evaluation
  private dense: Uint32Array | null = null
  private readonly sparse: PairMap
  private computed = 0

  constructor(domain: Domain, evaluation: Evaluation) {
    this.domain = domain
    this.evaluation = evaluation
    this.sparse = new PairMap(bytes => evaluation.allocate(bytes))
    if (domain.size >= FEW_TERMS) return
    evaluation.allocate(4 * domain.size)
    this.dense = new Uint32Array(domain.size + 1)
  }

  /** The number of a term; 0 for none. */
  of(id: number): number {
    const { dense } = this
    if (id === 0) return 0
    const known = dense !== null && id < dense.length ? (dense[id] as number) : this.sparse.get(0, id)
    if (known > 0) return known
    const number = this.evaluation.pool.internOf(this.domain, id)
    if (dense !== null && id < dense.length) dense[id] = number
    else this.sparse.add(0, id, number)
    if (++this.computed % TERMS_BETWEEN_CHECKS === 0) this.evaluation.check()
    return number
  }
}

/** Expression under which the pool numbers are cached. */
const POOLED = { type: 'variable', name: 'pool' } as const

/** A vector as numbers of terms: computed numbers are interned in the pool. */
export function identified(vector: Vector, size: number, evaluation: Evaluation): IdVector {
  if (vector.type === 'ids') return vector
  if (vector.type === 'constant')
    return { type: 'ids', domain: vector.domain, ids: new Uint32Array(size).fill(vector.id) }
  return { type: 'ids', domain: evaluation.pool, ids: pooledIds(vector, size, evaluation) }
}

/** One term for all rows, as a vector. */
export function constantVector(term: Term, { pool }: Evaluation): Vector {
  return { type: 'constant', domain: pool, id: pool.intern(term) }
}
