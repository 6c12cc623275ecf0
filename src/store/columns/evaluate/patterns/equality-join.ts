import { memoised } from '../../../../model/memoised.ts'
import { XSD } from '../../../../rdf/vocab.ts'
import {
  type AlgebraExpression,
  type ExpressionOf,
  type TriplePatternNode,
  variablesOfExpression,
} from '../../../../sparql/algebra.ts'
import type { GraphColumns } from '../../graph.ts'
import type { Evaluation } from '../evaluation.ts'
import { isStable } from '../functions/builtins.ts'
import type { EvaluationScope } from '../scope.ts'
import type { Batch } from '../vectors/batch.ts'
import { ColumnDomain } from '../vectors/domain.ts'
import { PoolDomain } from '../vectors/pool-domain.ts'
import { rowsPresent } from '../vectors/row-filters.ts'
import { primitiveOf } from '../vectors/term-order.ts'
import type { TermValue } from '../vectors/value.ts'
import { CompatibleRows, joinedBatch } from './join.ts'
import type { Names } from './needed-variables.ts'
import { isSubset, type PathPattern, variablesOfPath, variablesOfPattern } from './operation-parts.ts'

/** Triple patterns and paths with the conditions that only read their variables. */
export interface PatternGroup {
  readonly patterns: readonly TriplePatternNode[]
  readonly paths: readonly PathPattern[]
  readonly filters: readonly AlgebraExpression[]
  /** The variables that are read of the solutions; null where it matters how often each occurs. */
  readonly needed: Names | null
}

/** True for groups of identical patterns, paths and conditions. */
export function isSameGroup(left: PatternGroup, right: PatternGroup): boolean {
  const areSame = (some: readonly object[], others: readonly object[]) =>
    some.length === others.length && some.every((each, at) => each === others[at])
  return (
    areSame(left.patterns, right.patterns) &&
    areSame(left.paths, right.paths) &&
    areSame(left.filters, right.filters)
  )
}

/** Patterns in two groups without a common variable, or the patterns and the previous bindings, with the expressions that must be equal. */
export interface EqualitySplit {
  readonly outer: PatternGroup
  /** Evaluated once, independently. Without patterns it is the previous bindings, and the outer group is evaluated independently. */
  readonly inner: PatternGroup
  readonly outerKey: AlgebraExpression
  readonly innerKey: AlgebraExpression
  /** Conditions on both groups, including the equality. */
  readonly filters: readonly AlgebraExpression[]
}

/**
 * Finds patterns that only an equality of an expression over them and one over the others connects with the others, so that not
 * every pair of their solutions must be tested; null where there are none.
 *
 * @param known variables that are already bound
 */
export function splitByEquality(
  group: PatternGroup,
  known: ReadonlySet<string>,
  graphs: readonly GraphColumns[],
): EqualitySplit | null {
  const equalities = group.filters.filter(
    (filter): filter is ExpressionOf<'binary'> =>
      filter.type === 'binary' && filter.operator === '=' && isStable(filter),
  )
  if (equalities.length === 0) return null
  const components = connectedPatterns(group, known)
  const free = components
    .filter(({ names }) => ![...names].some(name => known.has(name)))
    .map(component => ({ ...component, size: sizeOf(component, graphs) }))
    .sort((a, b) => a.size - b.size)
  const isSeedFree = known.size > 0 && free.length === components.length
  for (const inner of [...(isSeedFree ? [{ patterns: [], paths: [], names: known }] : []), ...free]) {
    const others = new Set([...components.map(({ names }) => names), known].flatMap(names => [...names]))
    for (const name of inner.names) others.delete(name)
    for (const { left, right } of equalities)
      for (const [innerKey, outerKey] of [
        [left, right],
        [right, left],
      ] as const)
        if (isOver(innerKey, inner.names) && isOver(outerKey, others))
          return splitOf(group, inner, others, innerKey, outerKey)
  }
  return null
}

interface PatternComponent extends Pick<PatternGroup, 'patterns' | 'paths'> {
  readonly names: ReadonlySet<string>
}

function splitOf(
  { patterns, paths, filters, needed: read }: PatternGroup,
  inner: PatternComponent,
  others: ReadonlySet<string>,
  innerKey: AlgebraExpression,
  outerKey: AlgebraExpression,
): EqualitySplit {
  const innerFilters = filters.filter(filter => isOver(filter, inner.names))
  const outerFilters = filters.filter(filter => isSubset(variablesOfExpression(filter), others))
  const between = filters.filter(filter => !innerFilters.includes(filter) && !outerFilters.includes(filter))
  const needed = read && new Set([...read, ...between.flatMap(filter => [...variablesOfExpression(filter)])])
  return {
    inner: { patterns: inner.patterns, paths: inner.paths, filters: innerFilters, needed },
    outer: {
      patterns: patterns.filter(pattern => !inner.patterns.includes(pattern)),
      paths: paths.filter(path => !inner.paths.includes(path)),
      filters: outerFilters,
      needed,
    },
    innerKey,
    outerKey,
    filters: between,
  }
}

/** True where an expression reads at least one of some variables, and no others. */
function isOver(expression: AlgebraExpression, names: ReadonlySet<string>): boolean {
  const read = variablesOfExpression(expression)
  return read.size > 0 && isSubset(read, names)
}

/** The patterns that share variables, directly or through others, ignoring variables that are already bound. */
function connectedPatterns(
  { patterns, paths }: Pick<PatternGroup, 'patterns' | 'paths'>,
  known: ReadonlySet<string>,
): readonly PatternComponent[] {
  const single: readonly PatternComponent[] = [
    ...patterns.map(pattern => ({
      patterns: [pattern],
      paths: [],
      names: new Set(variablesOfPattern(pattern)),
    })),
    ...paths.map(path => ({ patterns: [], paths: [path], names: new Set(variablesOfPath(path)) })),
  ]
  const components: PatternComponent[] = []
  for (const item of single) {
    const isShared = ({ names }: PatternComponent) =>
      [...names].some(name => !known.has(name) && item.names.has(name))
    const own = components.filter(isShared)
    const rest = components.filter(component => !own.includes(component))
    components.length = 0
    components.push(...rest, {
      patterns: [...own.flatMap(each => each.patterns), ...item.patterns],
      paths: [...own.flatMap(each => each.paths), ...item.paths],
      names: new Set([...own.flatMap(each => [...each.names]), ...item.names]),
    })
  }
  return components
}

/** Estimated number of solutions of some patterns, without their conditions. */
function sizeOf({ patterns }: PatternComponent, graphs: readonly GraphColumns[]): number {
  const sizes = patterns.map(({ predicate }) =>
    graphs.reduce((sum, graph) => {
      const rows = predicate.type === 'iri' ? graph.column(predicate.value)?.header.triples : graph.triples
      return sum + (rows ?? 0)
    }, 0),
  )
  return sizes.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...sizes)
}

/** The variable of the key that must be equal. */
const KEY = ' key of an equality'

/** The solutions of one group, indexed by a key that is the same for equal values. */
export class EqualityIndex {
  private rows: CompatibleRows
  private keys: PoolDomain
  private known = new Map<ColumnDomain, Uint32Array>()
  private readonly key: AlgebraExpression
  private readonly scope: EvaluationScope
  private readonly evaluation: Evaluation
  /** True once a key was a float: numbers that are rounded to it equal it, so keys of numbers are rounded. */
  private hasFloats = false
  private isRounded = false

  constructor(inner: Batch, key: AlgebraExpression, scope: EvaluationScope, evaluation: Evaluation) {
    this.key = key
    this.scope = scope
    this.evaluation = evaluation
    this.keys = new PoolDomain(bytes => evaluation.allocate(bytes))
    this.rows = this.indexed(inner)
    if (this.hasFloats) this.roundKeys()
  }

  private indexed(inner: Batch): CompatibleRows {
    const found = this.withKeys(inner, this.key, this.scope, text => this.keys.intern(keyTerm(text)))
    return new CompatibleRows(found, [KEY], this.evaluation)
  }

  private roundKeys(): void {
    this.isRounded = true
    this.keys = new PoolDomain(bytes => this.evaluation.allocate(bytes))
    this.known = new Map()
    this.rows = this.indexed(this.rows.batch)
  }

  /** The pairs of solutions that may be equal, in batches. */
  *join(outer: Batch, key: AlgebraExpression, scope: EvaluationScope): Generator<Batch> {
    const keyed = () => this.withKeys(outer, key, scope, text => this.keys.find(keyTerm(text)), this.known)
    let found = keyed()
    if (this.hasFloats && !this.isRounded) {
      this.roundKeys()
      found = keyed()
    }
    if (found.size === 0) return
    for (const pairs of this.rows.pairsWith(found)) {
      const joined = joinedBatch(found, this.rows.batch, pairs, this.evaluation)
      yield joined.only(joined.variables.filter(name => name !== KEY))
    }
  }

  /** A batch with the keys of its solutions, without solutions that have no key. */
  private withKeys(
    batch: Batch,
    expression: AlgebraExpression,
    { scalars }: EvaluationScope,
    numberOf: (key: string) => number,
    known = new Map<ColumnDomain, Uint32Array>(),
  ): Batch {
    const { evaluation, keys } = this
    const sole = scalars.soleVector(expression, batch)
    const tableOf = (domain: ColumnDomain) => memoised(known, domain, () => new Uint32Array(domain.size + 1))
    const table = sole?.domain instanceof ColumnDomain ? tableOf(sole.domain) : null
    const scalar = scalars.once(expression, batch)
    const ids = new Uint32Array(batch.size)
    for (let row = 0; row < batch.size; row++) {
      const code = sole?.ids[row] ?? 0
      let id = table === null ? 0 : (table[code] as number)
      if (id === 0) {
        const value = scalar(row)
        this.hasFloats ||= value?.type === 'number' && value.kind === 'float'
        id = value === null ? NONE : numberOf(equalityKey(value, this.isRounded)) || NONE
        if (table !== null) table[code] = id
      }
      ids[row] = id === NONE ? 0 : id
      if (row % 256 === 255) evaluation.check()
    }
    evaluation.allocate(4 * batch.size)
    const all = batch.with([[KEY, { type: 'ids', domain: keys, ids }]])
    const present = rowsPresent(ids)
    return present.length === batch.size ? all : all.rows(present)
  }
}

/** In tables of keys by code: a value without a key. 0 means not computed yet. */
const NONE = 0xffff_ffff

function keyTerm(value: string) {
  return { type: 'literal', value, datatype: XSD.string, language: '' } as const
}

/** A text that equal values have in common (SPARQL 1.1 Query, section 17.4.1.7); unequal values may have it, too. */
function equalityKey(value: TermValue, isRounded: boolean): string {
  switch (value.type) {
    case 'iri':
    case 'blank':
      return `${value.type} ${value.value}`
    case 'text':
      return `"${value.language.toLowerCase()} ${value.value}`
    case 'number':
      return `number ${(isRounded ? Math.fround(value.value) : value.value) + 0}`
    case 'boolean':
      return `boolean ${value.value}`
    case 'moment':
      return `${primitiveOf(value)} ${value.seconds}`
    case 'duration':
      return `duration ${value.months} ${value.exact ?? value.seconds}`
    case 'other':
      return `${value.term.datatype} ${value.term.value}`
    case 'triple':
      return 'triple'
  }
}
