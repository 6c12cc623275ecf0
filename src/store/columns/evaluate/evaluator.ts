import { memoised } from '../../../model/memoised.ts'
import {
  type AlgebraExpression,
  certainVariables,
  type ExpressionOf,
  type OperationOf,
  type SparqlOperation,
  variablesMentioned,
  variablesOfExpression,
} from '../../../sparql/algebra.ts'
import { withValues } from '../../../sparql/lateral.ts'
import type { Evaluation } from './evaluation.ts'
import { NotInColumns } from './evaluation-limits.ts'
import { withConstants } from './expressions/conditions.ts'
import { vectorOf } from './expressions/expression-vector.ts'
import { Filter } from './expressions/filter.ts'
import { NumberKernels } from './expressions/numbers.ts'
import { type ExistsMask, ScalarCompiler } from './expressions/scalar.ts'
import { isStable } from './functions/builtins.ts'
import { ComparedGroups } from './groups/compared-groups.ts'
import { DistinctSolutions, eachOnce } from './groups/distinct-solutions.ts'
import { KeyedGroups } from './groups/keyed-groups.ts'
import { SolutionModifiers } from './modifiers.ts'
import {
  EqualityIndex,
  type EqualitySplit,
  isSameGroup,
  type PatternGroup,
  splitByEquality,
} from './patterns/equality-join.ts'
import { existsOfSubject } from './patterns/exists.ts'
import { CompatibleRows, difference, identifiedInPool, joinedBatch, revealed } from './patterns/join.ts'
import { planBlock } from './patterns/join-order.ts'
import { type NeededVariables, neededAfter, neededWith } from './patterns/needed-variables.ts'
import { crossed } from './patterns/object-join.ts'
import {
  isForRows,
  isGiven,
  isSubquery,
  isSubset,
  partsOf,
  readsAll,
  starOf,
  variablesOfPath,
  variablesOfPattern,
} from './patterns/operation-parts.ts'
import type { OutermostScan } from './patterns/outermost-scan.ts'
import { PathEvaluator } from './patterns/paths.ts'
import { PatternMatcher } from './patterns/pattern-matcher.ts'
import { type EvaluationScope, type Graphs, readsSubstituted, substitutedIn } from './scope.ts'
import {
  allRows,
  type Batch,
  Deferred,
  inlineData,
  isUnit,
  partsByBinding,
  rowsOf,
  rowVector,
  UNIT_BATCH,
} from './vectors/batch.ts'
import { concatenatedTexts } from './vectors/concat.ts'
import { rowsByGroup, rowsOfTable } from './vectors/row-filters.ts'
import { constantVector } from './vectors/translate.ts'
import { hasWholeValues, type IdVector, termAt, type Vector } from './vectors/vector.ts'

/** Prefix of the variables that identify the rows for which a group is evaluated. */
const ROW = ' row of the left side'

/** Combinations of values for each of which a subquery is evaluated; with more, an engine that has rows is faster. */
const MAX_LATERAL = 10_000

/** Evaluates operations over the columns of graphs: each yields its solutions in batches, as they are found. */
export class Evaluator {
  readonly evaluation: Evaluation
  private readonly paths: PathEvaluator
  private readonly modifiers: SolutionModifiers
  /** Complete solutions of operations, by the graphs over which they are evaluated. */
  private readonly wholes = new Map<SparqlOperation, Map<Graphs, Batch>>()
  /** Scopes in which the graphs of a name are the default graph. */
  private readonly namedScopes = new Map<Graphs, EvaluationScope>()
  /** Solutions of patterns that are joined by an equality, by the expression that must be equal. */
  private readonly equalities = new Map<
    AlgebraExpression,
    { readonly graphs: Graphs; readonly inner: PatternGroup; readonly index: EqualityIndex }
  >()
  private readonly compared: ComparedGroups
  private readonly folded = new Map<AlgebraExpression, AlgebraExpression>()
  private readonly compatible = new Map<Batch, Map<string, CompatibleRows>>()
  private readonly needed: NeededVariables = new Map()
  private readonly root: EvaluationScope
  private rowNames = 0
  private outermost: OutermostScan | null = null

  constructor(evaluation: Evaluation) {
    this.evaluation = evaluation
    this.root = this.scopeOf(evaluation.dataset.defaultGraphs)
    this.paths = new PathEvaluator(evaluation, (patterns, scope, batch) =>
      this.block({ patterns, paths: [], filters: [], needed: null }, scope, batch),
    )
    this.compared = new ComparedGroups(
      evaluation,
      (operation, scope) => this.evaluate(operation, scope, UNIT_BATCH),
      batches => this.collected(batches),
      (rows, found, remaining) => this.joinFound(rows, found, remaining),
    )
    this.modifiers = new SolutionModifiers(evaluation, this.needed, (operation, scope) =>
      this.evaluate(operation, scope, UNIT_BATCH),
    )
  }

  private scopeOf(graphs: Graphs, substituted: ReadonlySet<string> = NO_NAMES): EvaluationScope {
    const { evaluation } = this
    const exists: ExistsMask = (expression, batch) => this.existsMask(expression, batch, scope)
    const scalars = new ScalarCompiler(evaluation, exists)
    const numbers = new NumberKernels(evaluation, scalars)
    const filter = new Filter(evaluation, scalars, numbers)
    const patterns = new PatternMatcher(evaluation, filter, graphs)
    const scope: EvaluationScope = { graphs, substituted, scalars, numbers, filter, patterns }
    return scope
  }

  /**
   * The solutions of an operation.
   *
   * @param outermost the scan that finds them, where another evaluation may continue them
   */
  solutions(operation: SparqlOperation, outermost: OutermostScan | null = null): Iterable<Batch> {
    this.outermost = outermost
    this.evaluation.readsAll = readsAll(operation)
    return this.evaluate(operation, this.root, UNIT_BATCH)
  }

  /** A page of the solutions of an operation whose outermost part is a slice, and their total number. */
  page(operation: OperationOf<'slice'>): {
    readonly batches: readonly Batch[]
    readonly total: number
  } {
    // The total number of solutions is requested.
    this.evaluation.readsAll = true
    return this.modifiers.page(operation, this.root)
  }

  /**
   * The solutions of an operation joined with those of a batch. The whole operation sees the bindings of the batch, so this is
   * only used where that does not change the result: see {@link join}.
   */
  private *evaluate(operation: SparqlOperation, scope: EvaluationScope, seed: Batch): Generator<Batch> {
    if (seed.size === 0) return
    this.evaluation.advance(1)
    switch (operation.type) {
      case 'bgp': {
        const needed = neededWith(this.needed.get(operation), seed.variables)
        const group = { ...partsOf(operation), needed }
        return yield* this.block(group, scope, seed, this.outermost?.takenBy(operation))
      }
      case 'path':
        return yield* this.paths.evaluate(operation, scope, seed)
      case 'join':
      case 'filter':
        return yield* this.conjunction(operation, scope, seed)
      case 'union':
        for (const input of operation.inputs) yield* this.join(seed, input, scope)
        return
      case 'leftJoin':
        for (const left of this.evaluate(operation.left, scope, seed))
          yield* this.leftJoin(left, operation, scope)
        return
      case 'minus':
        for (const left of this.evaluate(operation.left, scope, seed))
          yield this.minus(left, operation.right, scope)
        return
      case 'lateral':
        if (isUnit(seed)) yield* this.lateral(operation, scope)
        else yield* this.joinFound(seed, this.whole(operation, scope))
        return
      case 'extend': {
        const { variable, expression } = operation
        const make = (batch: Batch) => vectorOf(expression, batch, scope, this.evaluation)
        const isDeferred = isStable(expression) && expression.type !== 'variable'
        for (const batch of this.evaluate(operation.input, scope, seed))
          yield batch.with([[variable, isDeferred ? new Deferred(batch, expression, make) : make(batch)]])
        return
      }
      case 'graph':
        return yield* this.graph(operation, scope, seed)
      case 'values':
        return yield* this.joinFound(seed, this.whole(operation, scope))
      case 'service':
        throw new NotInColumns('SERVICE')
      case 'group':
      case 'order':
      case 'project':
      case 'distinct':
      case 'reduced':
      case 'slice':
        if (isUnit(seed)) yield* this.modifiers.evaluate(operation, scope)
        else yield* this.joinFound(seed, this.whole(operation, scope))
        return
      default:
        operation satisfies never
    }
  }

  /** Triple patterns, paths and conditions, joined and filtered in the best order, then everything else. */
  private *conjunction(operation: SparqlOperation, scope: EvaluationScope, seed: Batch): Generator<Batch> {
    const parts = partsOf(operation)
    const known = new Set(seed.variables)
    const bound = new Set([...known, ...variablesOfGroup(parts)])
    const filters = parts.filters.map(condition => this.withConstants(condition, scope))
    const pushedDown = filters.filter(condition => isSubset(variablesOfExpression(condition), bound))
    const late = filters.filter(condition => !pushedDown.includes(condition))
    const first = parts.others.filter(isGiven)
    const rest = parts.others.filter(other => !first.includes(other))
    if (first.length > 0 && parts.patterns.some(pattern => scope.patterns.isEmpty(pattern))) return
    const needed = neededWith(this.needed.get(operation), seed.variables, late, rest)
    let batches: Iterable<Batch> = [seed]
    for (const other of first) batches = this.joinAll(batches, other, scope)
    if (parts.patterns.length + parts.paths.length + pushedDown.length > 0) {
      const outermost = this.outermost?.takenBy(operation)
      batches = this.blocks({ ...parts, filters: pushedDown, needed }, scope, batches, outermost)
      if (rest.length > 0) batches = eachOnce(batches, needed, this.evaluation)
    }
    const last = rest.pop()
    for (const other of rest) batches = this.joinAll(batches, other, scope)
    const remaining = (found: Batch) => scope.filter.filtered(late, found)
    const joined = last === undefined ? batches : this.joinAll(batches, last, scope, remaining)
    for (const batch of joined) {
      const some = last === undefined ? remaining(batch) : batch
      if (some.size > 0) yield some
    }
  }

  /** Returns the same expression at each evaluation of an operation, because caches are keyed by the expression object. */
  private withConstants(condition: AlgebraExpression, scope: EvaluationScope): AlgebraExpression {
    return memoised(this.folded, condition, () => withConstants(condition, scope.scalars))
  }

  private *joinAll(
    batches: Iterable<Batch>,
    operation: SparqlOperation,
    scope: EvaluationScope,
    remaining?: (found: Batch) => Batch,
  ): Generator<Batch> {
    for (const batch of batches) yield* this.join(batch, operation, scope, remaining)
  }

  private *blocks(
    group: PatternGroup,
    scope: EvaluationScope,
    seeds: Iterable<Batch>,
    outermost: OutermostScan | null = null,
  ): Generator<Batch> {
    const names = new Set(variablesOfGroup(group))
    for (const seed of seeds) {
      // Rows are partitioned by the variables that only some of them bind.
      const partial = seed.variables.filter(
        name => names.has(name) && !hasWholeValues(seed.get(name) as Vector),
      )
      for (const part of partsByBinding(seed, partial)) yield* this.block(group, scope, part, outermost)
    }
  }

  /** Triple patterns, paths and conditions joined with a batch. */
  private *block(
    group: PatternGroup,
    scope: EvaluationScope,
    seed: Batch,
    outermost: OutermostScan | null = null,
  ): Generator<Batch> {
    if (seed.size === 0) return
    const known = new Set(seed.variables)
    const split = splitByEquality(group, known, scope.graphs)
    if (split !== null) {
      return yield* this.joinedByEquality(split, scope, seed, outermost)
    }
    const steps = planBlock(group, known, scope.graphs)
    const scan = outermost?.isScanOf(steps) === true ? outermost : null
    const distinct = neededAfter(steps, group.needed).map(
      names => new DistinctSolutions(names, this.evaluation),
    )
    const run = function* (this: Evaluator, number: number, batch: Batch): Generator<Batch> {
      const step = steps[number]
      if (step === undefined) {
        if (batch.size > 0) yield batch
        return
      }
      for (const found of this.step(step, scope, batch, number === 0 ? scan : null)) {
        const some = found.size === 0 ? found : (distinct[number]?.of(found) ?? found)
        if (some.size > 0) yield* run(number + 1, some)
      }
    }.bind(this) as (number: number, batch: Batch) => Generator<Batch>
    yield* run(0, seed)
  }

  /** Joins the solutions of two groups of patterns by an equality. */
  private *joinedByEquality(
    { inner, outer, innerKey, outerKey, filters }: EqualitySplit,
    scope: EvaluationScope,
    seed: Batch,
    outermost: OutermostScan | null,
  ): Generator<Batch> {
    const isSeed = inner.patterns.length + inner.paths.length === 0
    const index = isSeed
      ? new EqualityIndex(scope.filter.filtered(inner.filters, seed), innerKey, scope, this.evaluation)
      : this.equalityIndex(inner, innerKey, scope)
    const [before, scan] = isSeed ? [UNIT_BATCH, null] : [seed, outermost]
    for (const batch of eachOnce(this.block(outer, scope, before, scan), outer.needed, this.evaluation))
      for (const joined of index.join(batch, outerKey, scope)) {
        const remaining = scope.filter.filtered(filters, joined)
        if (remaining.size > 0) yield remaining
      }
  }

  /** The solutions of patterns by a key, computed once for all batches that they are joined with. */
  private equalityIndex(inner: PatternGroup, key: AlgebraExpression, scope: EvaluationScope): EqualityIndex {
    const known = this.equalities.get(key)
    if (known?.graphs === scope.graphs && isSameGroup(known.inner, inner)) return known.index
    const found = this.collected(
      eachOnce(this.block(inner, scope, UNIT_BATCH), inner.needed, this.evaluation),
    )
    const index = new EqualityIndex(found, key, scope, this.evaluation)
    this.equalities.set(key, { graphs: scope.graphs, inner, index })
    return index
  }

  private *step(
    step: ReturnType<typeof planBlock>[number],
    scope: EvaluationScope,
    batch: Batch,
    outermost: OutermostScan | null,
  ): Generator<Batch> {
    switch (step.type) {
      case 'star':
        return yield* scope.patterns.star(step, batch, outermost)
      case 'open':
        return yield* scope.patterns.open(step, batch, outermost)
      case 'path':
        for (const found of this.paths.evaluate(step.pattern, scope, batch))
          yield scope.filter.filtered(step.filters, found)
        return
      case 'filter':
        yield scope.filter.filtered(step.filters, batch)
        return
      default:
        step satisfies never
    }
  }

  /**
   * Joins a batch with an operation. The operation is evaluated for the rows of the batch and sees the variables that it binds in
   * any case; others are renamed meanwhile and compared afterwards.
   *
   * @param remaining filters the solutions: called as soon as some are found
   */
  private *join(
    batch: Batch,
    operation: SparqlOperation,
    scope: EvaluationScope,
    remaining: (found: Batch) => Batch = found => found,
  ): Generator<Batch> {
    if (batch.size === 0) return
    if (isUnit(batch)) {
      for (const found of this.evaluate(operation, scope, batch)) yield remaining(found)
      return
    }
    const certain = certainVariables(operation)
    const replaced = substitutedIn(operation, scope)
    const shared = batch.variables.filter(name => certain.has(name) || replaced.has(name))
    const partial = shared.filter(name => !hasWholeValues(batch.get(name) as Vector))
    const isSeeded = shared.length > 0 && partial.length === 0
    if (
      isSubquery(operation) ||
      operation.type === 'values' ||
      !(isSeeded || readsSubstituted(operation, scope))
    ) {
      return yield* this.joinFound(batch, this.whole(operation, scope), remaining)
    }
    const hidden = new Map(
      batch.variables
        .filter(name => !certain.has(name) && !scope.substituted.has(name))
        .map(name => [name, `${name} ${this.rowNames++}`]),
    )
    for (const part of partsByBinding(batch, partial))
      for (const found of this.evaluate(operation, scope, part.renamed(hidden)))
        yield remaining(revealed(found, hidden, this.evaluation))
  }

  /** Joins a batch with complete solutions. */
  private *joinFound(
    batch: Batch,
    whole: Batch,
    remaining: (found: Batch) => Batch = found => found,
  ): Generator<Batch> {
    if (whole.size === 0 || batch.size === 0) return
    const shared = batch.variables.filter(name => whole.has(name))
    if (shared.length > 0) {
      for (const pairs of this.compatibleRows(whole, shared).pairsWith(batch))
        yield remaining(joinedBatch(batch, whole, pairs, this.evaluation))
      return
    }
    yield* crossed(batch, whole, this.evaluation, remaining)
  }

  /** The rows of an independently evaluated operation, indexed by some of its variables. */
  private compatibleRows(whole: Batch, shared: readonly string[]): CompatibleRows {
    const known = memoised(this.compatible, whole, () => new Map<string, CompatibleRows>())
    return memoised(known, shared.join(' '), () => new CompatibleRows(whole, shared, this.evaluation))
  }

  private whole(operation: SparqlOperation, scope: EvaluationScope): Batch {
    const known = memoised(this.wholes, operation, () => new Map<Graphs, Batch>())
    return memoised(known, scope.graphs, () =>
      operation.type === 'values'
        ? inlineData(operation, this.evaluation)
        : this.collected(this.evaluate(operation, scope, UNIT_BATCH)),
    )
  }

  /** All solutions in one batch. They are counted as they are found, as they are together: there may be far more than fit. */
  private collected(batches: Iterable<Batch>): Batch {
    const { evaluation } = this
    const found: Batch[] = []
    let bytes = 0
    for (const batch of batches) {
      found.push(batch)
      const own = 4 * batch.size * batch.variables.length
      evaluation.allocate(own)
      bytes += own
    }
    evaluation.release(bytes)
    return concatenatedTexts(found, evaluation)
  }

  private *leftJoin(
    left: Batch,
    { right, condition }: OperationOf<'leftJoin'>,
    scope: EvaluationScope,
  ): Generator<Batch> {
    if (left.size === 0) return
    const quick = scope.patterns.optional(right, condition, left, scope.filter)
    if (quick !== null) {
      yield quick
      return
    }
    const matched = new Uint8Array(left.size)
    const conditions = condition === null ? [] : [condition]
    const numbered = this.numbered(left, matched)
    for (const found of this.join(numbered.batch, right, scope, some =>
      scope.filter.filtered(conditions, some),
    ))
      if (found.size > 0) {
        numbered.mark(found)
        yield found.only(found.variables.filter(each => each !== numbered.name))
      }
    const alone = rowsOfTable(matched, 0, null)
    if (alone.length > 0) yield left.rows(alone)
  }

  /** A batch with a variable for the numbers of its rows, by which solutions set the rows of a table that they were found for. */
  private numbered(batch: Batch, table: Uint8Array) {
    const name = `${ROW} ${this.rowNames++}`
    return {
      name,
      batch: batch.with([[name, rowVector(batch.size)]]),
      mark: (found: Batch) => {
        for (const row of rowsOf(found.get(name) as IdVector, found.size)) table[row] = 1
      },
    }
  }

  /** The rows of a batch that are compatible with no solution of an operation (SPARQL 1.1 Query, section 18.5). */
  private minus(left: Batch, right: SparqlOperation, scope: EvaluationScope): Batch {
    const isThere = existsOfSubject(right, left, scope, this.evaluation, () => this.whole(right, scope))
    if (isThere !== null) return left.rows(rowsOfTable(isThere, 0, allRows(left.size)))
    const star = starOf(right)
    const shared = left.variables.filter(name => star?.names.has(name) === true)
    if (
      star !== null &&
      shared.includes(star.subject) &&
      shared.every(name => hasWholeValues(left.get(name) as Vector))
    ) {
      // The operation is evaluated for the subjects of the batch, not for all others.
      const isRemoved = new Uint8Array(left.size)
      const numbered = this.numbered(left.only(shared), isRemoved)
      for (const found of this.evaluate(right, scope, numbered.batch)) numbered.mark(found)
      return left.rows(rowsOfTable(isRemoved, 0, null))
    }
    const whole = this.whole(right, scope)
    const common = left.variables.filter(name => whole.has(name))
    if (common.length === 0 || whole.size === 0) return left
    return difference(left, this.compatibleRows(whole, common), this.evaluation)
  }

  /** Solutions with those of an operation in which their variables have their values. */
  private *lateral({ left, right }: OperationOf<'lateral'>, outer: EvaluationScope): Generator<Batch> {
    if (outer.substituted.size > 0) throw new NotInColumns('LATERAL within EXISTS')
    const before = this.evaluate(left, outer, UNIT_BATCH)
    if (!isForRows(right)) {
      const all = this.collected(before)
      if (all.size > 0) yield* this.lateralOfValues(all, right, outer.graphs)
      return
    }
    for (const batch of before) {
      const scope = this.scopeOf(outer.graphs, new Set(batch.variables))
      const unbound = batch.variables.filter(name => !hasWholeValues(batch.get(name) as Vector))
      for (const part of partsByBinding(batch, unbound)) yield* this.evaluate(right, scope, part)
    }
  }

  /** The operation is evaluated once for all rows with the same values: for those that are evaluated as a whole, such as slices. */
  private *lateralOfValues(left: Batch, right: SparqlOperation, graphs: Graphs): Generator<Batch> {
    const { evaluation } = this
    const mentioned = variablesMentioned(right)
    const names = left.variables.filter(name => mentioned.has(name))
    const groups = new KeyedGroups(names, evaluation)
    const numbers = groups.assign(left)
    if (groups.count() > MAX_LATERAL) throw new NotInColumns(`LATERAL for ${groups.count()} values`)
    for (const rows of rowsByGroup(numbers, groups.count())) {
      const some = left.rows(rows)
      const bound = names.flatMap(name => {
        const term = termAt(some.get(name) as Vector, 0)
        return term === null ? [] : [[name, term] as const]
      })
      const values = {
        type: 'values',
        variables: bound.map(([name]) => name),
        rows: [bound.map(([, term]) => term)],
      } as const
      // What it remembers of an operation is of no use for the next values.
      const inner = new Evaluator(evaluation)
      const solutions = inner.evaluate(withValues(right, values), inner.scopeOf(graphs), UNIT_BATCH)
      yield* inner.joinFound(some, inner.collected(solutions))
    }
  }

  private *graph(
    { name, input }: OperationOf<'graph'>,
    scope: EvaluationScope,
    seed: Batch,
  ): Generator<Batch> {
    const { namedGraphs } = this.evaluation.dataset
    if (name.type === 'iri') {
      const graphs = namedGraphs.get(name.value)
      if (graphs !== undefined) yield* this.join(seed, input, this.named(graphs, scope))
      return
    }
    for (const [iri, graphs] of namedGraphs) {
      const term = constantVector({ type: 'iri', value: iri }, this.evaluation)
      const some = this.withGraphName(seed, name.name, term)
      // The variable may be bound within as well.
      for (const found of this.join(some, input, this.named(graphs, scope)))
        yield seed.has(name.name) ? found : this.withGraphName(found, name.name, term, true)
    }
  }

  /** The rows in which a variable is the name of a graph or unbound, with that name. @param binds false leaves a new variable unbound */
  private withGraphName(batch: Batch, name: string, term: Vector, binds = false): Batch {
    const known = batch.get(name)
    if (known === undefined) return binds ? batch.with([[name, term]]) : batch
    const { ids } = identifiedInPool(known, batch.size, this.evaluation)
    const id = term.type === 'constant' ? term.id : 0
    return batch
      .rows(allRows(batch.size).filter(row => ids[row] === id || ids[row] === 0))
      .with([[name, term]])
  }

  private named(graphs: Graphs, { substituted }: EvaluationScope): EvaluationScope {
    if (substituted.size > 0) return this.scopeOf(graphs, substituted)
    return memoised(this.namedScopes, graphs, () => this.scopeOf(graphs))
  }

  /** For each row whether a group has a solution after substituting the row's values for its variables (section 18.6). */
  private existsMask(exists: ExpressionOf<'exists'>, batch: Batch, outer: EvaluationScope): Uint8Array {
    const known = existsOfSubject(exists.input, batch, outer, this.evaluation, () =>
      this.whole(exists.input, outer),
    )
    if (known !== null) return known
    const mask = new Uint8Array(batch.size)
    const read = variablesOfExpression(exists)
    const numbered = this.numbered(batch.only(batch.variables.filter(each => read.has(each))), mask)
    const seed = numbered.batch
    const pairsWith = this.compared.pairsFor(exists, seed, outer)
    if (pairsWith !== null) {
      for (const found of pairsWith(seed)) numbered.mark(found)
      return mask
    }
    const scope = this.scopeOf(outer.graphs, new Set([...outer.substituted, ...seed.variables]))
    const unbound = seed.variables.filter(each => !hasWholeValues(seed.get(each) as Vector))
    for (const part of partsByBinding(seed, unbound))
      for (const found of this.evaluate(exists.input, scope, part)) numbered.mark(found)
    return mask
  }
}

function variablesOfGroup({ patterns, paths }: Pick<PatternGroup, 'patterns' | 'paths'>): readonly string[] {
  return [...patterns.flatMap(variablesOfPattern), ...paths.flatMap(variablesOfPath)]
}

const NO_NAMES: ReadonlySet<string> = new Set()
