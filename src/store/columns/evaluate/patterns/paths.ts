import type { Node, Path, TriplePatternNode } from '../../../../sparql/algebra.ts'
import type { NumberList } from '../../bytes.ts'
import { domainsOf, type Evaluation } from '../evaluation.ts'
import type { EvaluationScope } from '../scope.ts'
import { Batch, rowsOf, rowVector, UNIT_BATCH } from '../vectors/batch.ts'
import { withoutSmall } from '../vectors/concat.ts'
import { pooledIds } from '../vectors/translate.ts'
import type { IdVector, Vector } from '../vectors/vector.ts'
import type { PathPattern } from './operation-parts.ts'
import { type NodeHomes, NodeSet, Reach, ReachedPairs } from './path-reach.ts'

/** The solutions of patterns joined with a batch. */
type Match = (patterns: readonly TriplePatternNode[], scope: EvaluationScope, batch: Batch) => Iterable<Batch>

/** Names of variables that no query can use. */
const FROM = ' from'
const TO = ' to'
const ROW = ' row'

/** Solutions of a closure per batch: few at first, which may be enough for a LIMIT, then twice as many each time. */
const [FIRST_SOLUTIONS, MAX_SOLUTIONS] = [64, 8192]

/** Number of start nodes that are expanded together. */
const STARTS_AT_ONCE = 1024

/**
 * Evaluates property paths (SPARQL 1.1 Query, section 18.4). Sequences, alternatives and inverses become patterns; closures go
 * from node to node, each node once, from the known end.
 */
export class PathEvaluator {
  private readonly evaluation: Evaluation
  private readonly match: Match
  private fresh = 0

  constructor(evaluation: Evaluation, match: Match) {
    this.evaluation = evaluation
    this.match = match
  }

  /** The solutions of a batch joined with those of a path. */
  *evaluate(pattern: PathPattern, scope: EvaluationScope, batch: Batch): Generator<Batch> {
    const { subject, path, object } = pattern
    switch (path.type) {
      case 'link':
        return yield* this.link(pattern, path.iri, scope, batch)
      case 'inverse':
        return yield* this.evaluate({ subject: object, path: path.path, object: subject }, scope, batch)
      case 'sequence':
        return yield* this.sequence(subject, path.paths, object, scope, batch)
      case 'alternative':
        for (const each of path.paths) yield* this.evaluate({ subject, path: each, object }, scope, batch)
        return
      case 'negated':
        return yield* withoutSmall(this.negated(pattern, path.iris, scope, batch), this.evaluation)
      case 'zeroOrOne':
      case 'zeroOrMore':
      case 'oneOrMore':
        return yield* this.closure(pattern, path, scope, batch)
      default:
        path satisfies never
    }
  }

  private *sequence(
    subject: Node,
    paths: readonly Path[],
    object: Node,
    scope: EvaluationScope,
    batch: Batch,
  ): Generator<Batch> {
    const [first, ...rest] = paths
    if (first === undefined) return
    if (rest.length === 0) {
      return yield* this.evaluate({ subject, path: first, object }, scope, batch)
    }
    const middle: Node = { type: 'variable', name: ` step ${this.fresh++}` }
    const isBackward = !isKnown(subject, batch) && isKnown(object, batch)
    const parts = [
      { subject, paths: [first], object: middle },
      { subject: middle, paths: rest, object },
    ] as const
    const [begin, end] = isBackward ? [parts[1], parts[0]] : parts
    for (const found of this.sequence(begin.subject, begin.paths, begin.object, scope, batch))
      for (const joined of this.sequence(end.subject, end.paths, end.object, scope, found))
        yield joined.only(joined.variables.filter(name => name !== middle.name))
  }

  private link(
    { subject, object }: PathPattern,
    value: string,
    scope: EvaluationScope,
    batch: Batch,
  ): Iterable<Batch> {
    return this.match([{ subject, predicate: { type: 'iri', value }, object }], scope, batch)
  }

  private *negated(
    pattern: PathPattern,
    iris: readonly string[],
    scope: EvaluationScope,
    batch: Batch,
  ): Generator<Batch> {
    const predicates = new Set(scope.graphs.flatMap(graph => graph.columns.map(column => column.predicate)))
    for (const predicate of predicates)
      if (!iris.includes(predicate)) yield* this.link(pattern, predicate, scope, batch)
  }

  private *closure(
    { subject, object }: PathPattern,
    path: Extract<Path, { type: 'zeroOrOne' | 'zeroOrMore' | 'oneOrMore' }>,
    scope: EvaluationScope,
    batch: Batch,
  ): Generator<Batch> {
    const { evaluation } = this
    const isForward = isKnown(subject, batch) || !isKnown(object, batch)
    const [near, far] = isForward ? [subject, object] : [object, subject]
    const starts = isKnown(near, batch) ? this.termIds(near, batch) : new Uint32Array(0)
    const type = path.type === 'oneOrMore' && mayBeEmpty(path.path) ? 'zeroOrMore' : path.type
    const reach = new Reach(type, evaluation, (nodes, homes, reached) =>
      this.step(path.path, isForward, nodes, scope, homes, reached),
    )
    const known = isKnown(far, batch) ? this.termIds(far, batch) : null
    // A path of zero steps goes from a node of the graphs to itself, or from a term that the query names.
    const { substituted } = scope
    const isSubstituted = [near, far].some(
      node => node.type === 'variable' && batch.has(node.name) && substituted.has(node.name),
    )
    const named = [near, far].flatMap(node =>
      node.type === 'variable' ? [] : [evaluation.pool.intern(node)],
    )
    const areNodes = new Map<number, boolean>()
    const isNode = (id: number) => {
      const isKnownNode = areNodes.get(id) ?? (named.includes(id) || this.isNode(id, scope))
      areNodes.set(id, isKnownNode)
      return isKnownNode
    }
    const isSame = near.type === 'variable' && far.type === 'variable' && near.name === far.name
    // Both ends are open: the path begins at every node of the graphs from which it can go.
    const isOpen = !isKnown(near, batch)
    const open = () =>
      type === 'oneOrMore' ? this.nodesBefore(path.path, scope, reach) : this.nodes(scope, reach)
    if (starts.length > 1) reach.prepare([...new Set(starts)])
    const found = new ReachedPairs()
    let isEnough = FIRST_SOLUTIONS
    for (let row = 0; row < batch.size; row++)
      for (const from of isOpen ? open() : [starts[row] as number]) {
        // Solutions of few steps are yielded before the next ones.
        const end = isSame ? from : known?.[row]
        for (const reached of reach.from(from, isOpen || isSubstituted ? () => true : isNode)) {
          if (end === undefined) found.addAll(row, from, reached)
          else if (reached.has(end) && (known === null || known[row] === end)) {
            found.add(row, from, end)
            break
          }
          if (found.size < isEnough) continue
          yield* this.joined(batch, near, far, found)
          found.clear()
          isEnough = Math.min(MAX_SOLUTIONS, 2 * isEnough)
        }
        evaluation.advance(64)
      }
    yield* this.joined(batch, near, far, found)
  }

  /** A batch joined with the results of paths from its rows; it counts until the next one is requested. */
  private *joined(batch: Batch, near: Node, far: Node, found: ReachedPairs): Generator<Batch> {
    const { evaluation } = this
    const bytes = 12 * found.size
    evaluation.allocate(bytes)
    const vectorOf = (ids: NumberList): Vector => ({
      type: 'ids',
      domain: evaluation.pool,
      ids: ids.view().slice(),
    })
    const more: [string, Vector][] = []
    if (near.type === 'variable' && !batch.has(near.name)) more.push([near.name, vectorOf(found.near)])
    if (far.type === 'variable' && far.name !== more[0]?.[0] && !batch.has(far.name))
      more.push([far.name, vectorOf(found.far)])
    yield batch.rows(found.rows.view().slice()).with(more)
    evaluation.release(bytes)
  }

  /** Pool numbers of a node that is a term, or of the values of a variable. */
  private termIds(node: Node, batch: Batch): Uint32Array {
    const { evaluation } = this
    if (node.type === 'variable') return pooledIds(batch.get(node.name) as Vector, batch.size, evaluation)
    return new Uint32Array(batch.size).fill(evaluation.pool.intern(node))
  }

  private isNode(id: number, scope: EvaluationScope): boolean {
    const term = this.evaluation.pool.term(id)
    return scope.graphs.some(
      graph =>
        graph.hasTriples(graph.subjectOf(term)) ||
        graph.columns.some(({ dictionary }) => dictionary.find(term) !== 0),
    )
  }

  /** The nodes from which a step of a path goes; those of a batch are expanded together before they are yielded. */
  private *nodesBefore(path: Path, scope: EvaluationScope, reach: Reach): Generator<number> {
    const { evaluation } = this
    const given = new NodeSet()
    const [subject, object] = [FROM, TO].map(name => ({ type: 'variable', name })) as [Node, Node]
    for (const found of this.evaluate({ subject, path, object }, scope, UNIT_BATCH)) {
      const vector = found.get(FROM) as Vector
      const ids = pooledIds(vector, found.size, evaluation)
      evaluation.advance(found.size)
      reach.homes.add(vector, ids)
      const nodes = Array.from(ids).filter(node => given.add(node))
      reach.prepare(nodes)
      yield* nodes
    }
  }

  /** All subjects and objects; chunks of them are expanded together before they are yielded. */
  private *nodes(scope: EvaluationScope, reach: Reach): Generator<number> {
    const { evaluation } = this
    const given = new NodeSet()
    for (const graph of scope.graphs) {
      const { subjects } = domainsOf(graph)
      const objects = graph.columns.map(column => domainsOf(graph).of(column))
      for (const domain of new Set([subjects, ...objects]))
        for (let from = 1; from <= domain.size; from += STARTS_AT_ONCE) {
          const count = Math.min(STARTS_AT_ONCE, domain.size + 1 - from)
          const some = new Uint32Array(count).map((_, at) => from + at)
          const ids = domain === subjects ? some.filter(id => graph.hasTriples(id - 1)) : some
          const pooled = ids.map(id => evaluation.pool.internOf(domain, id))
          evaluation.advance(16 * ids.length)
          reach.homes.add({ type: 'ids', domain, ids }, pooled)
          const nodes = Array.from(pooled).filter(node => given.add(node))
          reach.prepare(nodes)
          yield* nodes
        }
    }
  }

  /**
   * The nodes one step of a path away from some nodes, by the index of the latter.
   *
   * @param near numbers of the nodes
   * @param reached called for each pair with the pool number of the reached node
   * @param homes where reached nodes have their own numbers
   */
  private step(
    path: Path,
    isForward: boolean,
    near: IdVector,
    scope: EvaluationScope,
    homes: NodeHomes,
    reached: (place: number, to: number) => void,
  ): void {
    const { evaluation } = this
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
      evaluation.advance(found.size)
      homes.add(vector, ids)
      let at = 0
      for (const row of rowsOf(found.get(ROW) as IdVector, found.size)) reached(row, ids[at++] as number)
    }
  }
}

/** True for a path of no steps from any term; a sequence has those from nodes of the graphs alone. */
function mayBeEmpty(path: Path): boolean {
  if (path.type === 'inverse' || path.type === 'oneOrMore') return mayBeEmpty(path.path)
  if (path.type === 'alternative') return path.paths.some(mayBeEmpty)
  return path.type === 'zeroOrMore' || path.type === 'zeroOrOne'
}

function isKnown(node: Node, batch: Batch): boolean {
  return node.type !== 'variable' || batch.has(node.name)
}
