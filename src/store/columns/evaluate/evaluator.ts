import type { Node } from '../../../sparql/algebra.ts'
import {
  certainVariables,
  type Formula,
  type SparqlOperation,
  type TriplePatternNode,
  variablesOf,
  variablesOfFormula,
} from '../../../sparql/operation.ts'
import type { GraphColumns } from '../graph.ts'
import { allRows, Batch, Deferred, partsForPairs, UNIT_BATCH } from './batch.ts'
import { type PathPattern, planBlock } from './block.ts'
import { concatenatedTexts } from './concat.ts'
import { conjuncts, countedGroups } from './counted.ts'
import { PositionDomain } from './domain.ts'
import { type Evaluation, NotEvaluated } from './evaluation.ts'
import { Filter } from './filter.ts'
import { grouped, KeyedGroups } from './group.ts'
import { CompatibleRows, crossPairs, filled, identifiedInPool, joinedBatch } from './join.ts'
import { NumberKernels } from './numbers.ts'
import { ordered, type Places } from './order.ts'
import { PathEvaluator } from './paths.ts'
import { PatternMatcher } from './patterns.ts'
import { type ExistsMask, ScalarCompiler } from './scalar.ts'
import { isStable } from './stable.ts'
import { constantVector } from './translate.ts'
import { termOf } from './value.ts'
import { hasWholeValues, isBound, type Vector } from './vector.ts'

/** Name under which rows are distinguished that a group is evaluated for. */
const ROW = ' row of the left side'

type Graphs = readonly GraphColumns[]

/** What patterns and conditions see: the graphs whose merge is the default graph, and what stands for variables in EXISTS. */
interface Scope {
  readonly graphs: Graphs
  /** Variables that have the values of a solution outside, also in groups that do not bind them (section 18.6). */
  readonly substituted: ReadonlySet<string>
  readonly scalars: ScalarCompiler
  readonly numbers: NumberKernels
  readonly filter: Filter
  readonly patterns: PatternMatcher
}

/** Evaluates operations over the columns of graphs: each gives its solutions in batches, as they are found. */
export class Evaluator {
  readonly evaluation: Evaluation
  private readonly paths: PathEvaluator<Scope>
  /** Solutions of operations that are needed whole, by the graphs that they are evaluated over. */
  private readonly wholes = new Map<SparqlOperation, Map<Graphs, Batch>>()
  /** Scopes in which one graph is the default graph. */
  private readonly alone = new Map<GraphColumns, Scope>()
  private readonly root: Scope
  private rowNames = 0

  constructor(evaluation: Evaluation) {
    this.evaluation = evaluation
    this.root = this.scopeOf(evaluation.dataset.defaultGraphs)
    this.paths = new PathEvaluator({
      evaluation,
      graphsOf: ({ graphs }) => graphs,
      match: (patterns, scope, batch) => this.block(patterns, [], [], scope, batch),
    })
  }

  private scopeOf(graphs: Graphs, substituted: ReadonlySet<string> = NO_NAMES): Scope {
    const { evaluation } = this
    const exists: ExistsMask = (formula, batch) => this.existsMask(formula, batch, scope)
    const scalars = new ScalarCompiler(evaluation, exists)
    const numbers = new NumberKernels(evaluation, scalars)
    const filter = new Filter(evaluation, scalars, numbers)
    const patterns = new PatternMatcher(evaluation, filter, graphs)
    const scope: Scope = { graphs, substituted, scalars, numbers, filter, patterns }
    return scope
  }

  /** The solutions of an operation. */
  solutions(operation: SparqlOperation): Iterable<Batch> {
    this.evaluation.readsAll = readsAll(operation)
    return this.evaluate(operation, this.root, UNIT_BATCH)
  }

  /** A page of the solutions of an operation whose outermost part is a slice, and the number of all without it. */
  page(operation: Extract<SparqlOperation, { type: 'slice' }>): {
    readonly batches: readonly Batch[]
    readonly total: number
  } {
    // The number of all solutions is asked for.
    this.evaluation.readsAll = true
    const scope = this.root
    const end = operation.limit === null ? Number.POSITIVE_INFINITY : operation.offset + operation.limit
    const { project, order } = projectedOrder(operation.input)
    if (order !== null) {
      const { batch, total } = this.inOrder(order, scope, { from: operation.offset, to: end })
      return { batches: batch === null ? [] : [projected(batch, project)], total }
    }
    const batches: Batch[] = []
    let total = 0
    for (const batch of this.evaluate(operation.input, scope, UNIT_BATCH)) {
      const [from, to] = [Math.max(0, operation.offset - total), Math.min(batch.size, end - total)]
      if (to > from) batches.push(batch.slice(from, to))
      total += batch.size
    }
    return { batches, total }
  }

  /**
   * The solutions of an operation joined with those of a batch. What the batch binds is visible to all of the operation, so
   * it may be handed in only where that changes nothing: see {@link join}.
   */
  private *evaluate(operation: SparqlOperation, scope: Scope, seed: Batch): Generator<Batch> {
    if (seed.size === 0) return
    this.evaluation.advance(1)
    switch (operation.type) {
      case 'bgp':
        yield* this.block(operation.patterns, [], [], scope, seed)
        return
      case 'path':
        yield* this.paths.evaluate(operation, scope, seed)
        return
      case 'join':
      case 'filter':
        yield* this.conjunction(operation, scope, seed)
        return
      case 'union':
        for (const input of operation.inputs) yield* this.join(seed, input, scope)
        return
      case 'leftJoin':
        for (const left of this.evaluate(operation.left, scope, seed))
          yield* this.leftJoin(left, operation, scope)
        return
      case 'minus':
        for (const left of this.evaluate(operation.left, scope, seed))
          yield this.minus(left, operation, scope)
        return
      case 'extend': {
        const { variable, expression } = operation
        const make = (batch: Batch) => this.vectorOf(expression, batch, scope)
        const isDeferred = isStable(expression) && expression.type !== 'variable'
        for (const batch of this.evaluate(operation.input, scope, seed))
          yield batch.with([[variable, isDeferred ? new Deferred(batch, make) : make(batch)]])
        return
      }
      case 'graph':
        yield* this.graph(operation, scope, seed)
        return
      case 'values':
        yield* this.joinWhole(seed, operation, scope)
        return
      case 'service':
        throw new NotEvaluated('SERVICE')
      case 'group':
      case 'order':
      case 'project':
      case 'distinct':
      case 'reduced':
      case 'slice':
        if (isUnit(seed)) yield* this.modified(operation, scope)
        else yield* this.joinWhole(seed, operation, scope)
        return
      default:
        operation satisfies never
    }
  }

  /** Operations on whole solution sequences, by themselves. */
  private *modified(
    operation: Extract<
      SparqlOperation,
      { type: 'group' | 'order' | 'project' | 'distinct' | 'reduced' | 'slice' }
    >,
    scope: Scope,
  ): Generator<Batch> {
    const { input } = operation
    switch (operation.type) {
      case 'group': {
        const known = this.knownCounts(operation, scope)
        if (known !== null) {
          yield known
          return
        }
        const context = {
          evaluation: this.evaluation,
          vectorOf: (formula: Formula, batch: Batch) => this.vectorOf(formula, batch, scope),
        }
        yield grouped(this.evaluate(input, scope, UNIT_BATCH), operation.keys, operation.aggregates, context)
        return
      }
      case 'order': {
        const { batch } = this.inOrder(operation, scope, { from: 0, to: Number.POSITIVE_INFINITY })
        if (batch !== null) yield batch
        return
      }
      case 'project':
        for (const batch of this.evaluate(input, scope, UNIT_BATCH)) yield batch.only(operation.variables)
        return
      case 'reduced':
        yield* this.evaluate(input, scope, UNIT_BATCH)
        return
      case 'distinct':
        yield* this.distinct(input, scope)
        return
      case 'slice':
        yield* this.slice(operation, scope)
        return
      default:
        operation satisfies never
    }
  }

  private *slice(
    { input, offset, limit }: Extract<SparqlOperation, { type: 'slice' }>,
    scope: Scope,
  ): Generator<Batch> {
    const end = limit === null ? Number.POSITIVE_INFINITY : offset + limit
    if (end === 0 || limit === 0) return
    const { project, order } = projectedOrder(input)
    if (order !== null) {
      const { batch } = this.inOrder(order, scope, { from: offset, to: end })
      if (batch !== null) yield projected(batch, project)
      return
    }
    let passed = 0
    for (const batch of this.evaluate(input, scope, UNIT_BATCH)) {
      const [from, to] = [Math.max(0, offset - passed), Math.min(batch.size, end - passed)]
      if (to > from) yield batch.slice(from, to)
      passed += batch.size
      if (passed >= end) return
    }
  }

  private inOrder(
    { input, keys }: Extract<SparqlOperation, { type: 'order' }>,
    scope: Scope,
    places: Places,
  ): { readonly batch: Batch | null; readonly total: number } {
    const vectorOf = (formula: Formula, batch: Batch) => this.vectorOf(formula, batch, scope)
    return ordered(this.evaluate(input, scope, UNIT_BATCH), keys, places, vectorOf, this.evaluation)
  }

  /** Each solution when it is met first. */
  private *distinct(input: SparqlOperation, scope: Scope): Generator<Batch> {
    const names = [...variablesOf(input)]
    const groups = new KeyedGroups(names, this.evaluation)
    for (const batch of this.evaluate(input, scope, UNIT_BATCH)) {
      if (batch.size === 0) continue
      if (names.length === 0) {
        yield batch.slice(0, 1)
        return
      }
      let next = groups.count()
      const numbers = groups.assign(batch)
      const rows = new Uint32Array(groups.count() - next)
      let count = 0
      for (let row = 0; row < numbers.length; row++)
        if (numbers[row] === next) {
          rows[count++] = row
          next += 1
        }
      if (count > 0) yield batch.rows(rows)
    }
  }

  /** COUNT of triple patterns whose numbers of triples say it. */
  private knownCounts(operation: Extract<SparqlOperation, { type: 'group' }>, scope: Scope): Batch | null {
    const counted = countedGroups(operation, scope.graphs, this.evaluation)
    if (counted !== null) return counted
    const { input, keys, aggregates } = operation
    if (keys.length > 0 || input.type !== 'bgp' || aggregates.length === 0) return null
    const isCount = aggregates.every(
      ({ aggregate }) => aggregate.name === 'COUNT' && !aggregate.distinct && aggregate.operand === null,
    )
    const [pattern, ...others] = input.patterns
    const count =
      !isCount || pattern === undefined || others.length > 0 ? null : scope.patterns.count(pattern)
    if (count === null) return null
    const vector: Vector = { type: 'numbers', kind: 'integer', values: Float64Array.of(count), bound: null }
    return new Batch(1, new Map(aggregates.map(({ variable }) => [variable, vector])))
  }

  /** Triple patterns, paths and conditions, joined and filtered in the order that is best, then everything else. */
  private *conjunction(operation: SparqlOperation, scope: Scope, seed: Batch): Generator<Batch> {
    const parts = partsOf(operation)
    const known = new Set(seed.variables)
    const bound = new Set([
      ...known,
      ...parts.patterns.flatMap(variablesOfPattern),
      ...parts.paths.flatMap(variablesOfPath),
    ])
    const early = parts.filters.filter(condition => isSubset(variablesOfFormula(condition), bound))
    const late = parts.filters.filter(condition => !early.includes(condition))
    // What is given inline, or found by itself, restricts what is looked for after it.
    const first = parts.others.filter(other => other.type === 'values' || isSubquery(other))
    const rest = parts.others.filter(other => !first.includes(other))
    let batches: Iterable<Batch> = [seed]
    for (const other of first) batches = this.joinAll(batches, other, scope)
    if (parts.patterns.length + parts.paths.length + early.length > 0)
      batches = this.blocks(parts.patterns, parts.paths, early, scope, batches)
    for (const other of rest) batches = this.joinAll(batches, other, scope)
    for (const batch of batches) {
      const remaining = late.length === 0 ? batch : this.filtered(late, batch, scope)
      if (remaining.size > 0) yield remaining
    }
  }

  private *joinAll(batches: Iterable<Batch>, operation: SparqlOperation, scope: Scope): Generator<Batch> {
    for (const batch of batches) yield* this.join(batch, operation, scope)
  }

  private *blocks(
    patterns: readonly TriplePatternNode[],
    paths: readonly PathPattern[],
    filters: readonly Formula[],
    scope: Scope,
    seeds: Iterable<Batch>,
  ): Generator<Batch> {
    const names = new Set([...patterns.flatMap(variablesOfPattern), ...paths.flatMap(variablesOfPath)])
    for (const seed of seeds) {
      // What some rows do not bind is looked for in their part.
      const partial = seed.variables.filter(
        name => names.has(name) && !hasWholeValues(seed.get(name) as Vector),
      )
      for (const part of partsByBinding(seed, partial))
        yield* this.block(patterns, paths, filters, scope, part)
    }
  }

  /** Triple patterns, paths and conditions joined with a batch. */
  private *block(
    patterns: readonly TriplePatternNode[],
    paths: readonly PathPattern[],
    filters: readonly Formula[],
    scope: Scope,
    seed: Batch,
  ): Generator<Batch> {
    if (seed.size === 0) return
    const steps = planBlock(patterns, paths, filters, new Set(seed.variables), scope.graphs)
    const run = function* (this: Evaluator, number: number, batch: Batch): Generator<Batch> {
      const step = steps[number]
      if (step === undefined) {
        if (batch.size > 0) yield batch
        return
      }
      for (const found of this.step(step, scope, batch)) if (found.size > 0) yield* run(number + 1, found)
    }.bind(this) as (number: number, batch: Batch) => Generator<Batch>
    yield* run(0, seed)
  }

  private *step(step: ReturnType<typeof planBlock>[number], scope: Scope, batch: Batch): Generator<Batch> {
    switch (step.type) {
      case 'star':
        yield* scope.patterns.star(step, batch)
        return
      case 'open':
        for (const found of scope.patterns.open(step.pattern, batch))
          yield this.filtered(step.filters, found, scope)
        return
      case 'path':
        for (const found of this.paths.evaluate(step.pattern, scope, batch))
          yield this.filtered(step.filters, found, scope)
        return
      case 'filter':
        yield this.filtered(step.filters, batch, scope)
        return
      default:
        step satisfies never
    }
  }

  private filtered(conditions: readonly Formula[], batch: Batch, scope: Scope): Batch {
    let remaining = batch
    for (const condition of conditions) {
      const rows = scope.filter.select(condition, remaining)
      if (rows.length < remaining.size) remaining = remaining.rows(rows)
    }
    return remaining
  }

  /**
   * Joins a batch with an operation. The operation is evaluated for the rows of the batch, of which it sees the variables
   * that it binds in any case; others are put away meanwhile and compared afterwards.
   */
  private *join(batch: Batch, operation: SparqlOperation, scope: Scope): Generator<Batch> {
    if (batch.size === 0) return
    if (isUnit(batch)) {
      yield* this.evaluate(operation, scope, batch)
      return
    }
    const certain = certainVariables(operation)
    const shared = batch.variables.filter(name => certain.has(name))
    const isSeeded = shared.length > 0 && shared.every(name => hasWholeValues(batch.get(name) as Vector))
    if (!isSeeded || isSubquery(operation) || operation.type === 'values') {
      yield* this.joinWhole(batch, operation, scope)
      return
    }
    const hidden = new Map(
      batch.variables
        .filter(name => !certain.has(name) && !scope.substituted.has(name))
        .map(name => [name, `${name} ${this.rowNames++}`]),
    )
    for (const found of this.evaluate(operation, scope, batch.renamed(hidden)))
      yield this.revealed(found, hidden)
  }

  /** Brings back variables that were put away; where the operation bound them too, both must agree. */
  private revealed(batch: Batch, hidden: ReadonlyMap<string, string>): Batch {
    let found = batch
    for (const [name, alias] of hidden) {
      const both = found.has(name)
      if (both) {
        const rows = this.agreeing(found, name, alias)
        if (rows.length < found.size) found = found.rows(rows)
      }
      const current = found
      const source = () =>
        both
          ? filled(current.get(alias) as Vector, current.get(name) as Vector, current.size, this.evaluation)
          : (current.get(alias) as Vector)
      found = current
        .with([[name, source]])
        .only([...current.variables.filter(each => each !== alias && each !== name), name])
    }
    return found
  }

  private agreeing(batch: Batch, name: string, alias: string): Uint32Array {
    const [left, right] = [name, alias].map(
      each => identifiedInPool(batch.get(each) as Vector, batch.size, this.evaluation).ids,
    ) as [Uint32Array, Uint32Array]
    return allRows(batch.size).filter(row => left[row] === 0 || right[row] === 0 || left[row] === right[row])
  }

  /** Joins a batch with the solutions of an operation that is evaluated once, by itself. */
  private *joinWhole(batch: Batch, operation: SparqlOperation, scope: Scope): Generator<Batch> {
    const whole = this.whole(operation, scope)
    if (whole.size === 0 || batch.size === 0) return
    if (isUnit(batch)) {
      yield whole
      return
    }
    const shared = batch.variables.filter(name => whole.has(name))
    if (shared.length > 0) {
      const pairs = new CompatibleRows(whole, shared, this.evaluation).pairsWith(batch)
      if (pairs.left.length > 0) yield joinedBatch(batch, whole, pairs, this.evaluation)
      return
    }
    for (const part of partsForPairs(batch, whole.size))
      yield joinedBatch(part, whole, crossPairs(part.size, whole.size, this.evaluation), this.evaluation)
  }

  private whole(operation: SparqlOperation, scope: Scope): Batch {
    let known = this.wholes.get(operation)
    if (known === undefined) {
      known = new Map()
      this.wholes.set(operation, known)
    }
    let batch = known.get(scope.graphs)
    if (batch === undefined) {
      batch =
        operation.type === 'values'
          ? this.values(operation)
          : concatenatedTexts([...this.evaluate(operation, scope, UNIT_BATCH)], this.evaluation)
      known.set(scope.graphs, batch)
    }
    return batch
  }

  private values({ variables, rows }: Extract<SparqlOperation, { type: 'values' }>): Batch {
    const { pool } = this.evaluation
    const vectors = variables.map((name, at) => {
      const ids = Uint32Array.from(rows, row => (row[at] == null ? 0 : pool.intern(row[at])))
      return [name, { type: 'ids', domain: pool, ids } satisfies Vector] as const
    })
    // A variable without any value is as one that is not there.
    return new Batch(
      rows.length,
      new Map(vectors.filter(([, { ids }]) => ids.some(id => id !== 0) || rows.length === 0)),
    )
  }

  private *leftJoin(
    left: Batch,
    { right, condition }: Extract<SparqlOperation, { type: 'leftJoin' }>,
    scope: Scope,
  ): Generator<Batch> {
    if (left.size === 0) return
    const quick = scope.patterns.optional(right, condition, left, scope.filter)
    if (quick !== null) {
      yield quick
      return
    }
    const name = `${ROW} ${this.rowNames++}`
    const numbered = left.with([[name, rowVector(left.size)]])
    const matched = new Uint8Array(left.size)
    for (const found of this.join(numbered, right, scope)) {
      const remaining = condition === null ? found : this.filtered([condition], found, scope)
      if (remaining.size === 0) continue
      for (const row of rowsOf(remaining.get(name) as Vector, remaining.size)) matched[row] = 1
      yield remaining.only(remaining.variables.filter(each => each !== name))
    }
    const alone = allRows(left.size).filter(row => matched[row] === 0)
    if (alone.length > 0) yield left.rows(alone)
  }

  /** Takes away solutions that share a variable with one of the right side and agree with it (section 18.3). */
  private minus(left: Batch, { right }: Extract<SparqlOperation, { type: 'minus' }>, scope: Scope): Batch {
    const whole = this.whole(right, scope)
    const shared = left.variables.filter(name => whole.has(name))
    if (shared.length === 0 || whole.size === 0) return left
    const { left: rows, right: others } = new CompatibleRows(whole, shared, this.evaluation).pairsWith(left)
    const removed = new Uint8Array(left.size)
    const own = shared.map(name => [left.get(name) as Vector, whole.get(name) as Vector] as const)
    for (let at = 0; at < rows.length; at++) {
      const [row, other] = [rows[at] as number, others[at] as number]
      if (removed[row] === 0 && own.some(([a, b]) => isBound(a, row) && isBound(b, other))) removed[row] = 1
    }
    return left.rows(allRows(left.size).filter(row => removed[row] === 0))
  }

  private *graph(
    { name, input }: Extract<SparqlOperation, { type: 'graph' }>,
    scope: Scope,
    seed: Batch,
  ): Generator<Batch> {
    const { namedGraphs } = this.evaluation.dataset
    if (name.type === 'iri') {
      const graph = namedGraphs.get(name.value)
      if (graph !== undefined) yield* this.join(seed, input, this.graphAlone(graph, scope))
      return
    }
    for (const [iri, graph] of namedGraphs) {
      const term = constantVector({ type: 'iri', value: iri }, this.evaluation)
      const known = seed.get(name.name)
      if (known !== undefined) {
        const own = identifiedInPool(known, seed.size, this.evaluation).ids
        const id = term.type === 'constant' ? term.id : 0
        const rows = allRows(seed.size).filter(row => own[row] === id || own[row] === 0)
        if (rows.length === 0) continue
        const some = seed.rows(rows).with([[name.name, term]])
        yield* this.join(some, input, this.graphAlone(graph, scope))
        continue
      }
      for (const found of this.join(seed, input, this.graphAlone(graph, scope))) {
        if (!found.has(name.name)) {
          yield found.with([[name.name, term]])
          continue
        }
        // The name is bound within as well: only where it is this graph's.
        const inner = identifiedInPool(found.get(name.name) as Vector, found.size, this.evaluation).ids
        const id = term.type === 'constant' ? term.id : 0
        const rows = allRows(found.size).filter(row => inner[row] === id || inner[row] === 0)
        if (rows.length > 0) yield found.rows(rows).with([[name.name, term]])
      }
    }
  }

  private graphAlone(graph: GraphColumns, { substituted }: Scope): Scope {
    if (substituted.size > 0) return this.scopeOf([graph], substituted)
    let alone = this.alone.get(graph)
    if (alone === undefined) {
      alone = this.scopeOf([graph])
      this.alone.set(graph, alone)
    }
    return alone
  }

  /** For each row whether a group has a solution in which the row's values stand for its variables (section 18.6). */
  private existsMask(
    { input }: Extract<Formula, { type: 'exists' }>,
    batch: Batch,
    outer: Scope,
  ): Uint8Array {
    const mask = new Uint8Array(batch.size)
    const name = `${ROW} ${this.rowNames++}`
    const read = new Set([...variablesOf(input), ...readWithin(input)])
    const seed = batch
      .only(batch.variables.filter(each => read.has(each)))
      .with([[name, rowVector(batch.size)]])
    const scope = this.scopeOf(outer.graphs, new Set([...outer.substituted, ...seed.variables]))
    const unbound = seed.variables.filter(each => !hasWholeValues(seed.get(each) as Vector))
    for (const part of partsByBinding(seed, unbound))
      for (const found of this.evaluate(input, scope, part))
        for (const row of rowsOf(found.get(name) as Vector, found.size)) mask[row] = 1
    return mask
  }

  /** The values of an expression over a batch as a vector. */
  private vectorOf(formula: Formula, batch: Batch, scope: Scope): Vector {
    if (formula.type === 'variable') return batch.get(formula.name) ?? unboundVector(this.evaluation)
    if (formula.type === 'iri' || formula.type === 'literal') return constantVector(formula, this.evaluation)
    const numbers = scope.numbers.vector(formula, batch)
    if (numbers !== null) return numbers
    const scalar = scope.scalars.compile(formula, batch)
    const { pool } = this.evaluation
    const ids = new Uint32Array(batch.size)
    for (let row = 0; row < batch.size; row++) {
      const value = scalar(row)
      if (value !== null) ids[row] = pool.intern(termOf(value))
      if (row % 256 === 255) this.evaluation.check()
    }
    this.evaluation.allocate(4 * batch.size)
    return { type: 'ids', domain: pool, ids }
  }
}

const NO_NAMES: ReadonlySet<string> = new Set()

function unboundVector({ pool }: Evaluation): Vector {
  return { type: 'constant', domain: pool, id: 0 }
}

function isUnit(batch: Batch): boolean {
  return batch.size === 1 && batch.variables.length === 0
}

function isSubquery(operation: SparqlOperation): boolean {
  switch (operation.type) {
    case 'group':
    case 'order':
    case 'project':
    case 'distinct':
    case 'reduced':
    case 'slice':
      return true
    default:
      return false
  }
}

/** The numbers of rows as a vector of their own. */
function rowVector(size: number): Vector {
  const ids = new Uint32Array(size)
  for (let row = 0; row < size; row++) ids[row] = row + 1
  return { type: 'ids', domain: new PositionDomain(size), ids }
}

function* rowsOf(vector: Vector, size: number): Generator<number> {
  for (let at = 0; at < size; at++)
    yield (vector.type === 'constant' ? vector.id : vector.type === 'ids' ? (vector.ids[at] as number) : 0) -
      1
}

/** Solutions parted by which of some variables they bind; what a part does not bind is not there in it. */
function* partsByBinding(batch: Batch, names: readonly string[]): Generator<Batch> {
  const [name, ...others] = names
  if (name === undefined) {
    if (batch.size > 0) yield batch
    return
  }
  const vector = batch.get(name) as Vector
  const rows = allRows(batch.size)
  const bound = batch.rows(rows.filter(row => isBound(vector, row)))
  const unbound = batch.rows(rows.filter(row => !isBound(vector, row)))
  yield* partsByBinding(bound, others)
  yield* partsByBinding(unbound.only(unbound.variables.filter(each => each !== name)), others)
}

/** A projection and the order below it, where a slice is taken of them. */
function projectedOrder(operation: SparqlOperation): {
  readonly project: Extract<SparqlOperation, { type: 'project' }> | null
  readonly order: Extract<SparqlOperation, { type: 'order' }> | null
} {
  if (operation.type === 'order') return { project: null, order: operation }
  if (operation.type === 'project' && operation.input.type === 'order')
    return { project: operation, order: operation.input }
  return { project: null, order: null }
}

/** True where an operation reads all that it is about before it gives its first solution. */
function readsAll(operation: SparqlOperation): boolean {
  switch (operation.type) {
    case 'group':
    case 'order':
      return true
    case 'project':
    case 'reduced':
    case 'slice':
    case 'extend':
    case 'filter':
      return readsAll(operation.input)
    default:
      return false
  }
}

function projected(batch: Batch, project: Extract<SparqlOperation, { type: 'project' }> | null): Batch {
  return project === null ? batch : batch.only(project.variables)
}

interface Parts {
  readonly patterns: readonly TriplePatternNode[]
  readonly paths: readonly PathPattern[]
  readonly filters: readonly Formula[]
  readonly others: readonly SparqlOperation[]
}

/**
 * The members of nested joins and filters. A filter within a join is taken out where the variables that it reads are bound
 * beside it in any case, so that it means the same there.
 */
function partsOf(operation: SparqlOperation): Parts {
  switch (operation.type) {
    case 'bgp':
      return { patterns: operation.patterns, paths: [], filters: [], others: [] }
    case 'path':
      return { patterns: [], paths: [operation], filters: [], others: [] }
    case 'join': {
      const inputs = operation.inputs.map(input =>
        input.type === 'filter' && !isSelfContained(input)
          ? { patterns: [], paths: [], filters: [], others: [input] }
          : partsOf(input),
      )
      return {
        patterns: inputs.flatMap(({ patterns }) => patterns),
        paths: inputs.flatMap(({ paths }) => paths),
        filters: inputs.flatMap(({ filters }) => filters),
        others: inputs.flatMap(({ others }) => others),
      }
    }
    case 'filter': {
      const inner = partsOf(operation.input)
      return { ...inner, filters: [...inner.filters, ...conjuncts(operation.condition)] }
    }
    default:
      return { patterns: [], paths: [], filters: [], others: [operation] }
  }
}

function isSelfContained({ input, condition }: Extract<SparqlOperation, { type: 'filter' }>): boolean {
  const inner = input.type === 'filter' ? isSelfContained(input) : true
  return inner && isSubset(variablesOfFormula(condition), certainVariables(input))
}

function isSubset(some: ReadonlySet<string>, all: ReadonlySet<string>): boolean {
  for (const name of some) if (!all.has(name)) return false
  return true
}

function namesOf(nodes: readonly Node[]): readonly string[] {
  return nodes.flatMap(node => (node.type === 'variable' ? [node.name] : []))
}

function variablesOfPattern({ subject, predicate, object }: TriplePatternNode): readonly string[] {
  return namesOf([subject, predicate, object])
}

function variablesOfPath({ subject, object }: PathPattern): readonly string[] {
  return namesOf([subject, object])
}

/** Variables that conditions within an operation read. */
function readWithin(operation: SparqlOperation): ReadonlySet<string> {
  return variablesOfFormula({ type: 'exists', negated: false, input: operation })
}
