import { FLIPPED } from '../../../../model/comparison.ts'
import { memoised } from '../../../../model/memoised.ts'
import {
  type AlgebraExpression,
  type SparqlOperation,
  variablesOf,
  variablesOfExpression,
} from '../../../../sparql/algebra.ts'
import type { Evaluation } from '../evaluation.ts'
import { vectorOf } from '../expressions/expression-vector.ts'
import { isComparison } from '../expressions/ranges.ts'
import { isStable } from '../functions/builtins.ts'
import { isSubset, partsOf } from '../patterns/operation-parts.ts'
import type { EvaluationScope } from '../scope.ts'
import type { Batch } from '../vectors/batch.ts'
import { rowsOfTable } from '../vectors/row-filters.ts'
import { orderOf, primitiveOf, valuesEqual } from '../vectors/term-order.ts'
import type { TermValue } from '../vectors/value.ts'
import { KeyedGroups } from './keyed-groups.ts'

type Operator = '<' | '<=' | '>' | '>=' | '!='

/**
 * A group that is tested for a solution by an inequality between a value of its own and one of the tested row, such as `NOT EXISTS {
 * ?other :of ?group ; :size ?size FILTER(?size > ?own) }`: of the solutions that are alike in what else is tested, those with the
 * greatest value suffice.
 */
export interface ComparedGroup {
  /** The group without the conditions that read variables of the tested row. */
  readonly input: SparqlOperation
  /** Conditions on a solution together with a row. */
  readonly conditions: readonly AlgebraExpression[]
  /** Variables of the group that the row has as well, or that other conditions read; and expressions that these read. */
  readonly names: readonly string[]
  readonly keys: readonly AlgebraExpression[]
  /** The compared value, on the left of the operator. */
  readonly value: AlgebraExpression
  readonly operator: Operator
  /** An equality of a value of the group and one of the row. */
  readonly equality: { readonly inner: AlgebraExpression; readonly outer: AlgebraExpression } | null
}

/** Null for other groups. @param outer the variables that all tested rows bind */
export function comparedGroup(group: SparqlOperation, outer: ReadonlySet<string>): ComparedGroup | null {
  const { patterns, paths, others, filters } = partsOf(group)
  if (patterns.length === 0 || paths.length + others.length > 0) return null
  const bound = variablesOf(group)
  const isOwn = (filter: AlgebraExpression) => isSubset(variablesOfExpression(filter), bound)
  const conditions = filters.filter(filter => !isOwn(filter))
  if (!conditions.every(isStable)) return null
  const sides = conditions.map(condition => innerSide(condition, bound, outer))
  const compared = sides.find(side => side !== null && side.operator !== '=')
  if (compared == null) return null
  const own = filters.filter(isOwn)
  const equality = sides.find(side => side?.operator === '=')
  const names = new Set([...bound].filter(name => outer.has(name)))
  for (const [at, side] of sides.entries())
    if (side === null)
      for (const name of variablesOfExpression(conditions[at] as AlgebraExpression))
        if (bound.has(name)) names.add(name)
  return {
    input: own.reduce<SparqlOperation>((input, condition) => ({ type: 'filter', input, condition }), {
      type: 'bgp',
      patterns,
    }),
    conditions,
    names: [...names],
    keys: sides.flatMap(side => (side === null || side === compared ? [] : [side.inner])),
    value: compared.inner,
    operator: compared.operator as Operator,
    equality: equality ?? null,
  }
}

/** The side of a comparison that reads the group alone, where the other reads the row alone; null for other conditions. */
function innerSide(condition: AlgebraExpression, bound: ReadonlySet<string>, outer: ReadonlySet<string>) {
  if (condition.type !== 'binary' || !isComparison(condition.operator)) return null
  const { left, right, operator } = condition
  for (const side of [
    { inner: left, outer: right, operator },
    { inner: right, outer: left, operator: FLIPPED[operator] },
  ]) {
    const read = variablesOfExpression(side.inner)
    if (read.size > 0 && isSubset(read, bound) && isSubset(variablesOfExpression(side.outer), outer))
      return side
  }
  return null
}

/** The solutions of a compared group that suffice for its test: one of each kind of value for all that are alike, two for `!=`. */
export function sufficient(
  { names, keys, value, operator }: ComparedGroup,
  batch: Batch,
  scope: EvaluationScope,
  evaluation: Evaluation,
): Batch {
  if (batch.size === 0) return batch
  const keyNames = keys.map((_, at) => ` key ${at}`)
  const keyed = batch.with(
    keys.map((key, at) => [keyNames[at] as string, vectorOf(key, batch, scope, evaluation)]),
  )
  const groups = new KeyedGroups([...names, ...keyNames], evaluation)
  const numbers = groups.assign(keyed).slice()
  const scalar = scope.scalars.compile(value, batch)
  const count = groups.count()
  const best = new Map<string, Best>()
  const bestOf = (kind: string): Best =>
    memoised(best, kind, () => {
      evaluation.allocate(16 * count)
      return { rows: new Int32Array(count).fill(-1), values: new Array<TermValue>(count), kind }
    })
  const isRetained = new Uint8Array(batch.size)
  evaluation.allocate(batch.size)
  let known: Best | null = null
  for (let row = 0; row < batch.size; row++) {
    if (row % 256 === 0) evaluation.advance(256)
    const own = scalar(row)
    // A comparison with an error is an error.
    if (own === null) continue
    isRetained[row] = 1
    const kind = kindOf(own, operator)
    if (kind === null) continue
    if (best.size >= MAX_KINDS && !best.has(kind)) continue
    if (known?.kind !== kind) known = bestOf(kind)
    const { rows, values } = known as Best
    const group = numbers[row] as number
    const before = rows[group] as number
    if (before === SEVERAL || (before >= 0 && !isBetter(own, values[group] as TermValue, operator))) {
      isRetained[row] = 0
    } else if (before >= 0 && operator === '!=') {
      rows[group] = SEVERAL
    } else {
      if (before >= 0) isRetained[before] = 0
      rows[group] = row
      values[group] = own
    }
  }
  evaluation.release(16 * count * best.size)
  return batch.rows(rowsOfTable(isRetained, 1, null))
}

/** Kinds of values, such as languages, of which the best are retained; of others all values are. */
const MAX_KINDS = 16

/** By group: the row with the best value of a kind so far, and the value; -1 for none. */
interface Best {
  readonly kind: string
  readonly rows: Int32Array
  readonly values: TermValue[]
}

/** In place of a row: two values that differ are retained for `!=`. */
const SEVERAL = -2

/** True where a value suffices in place of a known one; for `!=`, where both suffice together. */
function isBetter(own: TermValue, known: TermValue, operator: Operator): boolean {
  if (operator === '!=') return valuesEqual(own, known) === false
  const order = orderOf(own, known) ?? 0
  return operator.startsWith('>') ? order > 0 : order < 0
}

/**
 * Values of one kind have a total order, which is that of their comparisons with any other value; for `!=` at most one of two that
 * differ equals any other value, which is not so for numbers and moments. Null for values without a kind.
 */
function kindOf(value: TermValue, operator: Operator): string | null {
  switch (value.type) {
    case 'number':
      return operator === '!=' || Number.isNaN(value.value) ? null : value.kind
    case 'moment':
      return operator === '!=' ? null : `${primitiveOf(value)} ${value.offset === null}`
    case 'text':
      return `text ${value.language.toLowerCase()}`
    case 'boolean':
      return 'boolean'
    case 'iri':
    case 'blank':
      return 'resource'
    default:
      return null
  }
}
