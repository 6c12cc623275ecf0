import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../errors.ts'
import { lookup } from '../../model/lookup.ts'
import { escapeText, termText } from '../../rdf/ntriples.ts'
import { INDEX } from '../../rdf/vocab.ts'
import type {
  ConstructQuery,
  Expression,
  Node,
  Pattern,
  SelectQuery,
  Variable,
} from '../../sparql/algebra.ts'
import { inGraph, integer, iri, triple, variable } from '../../sparql/build.ts'
import { walkQuery } from '../../sparql/walk.ts'
import type { QueryOptions, Solution, Store } from '../store.ts'

/** Asks the engine something that every engine answers alike: patterns, and values of variables. */
export type PlainAsk = (query: SelectQuery, deadline?: number) => Promise<readonly Solution[]>

/** Triples of one slice, and of all that are held. */
const MOST_TRIPLES = 1_000_000
const MOST_HELD = 1_500_000
/** Rows that the engine is asked for at a time: some have a limit, and say nothing where they cut. */
const ROWS = 50_000
/** Milliseconds that the engine may take for so many; whoever waits for them waits less and asks again. */
const COPYING = 120_000
/** Candidates up to which a slice is of them alone. */
const MOST_CANDIDATES = 5000

/** What a triple pattern reads: the triples of a graph with one predicate, or all. */
interface Source {
  readonly graph: string
  readonly predicate: string | null
}

interface Slice {
  readonly name: string
  readonly triples: number
  /** Queries that are reading it. */
  readers: number
}

/**
 * Answers queries that an engine does not answer as the recommendation says: what they read of it is copied into the
 * embedded store, predicate by predicate, and they are asked there. Slices are kept as long as there is room; a query of a
 * few records that it names copies what it reads of these alone.
 */
export class Slices {
  readonly #ask: PlainAsk
  readonly #open: () => Promise<Store>
  readonly #patience: number
  readonly #held = new Map<string, Promise<Slice>>()
  #store: Promise<Store> | null = null
  #named = 0

  /**
   * @param open makes the store that holds the slices, when there is the first
   * @param patience milliseconds that a query waits for what it reads to be copied
   */
  constructor(ask: PlainAsk, open: () => Promise<Store>, patience: number) {
    this.#patience = patience
    this.#ask = ask
    this.#open = open
  }

  /** Faults: those of a store, and UnprocessableEntity where more would have to be copied than is sensible. */
  async select(query: SelectQuery, options?: QueryOptions): Promise<readonly Solution[]> {
    const store = await this.#ready()
    const end = performance.now() + (options?.deadline ?? this.#patience)
    const candidates = await this.#candidates(query)
    const sources = sourcesOf(query)
    const temporary: string[] = []
    const slices = new Map<string, string>()
    const held: Slice[] = []
    try {
      if (candidates === null)
        for (const source of sources) {
          const slice = await within(this.#hold(source), end)
          slice.readers += 1
          held.push(slice)
          slices.set(keyOf(source), slice.name)
        }
      else
        for (const source of sources) {
          const name = this.#name()
          const text = candidates.length === 0 ? '' : await this.#partOf(source, candidates)
          await store.load([{ graph: name, text }])
          temporary.push(name)
          slices.set(keyOf(source), name)
        }
      return await store.select(rewritten(query, slices), options)
    } finally {
      for (const slice of held) slice.readers -= 1
      if (temporary.length > 0) await store.drop(temporary).catch(() => undefined)
    }
  }

  /** Copies whole graphs under their own names, for queries that may read anything of them. */
  async whole(graphs: readonly string[]): Promise<{ readonly store: Store; readonly release: () => void }> {
    const store = await this.#ready()
    const end = performance.now() + this.#patience
    const held: Slice[] = []
    try {
      for (const graph of graphs) {
        const slice = await within(this.#hold({ graph, predicate: null }, graph), end)
        slice.readers += 1
        held.push(slice)
      }
    } catch (error) {
      for (const slice of held) slice.readers -= 1
      throw error
    }
    return {
      store,
      release: () => {
        for (const slice of held) slice.readers -= 1
      },
    }
  }

  /** Forgets what was copied of graphs. */
  async forget(graphs: readonly string[]): Promise<void> {
    for (const [key, slice] of this.#held)
      if (graphs.some(graph => key.startsWith(`${graph} `))) await this.#drop(key, slice)
  }

  async close(): Promise<void> {
    await (await this.#store?.catch(() => undefined))?.close()
  }

  #ready(): Promise<Store> {
    this.#store ??= this.#open().catch(error => {
      this.#store = null
      throw error
    })
    return this.#store
  }

  /** The records that a query names, or whose positions it names; null where it does not. */
  async #candidates({ where }: SelectQuery): Promise<readonly Node[] | null> {
    for (const pattern of where) {
      if (pattern.type !== 'values' || pattern.terms.length > MOST_CANDIDATES) continue
      if (pattern.variable.name === RECORD.name) return pattern.terms
      if (pattern.variable.name !== POSITION.name) continue
      const position = where.find(each => each.type === 'graph' && each.patterns.some(isPosition))
      if (position === undefined) continue
      const query = {
        type: 'select',
        projection: [{ variable: RECORD }],
        where: [pattern, position],
      } as const
      return (await this.#ask(query)).flatMap(({ record }) => record ?? [])
    }
    return null
  }

  /** What a pattern reads of some records, as N-Triples. */
  async #partOf({ graph, predicate }: Source, records: readonly Node[]): Promise<string> {
    const lines: string[] = []
    const [p, o] = [predicate === null ? variable('p') : iri(predicate), variable('o')]
    for (let done = 0; done < records.length; done += 500) {
      const terms = records.slice(done, done + 500).filter(term => term.type !== 'variable')
      const rows = await this.#ask({
        type: 'select',
        projection: [RECORD, ...(p.type === 'variable' ? [p] : []), o].map(each => ({ variable: each })),
        where: [{ type: 'values', variable: RECORD, terms }, inGraph(graph, triple(RECORD, p, o))],
      })
      for (const row of rows) lines.push(lineOf(row.record, row.p ?? (p as Node), row.o))
    }
    return lines.join('')
  }

  async #hold(source: Source, name: string = this.#name()): Promise<Slice> {
    const key = keyOf(source)
    const known = this.#held.get(key)
    if (known !== undefined) {
      this.#held.delete(key)
      this.#held.set(key, known)
      return known
    }
    const slice = this.#copy(source, name)
    this.#held.set(key, slice)
    slice.catch(() => this.#held.delete(key))
    return slice
  }

  async #copy(source: Source, name: string): Promise<Slice> {
    const store = await this.#ready()
    const { graph, predicate } = source
    const [s, p, o] = [variable('s'), predicate === null ? variable('p') : iri(predicate), variable('o')]
    const where = [inGraph(graph, triple(s, p, o))]
    const expression: Expression = { type: 'aggregate', name: 'COUNT', distinct: false, operand: null }
    const projection = [{ variable: variable('count'), expression }]
    const counted = await this.#ask({ type: 'select', projection, where }, COPYING)
    const triples = Number(counted[0]?.count?.value ?? 0)
    if (triples > MOST_TRIPLES) {
      const most = MOST_TRIPLES.toLocaleString('en')
      const reason = `The engine that holds the records cannot compute this itself, and it would have to be computed from ${triples.toLocaleString('en')} values, more than the limit of ${most}.`
      throw new Fault('UnprocessableEntity', { reason })
    }
    await this.#makeRoom(triples)
    const lines: string[] = []
    for (let offset = 0; offset < triples; ) {
      const wanted = [s, ...(p.type === 'variable' ? [p] : []), o].map(each => ({ variable: each }))
      const query = { type: 'select', projection: wanted, where, limit: ROWS, offset } as const
      const rows = await this.#ask(query, COPYING)
      if (rows.length === 0) break
      for (const row of rows) lines.push(lineOf(row.s, row.p ?? (p as Node), row.o))
      offset += rows.length
    }
    await store.load([{ graph: name, text: lines.join('') }])
    const held = await store.count(name, {})
    if (held === triples) return { name, triples, readers: 0 }
    await store.drop([name])
    const reason = `the engine gave ${held} of ${triples} triples; it may have a limit on the rows of an answer.`
    throw new Fault('StoreUnavailable', { reason })
  }

  async #makeRoom(triples: number): Promise<void> {
    let held = triples
    for (const [key, promise] of [...this.#held].reverse()) {
      const slice = await Promise.race([promise.catch(() => null), null])
      if (slice === null) continue
      held += slice.triples
      if (held > MOST_HELD && slice.readers === 0) await this.#drop(key, promise)
    }
  }

  async #drop(key: string, promise: Promise<Slice>): Promise<void> {
    this.#held.delete(key)
    const slice = await promise.catch(() => null)
    if (slice !== null) await (await this.#ready()).drop([slice.name])
  }

  #name(): string {
    this.#named += 1
    return `urn:lodestone:slice:${this.#named}`
  }
}

/** What comes in time; the work goes on where it does not. Faults: StoreUnavailable. */
async function within<T>(work: Promise<T>, end: number): Promise<T> {
  const timer = new AbortController()
  const late = sleep(Math.max(0, end - performance.now()), null, { signal: timer.signal }).then(() => {
    const reason = 'what this query reads is being copied from the engine. Try again in a moment.'
    throw new Fault('StoreUnavailable', { reason })
  })
  late.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    timer.abort()
  }
}

const RECORD = variable('record')
const POSITION = variable('position')

function isPosition(pattern: Pattern): boolean {
  return (
    pattern.type === 'triple' &&
    pattern.predicate.type === 'iri' &&
    pattern.predicate.value === INDEX.position &&
    isNamed(pattern.subject, RECORD) &&
    isNamed(pattern.object, POSITION)
  )
}

function isNamed(node: Node, { name }: Variable): boolean {
  return node.type === 'variable' && node.name === name
}

function keyOf({ graph, predicate }: Source): string {
  return `${graph} ${predicate ?? ''}`
}

function lineOf(subject: Node | undefined, predicate: Node | undefined, object: Node | undefined): string {
  return `${nodeText(subject)} ${nodeText(predicate)} ${nodeText(object)} .\n`
}

function nodeText(node: Node | undefined): string {
  if (node === undefined || node.type === 'variable') throw new Error('a row without one of its terms')
  if (node.type === 'iri') return `<${node.value}>`
  if (node.type === 'literal' && node.language === '')
    return `"${escapeText(node.value)}"^^<${node.datatype}>`
  return termText(node)
}

/** What the triple patterns of a query read, each once. */
function sourcesOf(query: SelectQuery): readonly Source[] {
  const sources = new Map<string, Source>()
  walkQuery(query, {
    pattern: pattern => {
      if (pattern.type !== 'graph') return
      for (const each of pattern.patterns) {
        const source = sourceOf(pattern.graph.value, each)
        sources.set(keyOf(source), source)
      }
    },
  })
  return [...sources.values()]
}

function sourceOf(graph: string, pattern: Pattern): Source {
  if (pattern.type !== 'triple') throw new Error(`a ${pattern.type} within a graph`)
  const { predicate } = pattern
  return { graph, predicate: predicate.type === 'iri' ? predicate.value : null }
}

/** The query with each triple pattern in the graph of its slice. */
function rewritten(query: SelectQuery, slices: ReadonlyMap<string, string>): SelectQuery {
  return inSlices(query, slices) as SelectQuery
}

/** Goes through all of a query, which is plain data. */
function inSlices(node: unknown, slices: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(node)) return node.flatMap(each => spread(each, slices))
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inSlices(value, slices)]))
}

function spread(node: unknown, slices: ReadonlyMap<string, string>): readonly unknown[] {
  const pattern = node as Pattern | null
  if (typeof pattern !== 'object' || pattern === null || pattern.type !== 'graph')
    return [inSlices(node, slices)]
  const { graph, patterns } = pattern
  return patterns.map(each => inGraph(slices.get(keyOf(sourceOf(graph.value, each))) ?? graph.value, each))
}

/** Rows of the variables of a template, and the triples that each makes. */
export function asSelect({ template, where, orderBy, limit, offset }: ConstructQuery): SelectQuery {
  const names = new Map(
    template
      .flatMap(({ subject, predicate, object }) => [subject, predicate, object])
      .flatMap(node => (node.type === 'variable' ? [[node.name, node] as const] : [])),
  )
  const projection = [...names.values()].map(each => ({ variable: each }))
  return {
    type: 'select',
    // A template of constants is still asked whether it holds.
    projection:
      projection.length > 0 ? projection : [{ variable: variable('holds'), expression: integer(1) }],
    where,
    ...(orderBy === undefined ? {} : { orderBy }),
    ...(limit === undefined ? {} : { limit }),
    ...(offset === undefined ? {} : { offset }),
  }
}

/** The triples of a template for each row, each once, as N-Triples. */
export function instantiated({ template }: ConstructQuery, rows: readonly Solution[]): string {
  // Those of one subject stand together, as writers of RDF/XML and JSON-LD have them.
  const bySubject = new Map<string, Set<string>>()
  for (const row of rows)
    for (const { subject, predicate, object } of template) {
      const [s, p, o] = [subject, predicate, object].map(node =>
        node.type === 'variable' ? lookup(row, node.name) : node,
      )
      if (s === undefined || p === undefined || o === undefined) continue
      const text = termText(s)
      const lines = bySubject.get(text) ?? new Set()
      bySubject.set(text, lines)
      lines.add(`${text} ${termText(p)} ${termText(o)} .\n`)
    }
  return [...bySubject.values()].flatMap(lines => [...lines]).join('')
}
