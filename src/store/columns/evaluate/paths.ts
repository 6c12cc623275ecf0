import type { Path, TriplePatternNode } from '../../../sparql/algebra.ts'
import type { Node } from '../../../sparql/ast.ts'
import type { GraphColumns } from '../graph.ts'
import { Batch, rowsOf, rowVector } from './batch.ts'
import type { PathPattern } from './block.ts'
import type { Domain } from './domain.ts'
import type { Evaluation } from './evaluation.ts'
import { pooledIds } from './translate.ts'
import type { IdVector, Vector } from './vector.ts'

/** What the evaluation of paths asks of that of patterns. */
export interface PathContext<Scope> {
  readonly evaluation: Evaluation
  /** The solutions of patterns joined with a batch. */
  readonly match: (patterns: readonly TriplePatternNode[], scope: Scope, batch: Batch) => Iterable<Batch>
  readonly graphsOf: (scope: Scope) => readonly GraphColumns[]
}

/** Names of variables that no query can have. */
const FROM = ' from'
const TO = ' to'
const ROW = ' row'

/** Of a node that is remembered with its number. */
const BYTES_A_NODE = 100

/** So many solutions of a closure are worth a batch of their own. */
const SOLUTIONS_AT_ONCE = 64

/**
 * Evaluates property paths (SPARQL 1.1 Query, section 18.4). Sequences, alternatives and inverses are patterns of their own;
 * closures go from node to node, each node once, from the end that is known.
 */
export class PathEvaluator<Scope> {
  private readonly context: PathContext<Scope>
  private fresh = 0

  constructor(context: PathContext<Scope>) {
    this.context = context
  }

  get evaluation(): Evaluation {
    return this.context.evaluation
  }

  /** The solutions of a batch joined with those of a path. */
  *evaluate(pattern: PathPattern, scope: Scope, batch: Batch): Generator<Batch> {
    const { subject, path, object } = pattern
    switch (path.type) {
      case 'link':
        yield* this.context.match(
          [{ subject, predicate: { type: 'iri', value: path.iri }, object }],
          scope,
          batch,
        )
        return
      case 'inverse':
        yield* this.evaluate({ subject: object, path: path.path, object: subject }, scope, batch)
        return
      case 'sequence':
        yield* this.sequence(subject, path.paths, object, scope, batch)
        return
      case 'alternative':
        for (const each of path.paths) yield* this.evaluate({ subject, path: each, object }, scope, batch)
        return
      case 'negated':
        yield* this.negated(pattern, path.iris, scope, batch)
        return
      case 'zeroOrOne':
      case 'zeroOrMore':
      case 'oneOrMore':
        yield* this.closure(pattern, path, scope, batch)
        return
      default:
        path satisfies never
    }
  }

  private *sequence(
    subject: Node,
    paths: readonly Path[],
    object: Node,
    scope: Scope,
    batch: Batch,
  ): Generator<Batch> {
    const [first, ...rest] = paths
    if (first === undefined) return
    if (rest.length === 0) {
      yield* this.evaluate({ subject, path: first, object }, scope, batch)
      return
    }
    const middle: Node = { type: 'variable', name: ` step ${this.fresh++}` }
    const isBackward = !isKnown(subject, batch) && isKnown(object, batch)
    const [begin, end] = isBackward
      ? [
          { subject: middle, paths: rest, object },
          { subject, paths: [first], object: middle },
        ]
      : [
          { subject, paths: [first], object: middle },
          { subject: middle, paths: rest, object },
        ]
    for (const found of this.sequence(begin.subject, begin.paths, begin.object, scope, batch))
      for (const joined of this.sequence(end.subject, end.paths, end.object, scope, found))
        yield joined.only(joined.variables.filter(name => name !== middle.name))
  }

  private *negated(
    { subject, object }: PathPattern,
    iris: readonly string[],
    scope: Scope,
    batch: Batch,
  ): Generator<Batch> {
    const predicates = new Set(
      this.context.graphsOf(scope).flatMap(graph => graph.columns.map(column => column.predicate)),
    )
    for (const predicate of predicates)
      if (!iris.includes(predicate))
        yield* this.context.match(
          [{ subject, predicate: { type: 'iri', value: predicate }, object }],
          scope,
          batch,
        )
  }

  private *closure(
    { subject, object }: PathPattern,
    path: Extract<Path, { type: 'zeroOrOne' | 'zeroOrMore' | 'oneOrMore' }>,
    scope: Scope,
    batch: Batch,
  ): Generator<Batch> {
    const { evaluation } = this.context
    const isForward = isKnown(subject, batch) || !isKnown(object, batch)
    const [near, far] = isForward ? [subject, object] : [object, subject]
    const starts = isKnown(near, batch) ? this.termIds(near, batch) : new Uint32Array(0)
    const reach = new Reach(this, path, isForward, scope)
    const known = isKnown(far, batch) ? this.termIds(far, batch) : null
    // A path of no step is one from a node of the graphs to itself, or from a term that the query names.
    const named = [near, far].flatMap(node =>
      node.type === 'variable' ? [] : [evaluation.pool.intern(node)],
    )
    const isNode = (id: number) => named.includes(id) || this.isNode(id, scope)
    const isSame = near.type === 'variable' && far.type === 'variable' && near.name === far.name
    // Both ends open: the path begins at every node of the graphs.
    const nodes = isKnown(near, batch) ? null : this.nodes(scope, !leavesSubjects(path))
    let found = new ReachedPairs()
    for (let row = 0; row < batch.size; row++)
      for (const from of nodes ?? [starts[row] as number]) {
        // What few steps reach is given away before the next ones: a LIMIT may be content with it.
        const end = isSame ? from : known?.[row]
        for (const reached of reach.from(from, isNode)) {
          if (end === undefined) for (const to of reached) found.add(row, from, to)
          else if (reached.includes(end) && (known === null || known[row] === end)) {
            found.add(row, from, end)
            break
          }
          if (found.size < SOLUTIONS_AT_ONCE) continue
          yield this.joined(batch, near, far, found)
          found = new ReachedPairs()
        }
        evaluation.advance(64)
      }
    yield this.joined(batch, near, far, found)
  }

  /** A batch joined with what paths reach from its rows. */
  private joined(batch: Batch, near: Node, far: Node, found: ReachedPairs): Batch {
    const { evaluation } = this.context
    evaluation.allocate(12 * found.size)
    const vectorOf = (ids: readonly number[]): Vector => ({
      type: 'ids',
      domain: evaluation.pool,
      ids: Uint32Array.from(ids),
    })
    const more: [string, Vector][] = []
    if (near.type === 'variable' && !batch.has(near.name)) more.push([near.name, vectorOf(found.near)])
    if (far.type === 'variable' && far.name !== more[0]?.[0] && !batch.has(far.name))
      more.push([far.name, vectorOf(found.far)])
    return batch.rows(Uint32Array.from(found.rows)).with(more)
  }

  /** Numbers in the pool of a node that is a term, or of the values of a variable. */
  private termIds(node: Node, batch: Batch): Uint32Array {
    const { evaluation } = this.context
    if (node.type === 'variable') return pooledIds(batch.get(node.name) as Vector, batch.size, evaluation)
    return new Uint32Array(batch.size).fill(evaluation.pool.intern(node))
  }

  private isNode(id: number, scope: Scope): boolean {
    const term = this.context.evaluation.pool.term(id)
    return this.context
      .graphsOf(scope)
      .some(
        graph =>
          graph.subjectOf(term) >= 0 || graph.columns.some(({ dictionary }) => dictionary.find(term) !== 0),
      )
  }

  /** All subjects, and all objects where a path may have no step. */
  private nodes(scope: Scope, withObjects: boolean): ReadonlySet<number> {
    const { evaluation } = this.context
    const { pool } = evaluation
    const nodes = new Set<number>()
    for (const graph of this.context.graphsOf(scope)) {
      for (let subject = 0; subject < graph.subjects; subject++) {
        nodes.add(pool.intern(graph.subjectTerm(subject)))
        evaluation.advance(16)
      }
      if (withObjects)
        for (const { dictionary } of graph.columns)
          for (let code = 1; code <= dictionary.count; code++) {
            nodes.add(pool.intern(dictionary.term(code)))
            evaluation.advance(16)
          }
    }
    evaluation.allocate(BYTES_A_NODE * nodes.size)
    return nodes
  }

  /**
   * The nodes one step of a path away from some nodes, by their place among these.
   *
   * @param near numbers of the nodes
   * @param reached is called for each pair with the number in the pool of the node that is reached
   * @param homes where nodes that are reached have numbers of their own
   */
  step(
    path: Path,
    isForward: boolean,
    near: IdVector,
    scope: Scope,
    homes: NodeHomes,
    reached: (place: number, to: number) => void,
  ): void {
    const { evaluation } = this.context
    const from = near.ids
    const names = isForward ? [FROM, TO] : [TO, FROM]
    const batch = new Batch(
      from.length,
      new Map<string, Vector>([
        [names[0] as string, near],
        [ROW, rowVector(from.length)],
      ]),
    )
    const pattern: PathPattern = {
      subject: { type: 'variable', name: FROM },
      path,
      object: { type: 'variable', name: TO },
    }
    for (const found of this.evaluate(pattern, scope, batch)) {
      const vector = found.get(names[1] as string) as Vector
      const ids = pooledIds(vector, found.size, evaluation)
      homes.add(vector, ids)
      let at = 0
      for (const row of rowsOf(found.get(ROW) as Vector, found.size)) reached(row, ids[at++] as number)
    }
  }
}

/**
 * Where the nodes of a path were found: by the number of a node in the pool the domain of the graph that has it and its
 * number there, by which the next step finds it without a search.
 */
class NodeHomes {
  private readonly evaluation: Evaluation
  private readonly domains: Domain[] = []
  /** By number in the pool: the place of its domain and its number there. */
  private readonly known = new Map<number, readonly [domain: number, id: number]>()

  constructor(evaluation: Evaluation) {
    this.evaluation = evaluation
  }

  add(vector: Vector, pooled: Uint32Array): void {
    if (vector.type !== 'ids' || vector.domain === this.evaluation.pool) return
    const before = this.known.size
    const { domain, ids } = vector
    let number = this.domains.indexOf(domain)
    if (number < 0) number = this.domains.push(domain) - 1
    for (let at = 0; at < pooled.length; at++) {
      const node = pooled[at] as number
      if (!this.known.has(node)) this.known.set(node, [number, ids[at] as number])
    }
    this.evaluation.allocate(BYTES_A_NODE * (this.known.size - before))
  }

  /** Nodes as vectors, and the nodes of each of these in its order. */
  vectorsOf(nodes: readonly number[]): readonly { readonly vector: IdVector; readonly nodes: number[] }[] {
    const byDomain = new Map<Domain, { nodes: number[]; ids: number[] }>()
    for (const node of nodes) {
      const home = this.known.get(node)
      const domain = home === undefined ? this.evaluation.pool : (this.domains[home[0]] as Domain)
      let own = byDomain.get(domain)
      if (own === undefined) {
        own = { nodes: [], ids: [] }
        byDomain.set(domain, own)
      }
      own.nodes.push(node)
      own.ids.push(home === undefined ? node : home[1])
    }
    return Array.from(byDomain, ([domain, { nodes: own, ids }]) => ({
      vector: { type: 'ids', domain, ids: Uint32Array.from(ids) },
      nodes: own,
    }))
  }
}

/** Solutions of a closure: a row of the batch that is joined, the node where a path begins and the one where it ends. */
class ReachedPairs {
  readonly rows: number[] = []
  readonly near: number[] = []
  readonly far: number[] = []

  get size(): number {
    return this.rows.length
  }

  add(row: number, near: number, far: number): void {
    this.rows.push(row)
    this.near.push(near)
    this.far.push(far)
  }
}

/** The nodes that a closure reaches from a node; steps are remembered, so that each node is left once. */
class Reach<Scope> {
  private readonly evaluator: PathEvaluator<Scope>
  private readonly path: Extract<Path, { type: 'zeroOrOne' | 'zeroOrMore' | 'oneOrMore' }>
  private readonly isForward: boolean
  private readonly scope: Scope
  /** Nodes one step away, by node; one may be named several times. */
  private readonly next = new Map<number, number[]>()
  private readonly homes: NodeHomes

  constructor(
    evaluator: PathEvaluator<Scope>,
    path: Extract<Path, { type: 'zeroOrOne' | 'zeroOrMore' | 'oneOrMore' }>,
    isForward: boolean,
    scope: Scope,
  ) {
    this.evaluator = evaluator
    this.path = path
    this.isForward = isForward
    this.scope = scope
    this.homes = new NodeHomes(evaluator.evaluation)
  }

  /** Each node that is reached, once, after each number of steps. */
  *from(start: number, isNode: (id: number) => boolean): Generator<readonly number[]> {
    const found = new Set<number>()
    if (this.path.type !== 'oneOrMore' && isNode(start)) {
      found.add(start)
      yield [start]
    }
    let front: readonly number[] = [start]
    while (front.length > 0) {
      this.registerNodes(front)
      const further: number[] = []
      for (const node of front)
        for (const to of this.next.get(node) ?? [])
          if (!found.has(to)) {
            found.add(to)
            further.push(to)
          }
      yield further
      if (this.path.type === 'zeroOrOne') break
      front = further
    }
  }

  private registerNodes(nodes: readonly number[]): void {
    const unknown = nodes.filter(node => !this.next.has(node))
    if (unknown.length === 0) return
    for (const node of unknown) this.next.set(node, [])
    const { evaluator, path, isForward, scope, homes } = this
    for (const { vector, nodes: from } of homes.vectorsOf(unknown))
      evaluator.step(path.path, isForward, vector, scope, homes, (place, to) => {
        this.next.get(from[place] as number)?.push(to)
      })
  }
}

/** True where a path leads away from subjects alone: one of no step, or backwards, begins at objects too. */
function leavesSubjects(path: Path): boolean {
  switch (path.type) {
    case 'link':
    case 'negated':
      return true
    case 'sequence':
      return path.paths.slice(0, 1).every(leavesSubjects)
    case 'alternative':
      return path.paths.every(leavesSubjects)
    case 'oneOrMore':
      return leavesSubjects(path.path)
    case 'inverse':
    case 'zeroOrMore':
    case 'zeroOrOne':
      return false
    default:
      return path satisfies never
  }
}

function isKnown(node: Node, batch: Batch): boolean {
  return node.type !== 'variable' || batch.has(node.name)
}
