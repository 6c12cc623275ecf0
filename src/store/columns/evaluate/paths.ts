import type { Path, TriplePatternNode } from '../../../sparql/algebra.ts'
import type { Node } from '../../../sparql/ast.ts'
import type { GraphColumns } from '../graph.ts'
import { Batch } from './batch.ts'
import type { PathPattern } from './block.ts'
import type { Evaluation } from './evaluation.ts'
import { pooledIds } from './translate.ts'
import type { Vector } from './vector.ts'

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
    const nearIds: number[] = []
    const farIds: number[] = []
    const rows: number[] = []
    const known = isKnown(far, batch) ? this.termIds(far, batch) : null
    // A path of no step is one from a node of the graphs to itself, or from a term that the query names.
    const named = [near, far].flatMap(node =>
      node.type === 'variable' ? [] : [evaluation.pool.intern(node)],
    )
    const isNode = (id: number) => named.includes(id) || this.isNode(id, scope)
    const add = (row: number, from: number) => {
      for (const to of reach.from(from, isNode)) {
        if (known !== null && known[row] !== to) continue
        rows.push(row)
        nearIds.push(from)
        farIds.push(to)
      }
      evaluation.advance(64)
    }
    if (isKnown(near, batch)) for (let row = 0; row < batch.size; row++) add(row, starts[row] as number)
    else {
      // Both ends are open: the path begins at every node of the graphs.
      const nodes = this.nodes(scope, !leavesSubjects(path))
      for (let row = 0; row < batch.size; row++) for (const node of nodes) add(row, node)
    }
    const isSame = near.type === 'variable' && far.type === 'variable' && near.name === far.name
    const matching = isSame ? [...rows.keys()].filter(at => nearIds[at] === farIds[at]) : rows.keys()
    const places = Uint32Array.from(matching)
    evaluation.allocate(12 * places.length)
    const found = batch.rows(places.map(at => rows[at] as number))
    const vectorOf = (ids: readonly number[]): Vector => ({
      type: 'ids',
      domain: evaluation.pool,
      ids: places.map(at => ids[at] as number),
    })
    const more: [string, Vector][] = []
    if (near.type === 'variable' && !batch.has(near.name)) more.push([near.name, vectorOf(nearIds)])
    if (far.type === 'variable' && !batch.has(far.name)) more.push([far.name, vectorOf(farIds)])
    yield found.with(more)
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
    evaluation.allocate(100 * nodes.size)
    return nodes
  }

  /** The nodes one step of a path away from some nodes: pairs of the pool's numbers. */
  *step(
    path: Path,
    isForward: boolean,
    from: readonly number[],
    scope: Scope,
  ): Generator<readonly [number, number]> {
    const { evaluation } = this.context
    const { pool } = evaluation
    const near: Vector = { type: 'ids', domain: pool, ids: Uint32Array.from(from) }
    const rows: Vector = {
      type: 'numbers',
      kind: 'integer',
      values: Float64Array.from(from.keys()),
      bound: null,
    }
    const names = isForward ? [FROM, TO] : [TO, FROM]
    const batch = new Batch(
      from.length,
      new Map<string, Vector>([
        [names[0] as string, near],
        [ROW, rows],
      ]),
    )
    const pattern: PathPattern = {
      subject: { type: 'variable', name: FROM },
      path,
      object: { type: 'variable', name: TO },
    }
    for (const found of this.evaluate(pattern, scope, batch)) {
      const reached = pooledIds(found.get(names[1] as string) as Vector, found.size, evaluation)
      const row = found.get(ROW)
      for (let at = 0; at < found.size; at++)
        yield [row?.type === 'numbers' ? (row.values[at] as number) : 0, reached[at] as number]
    }
  }
}

/** The nodes that a closure reaches from a node; steps are remembered, so that each node is left once. */
class Reach<Scope> {
  private readonly evaluator: PathEvaluator<Scope>
  private readonly path: Extract<Path, { type: 'zeroOrOne' | 'zeroOrMore' | 'oneOrMore' }>
  private readonly isForward: boolean
  private readonly scope: Scope
  private readonly next = new Map<number, readonly number[]>()

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
  }

  /** Each node that is reached, once. */
  from(start: number, isNode: (id: number) => boolean): ReadonlySet<number> {
    const found = new Set<number>()
    if (this.path.type !== 'oneOrMore' && isNode(start)) found.add(start)
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
      if (this.path.type === 'zeroOrOne') break
      front = further
    }
    return found
  }

  private registerNodes(nodes: readonly number[]): void {
    const unknown = nodes.filter(node => !this.next.has(node))
    if (unknown.length === 0) return
    const steps = new Map<number, number[]>(unknown.map(node => [node, []]))
    for (const [row, to] of this.evaluator.step(this.path.path, this.isForward, unknown, this.scope))
      steps.get(unknown[row] as number)?.push(to)
    for (const [node, to] of steps) this.next.set(node, [...new Set(to)])
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
