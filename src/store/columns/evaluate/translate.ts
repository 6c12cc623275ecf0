import type { Term } from '../../../rdf/term.ts'
import type { ResourcePart } from '../dictionary-parts.ts'
import { lowerBound } from '../dictionary-texts.ts'
import type { GraphColumns } from '../graph.ts'
import { ColumnDomain, type Domain, PositionDomain, ResourceDomain, SubjectDomain } from './domain.ts'
import { domainsOf, type Evaluation } from './evaluation.ts'
import { PairMap } from './pair-map.ts'
import { PoolDomain } from './pool-domain.ts'
import { scratchUint32 } from './scratch.ts'
import { termOf } from './value.ts'
import { type IdVector, type Vector, vectorValueAt } from './vector.ts'

/** What a number is in another domain is not known yet. */
const UNKNOWN = 0xffff_ffff

const TABLES = new WeakMap<Domain, WeakMap<Domain, Uint32Array>>()

/**
 * The numbers that terms of one domain have in another, 0 for those that it does not have. Numbers are looked up when they
 * are first met; between domains of graphs they are remembered as long as these.
 */
export function codeTranslator(from: Domain, to: Domain): (id: number) => number {
  if (from === to) return id => id
  const direct = directTranslation(from, to)
  if (direct !== null) return direct
  if (from instanceof PoolDomain || from instanceof PositionDomain)
    return id => (id === 0 ? 0 : to.find(from.term(id)))
  let tables = TABLES.get(from)
  if (tables === undefined) {
    tables = new WeakMap()
    TABLES.set(from, tables)
  }
  if (to instanceof PoolDomain) return pooled(from, to)
  let table = tables.get(to)
  if (table === undefined) {
    table = new Uint32Array(from.size + 1).fill(UNKNOWN)
    table[0] = 0
    tables.set(to, table)
  }
  const known = table
  return id => {
    const found = known[id] as number
    if (found !== UNKNOWN) return found
    const table = to.find(from.term(id))
    known[id] = table
    return table
  }
}

function pooled(from: Domain, to: PoolDomain): (id: number) => number {
  return id => (id === 0 ? 0 : to.find(from.term(id)))
}

/** Within a graph, by its arrays. */
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
    const part = from.dictionary.onlyPart()
    if (part?.kind === 'resource') {
      const { ids } = part
      const resources = domainsOf(from.graph).resources
      const toResource = (id: number) => (id === 0 ? 0 : (ids[id - 1] as number))
      return to === resources ? toResource : after(toResource, resources, to)
    }
    return null
  }
  if (!(from instanceof ResourceDomain)) return null
  if (to instanceof SubjectDomain) {
    if (to.graph === from.graph) {
      const subjects = from.graph.resourceSubjects
      return id => (id === 0 ? 0 : (subjects[id] as number))
    }
    return after(codeTranslator(from, domainsOf(to.graph).resources), domainsOf(to.graph).resources, to)
  }
  if (to instanceof ColumnDomain) {
    const own = domainsOf(to.graph).resources
    const part = to.dictionary.parts.find((each): each is ResourcePart => each.kind === 'resource')
    if (part === undefined) return () => 0
    const find = (resource: number) => {
      if (resource === 0) return 0
      const place = lowerBound(part.ids, resource)
      return part.ids[place] === resource ? part.first + place : 0
    }
    if (own === from) return find
    const toOwn = codeTranslator(from, own)
    return id => find(toOwn(id))
  }
  return null
}

function after(first: (id: number) => number, between: Domain, to: Domain): (id: number) => number {
  if (between === to) return first
  const second = codeTranslator(between, to)
  return id => second(first(id))
}

/** The numbers of a vector's terms in another domain; 0 for none. Computed numbers are looked up as the terms they are. */
export function translated(vector: Vector, to: Domain, size: number): Uint32Array {
  switch (vector.type) {
    case 'constant': {
      const id = vector.id === 0 ? 0 : codeTranslator(vector.domain, to)(vector.id)
      return new Uint32Array(size).fill(id)
    }
    case 'ids': {
      const { domain, ids } = vector
      if (domain === to) return ids
      const translate = codeTranslator(domain, to)
      const table = new Uint32Array(size)
      for (let row = 0; row < size; row++) table[row] = translate(ids[row] as number)
      return table
    }
    case 'numbers': {
      const table = new Uint32Array(size)
      for (let row = 0; row < size; row++) {
        const value = vectorValueAt(vector, row)
        table[row] = value === null ? 0 : to.find(termOf(value))
      }
      return table
    }
    default:
      return vector satisfies never
  }
}

/** The numbers of a vector's terms in the pool of a query, which takes them all in. */
export function pooledIds(vector: Vector, size: number, evaluation: Evaluation): Uint32Array {
  const { pool } = evaluation
  switch (vector.type) {
    case 'constant':
      return new Uint32Array(size).fill(vector.id === 0 ? 0 : internOf(pool, vector.domain, vector.id))
    case 'ids': {
      const { domain, ids } = vector
      if (domain === pool) return ids
      const table = scratchUint32(size)
      const known = evaluation.memo('pool', POOLED, domain, () => new PooledNumbers(domain, evaluation))
      for (let row = 0; row < size; row++) table[row] = known.of(ids[row] as number)
      return table
    }
    case 'numbers':
      return pool.internNumbers(vector, size)
    default:
      return vector satisfies never
  }
}

/** Terms of a domain for which an array of all their numbers in the pool is made. */
const FEW_TERMS = 2 ** 20

/** Terms between two looks at the clock. */
const TERMS_BETWEEN_CHECKS = 1024

/** The numbers of a domain's terms in the pool of a query: each term is read once. */
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
    const number = this.evaluation.pool.intern(this.domain.term(id))
    if (dense !== null && id < dense.length) dense[id] = number
    else this.sparse.add(0, id, number)
    if (++this.computed % TERMS_BETWEEN_CHECKS === 0) this.evaluation.check()
    return number
  }
}

/** Name under which the numbers in the pool are remembered. */
const POOLED = { type: 'variable', name: 'pool' } as const

function internOf(pool: PoolDomain, domain: Domain, id: number): number {
  return domain === pool ? id : pool.intern(domain.term(id))
}

/** A vector whose terms have numbers: computed numbers are taken into the pool. */
export function identified(vector: Vector, size: number, evaluation: Evaluation): IdVector {
  switch (vector.type) {
    case 'ids':
      return vector
    case 'constant':
      return { type: 'ids', domain: vector.domain, ids: new Uint32Array(size).fill(vector.id) }
    case 'numbers':
      return {
        type: 'ids',
        domain: evaluation.pool,
        ids: pooledIds(vector, size, evaluation),
      }
    default:
      return vector satisfies never
  }
}

/** One term for all rows, as a vector. */
export function constantVector(term: Term, { pool }: Evaluation): Vector {
  return { type: 'constant', domain: pool, id: pool.intern(term) }
}

/** True where two graphs have a subject in common. */
export function shareSubjects(left: GraphColumns, right: GraphColumns): boolean {
  const [small, large] = left.subjects <= right.subjects ? [left, right] : [right, left]
  let known = SHARED.get(small)
  if (known === undefined) {
    known = new WeakMap()
    SHARED.set(small, known)
  }
  let shared = known.get(large)
  if (shared === undefined) {
    shared = hasSharedSubject(small, large)
    known.set(large, shared)
  }
  return shared
}

const SHARED = new WeakMap<GraphColumns, WeakMap<GraphColumns, boolean>>()

/** Leaps from a subject of one graph to the next of the other in the order of their texts: graphs that name subjects apart take few leaps. */
function hasSharedSubject(small: GraphColumns, large: GraphColumns): boolean {
  if (small === large) return true
  if (!large.resources.overlaps(small.resources)) return false
  for (let id = subjectFrom(small, 1); id > 0; ) {
    const text = small.resources.text(id)
    const other = subjectFrom(large, large.resources.lowerBound(text))
    if (other === 0) return false
    const next = large.resources.text(other)
    if (next === text) return true
    id = subjectFrom(small, small.resources.lowerBound(next))
  }
  return false
}

/** The first resource from a number on that is a subject; 0 where none is. */
function subjectFrom({ resourceSubjects }: GraphColumns, from: number): number {
  for (let id = from; id < resourceSubjects.length; id++) if (resourceSubjects[id] !== 0) return id
  return 0
}
