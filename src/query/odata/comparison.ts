import type { Expression, ODataComparison, Span } from '../../language/odata/ast.ts'
import { FLIPPED } from '../../model/comparison.ts'
import { conjunction, disjunction, negate, refuseLarge } from '../conditions.ts'
import {
  ALWAYS,
  type Comparator,
  type Condition,
  canBeInfinite,
  functionScalar,
  NEVER,
  numberScalar,
  type Scalar,
} from '../plan.ts'
import { epochOf, relatedCells } from './apply-evaluate.ts'
import { epochScalar } from './computed.ts'
import { certain, logicTest, presence, someOf } from './logic.ts'
import { type Scope, unserved, wrong } from './scope.ts'
import {
  describeExpression,
  describeType,
  isNumericKind,
  type PrimitiveKind,
  primitiveKindOf,
  scalarOf,
  startOf,
  type TypedConstant,
  type TypedExpression,
  type TypedTest,
  type TypedValue,
} from './typed-expression.ts'

/** One side of a comparison. */
export interface Side {
  readonly typed: TypedExpression
  readonly node: Expression
}

/**
 * Returns the condition of a comparison (URL Conventions 5.1.1.1): it is never null. `eq` holds of two nulls, `ne` is its
 * negation, the others do not hold where either side is null.
 */
export function compare(
  left: Side,
  operator: ODataComparison,
  right: Side,
  span: Span,
  scope: Scope,
): TypedTest {
  if (operator === 'ne') return certain(negate(compare(left, 'eq', right, span, scope).holds))
  refuseUnlike(left, operator, right, span, scope)
  const holds = comparison(left.typed, COMPARATORS[operator], right.typed, scope)
  refuseLarge({ type: 'truth', holds, fails: NEVER })
  return certain(holds)
}

/** Refuses operands that cannot be compared: only null, primitive values of one kind, and positions compared with null remain. */
function refuseUnlike(left: Side, operator: ODataComparison, right: Side, span: Span, scope: Scope): void {
  for (const { typed, node } of [left, right]) {
    if (typed.type === 'object') throw unserved(scope, 'A comparison with an object', node.span)
    if (typed.type === 'collection') {
      const other = typed === left.typed ? right.typed : left.typed
      if (other.type === 'list' || other.type === 'collection')
        throw unserved(scope, 'A comparison of collections', span)
      const hint = `use ${describeExpression(node)}/any(x:x eq 'a')`
      throw wrong(
        scope,
        `The collection ${describeExpression(node)} cannot be compared with a value`,
        node.span,
        hint,
      )
    }
    if (typed.type === 'list') throw wrong(scope, 'A list stands beside the operator in', node.span)
  }
  const sides = [left.typed, right.typed]
  if (sides.some(({ type }) => type === 'record')) throw unserved(scope, 'A comparison of entities', span)
  if (sides.some(({ type }) => type === 'null')) return
  if (sides.every(({ type }) => type === 'place')) throw unserved(scope, 'A comparison of places', span)
  const [a, b] = sides.map(primitiveKindOf)
  if (a !== null && b !== null && a !== undefined && b !== undefined && areAlike(a, b, operator)) return
  throw wrong(
    scope,
    `${startOf(left.node, left.typed)} cannot be compared by ${operator} with ${describeExpression(right.node)} of type ${describeType(right.typed)}`,
    span,
    quoted(left, b) ?? quoted(right, a),
  )
}

/** A hint about a literal text beside a number, day or moment. */
function quoted({ typed }: Side, other: PrimitiveKind | null | undefined): string | undefined {
  if (typed.type !== 'constant' || typed.kind !== 'string') return undefined
  if (isTemporal(other)) return 'write a date without quotes'
  return other && isNumericKind(other) ? 'write a number without quotes' : undefined
}

function isTemporal(kind: PrimitiveKind | null | undefined): boolean {
  return kind === 'date' || kind === 'moment'
}

function areAlike(a: PrimitiveKind, b: PrimitiveKind, operator: ODataComparison): boolean {
  if (a === 'geography' || b === 'geography') return false
  if ((a === 'guid' || a === 'binary') && operator !== 'eq') return false
  return a === b || (isNumericKind(a) && isNumericKind(b)) || (isTemporal(a) && isTemporal(b))
}

const COMPARATORS = { eq: '=', ne: '!=', gt: '>', ge: '>=', lt: '<', le: '<=' } as const
type Ordered = Exclude<Comparator, '!='>

function comparison(
  left: TypedExpression,
  operator: Ordered,
  right: TypedExpression,
  scope: Scope,
): Condition {
  if (left.type === 'null' || right.type === 'null')
    return operator === '=' ? absence(left.type === 'null' ? right : left) : NEVER
  const [a, b] = [logicTest(left), logicTest(right)]
  if (a !== null && b !== null) return compareTests(a, operator, b)
  if (left.type === 'constant' && right.type === 'constant') return compareConstants(left, operator, right)
  if (left.type === 'constant' && right.type === 'value')
    return compareConstant(right, FLIPPED[operator], left, scope)
  if (left.type === 'value' && right.type === 'constant') return compareConstant(left, operator, right, scope)
  if (left.type === 'value' && right.type === 'value') return compareValues(left, operator, right)
  return NEVER
}

function absence(typed: TypedExpression): Condition {
  switch (typed.type) {
    case 'null':
      return ALWAYS
    case 'place':
      return negate({ type: 'present', field: typed.field })
    case 'value':
      return negate(presence(typed.scalar))
    case 'test':
      return negate(disjunction([typed.holds, typed.fails]))
    default:
      return NEVER
  }
}

/** False sorts before true. */
function compareTests(a: TypedTest, operator: Ordered, b: TypedTest): Condition {
  const equal = disjunction([conjunction([a.holds, b.holds]), conjunction([a.fails, b.fails])])
  switch (operator) {
    case '=': {
      const isNull = conjunction([a.holds, a.fails, b.holds, b.fails].map(negate))
      return isCertain(a) || isCertain(b) ? equal : disjunction([equal, isNull])
    }
    case '>':
      return conjunction([a.holds, b.fails])
    case '<':
      return conjunction([a.fails, b.holds])
    case '>=':
      return disjunction([equal, conjunction([a.holds, b.fails])])
    case '<=':
      return disjunction([equal, conjunction([a.fails, b.holds])])
  }
}

function isCertain({ holds, fails }: TypedTest): boolean {
  const isOpposite = (a: Condition, b: Condition) => a.type === 'not' && a.operand === b
  return isOpposite(holds, fails) || isOpposite(fails, holds)
}

function compareConstants(left: TypedConstant, operator: Comparator, right: TypedConstant): Condition {
  const mixed = left.kind !== right.kind && isTemporal(left.kind)
  const [a, b] = mixed ? [momentText(left), momentText(right)] : [left.value, right.value]
  const type = isTemporal(left.kind) ? 'datetime' : 'text'
  const isGuid = left.kind === 'guid'
  const [first, second] = isGuid ? [String(a).toLowerCase(), String(b).toLowerCase()] : [a, b]
  return { type: 'always', value: relatedCells(first, operator, second, type) }
}

/** A date or moment as a moment: a date is its midnight in UTC. */
function momentText({ kind, value }: TypedConstant): string {
  return kind === 'date' ? `${value}T00:00:00Z` : String(value)
}

function compareConstant(
  value: TypedValue,
  operator: Comparator,
  constant: TypedConstant,
  scope: Scope,
): Condition {
  const { scalar } = value
  if (constant.below !== undefined && value.kind === 'int') {
    if (operator === '=') return NEVER
    const below: Scalar = { type: 'constant', value: constant.below, of: 'int' }
    return plain(scalar, operator.startsWith('>') ? '>' : '<=', below)
  }
  if (typeof constant.value === 'number') {
    if (!Number.isFinite(constant.value)) return compareInfinity(scalar, operator, constant, scope)
    if (scalar.type === 'valueCount') return compareCount(scalar, operator, constant.value)
    return plain(scalar, operator, numberScalar(constant.value))
  }
  if (value.epoch) return plain(scalar, operator, numberScalar(epochOf(momentText(constant))))
  if (value.kind === 'date' && constant.kind === 'moment') return compareDay(scalar, operator, constant)
  if (value.kind === 'moment' && constant.kind === 'date')
    return plain(scalar, operator, { type: 'constant', value: momentText(constant), of: 'datetime' })
  return plain(scalar, operator, scalarOf(constant))
}

/** A date compared with a moment is its midnight; a moment within a day equals no date. */
function compareDay(scalar: Scalar, operator: Comparator, constant: TypedConstant): Condition {
  const text = String(constant.value)
  const day: Scalar = { type: 'constant', value: text.slice(0, 10), of: 'date' }
  if (text.slice(10) === 'T00:00:00Z') return plain(scalar, operator, day)
  if (operator === '=') return NEVER
  return plain(scalar, operator.startsWith('>') ? '>' : '<=', day)
}

/** A stored number is less than infinity; a computed one, as any value of a row may be, can be infinite itself. */
function compareInfinity(
  scalar: Scalar,
  operator: Comparator,
  constant: TypedConstant,
  { rows }: Scope,
): Condition {
  if (Number.isNaN(constant.value)) return NEVER
  if (rows || canBeInfinite(scalar))
    return { type: 'relation', left: scalar, operator, right: scalarOf(constant) }
  return relatedCells(0, operator, constant.value, 'double') ? presence(scalar) : NEVER
}

/** A comparison of a count that only depends on whether there are values becomes a test of presence. */
function compareCount(
  scalar: Extract<Scalar, { readonly type: 'valueCount' }>,
  operator: Comparator,
  value: number,
): Condition {
  const present = someOf(scalar)
  const [none, one, more] = [0, 1, Number.MAX_VALUE].map(count => relatedCells(count, operator, value, 'int'))
  if (none === one && one === more && Number(value) <= 1) return { type: 'always', value: none === true }
  if (one === more && value <= 1 && operator !== '=') return none ? negate(present) : present
  if (operator === '=' && value === 0) return negate(present)
  if (none && !one && !more) return negate(present)
  return { type: 'relation', left: scalar, operator, right: numberScalar(value) }
}

/** The simplest equivalent condition: a look-up of a field, a radius, or a relation of two values. */
function plain(scalar: Scalar, operator: Comparator, constant: Scalar): Condition {
  if (constant.type !== 'constant') return { type: 'relation', left: scalar, operator, right: constant }
  if (scalar.type === 'field') {
    const isWhole = typeof constant.value === 'bigint' || Number.isInteger(constant.value)
    if (scalar.field.type === 'int' && operator === '=' && !isWhole) return NEVER
    return { type: 'compare', field: scalar.field, operator, value: constant.value }
  }
  if (scalar.type === 'distance' && operator === '<=' && Number(constant.value) >= 0) {
    const { field, point } = scalar
    return { type: 'withinDistance', field, point, metres: Number(constant.value) }
  }
  return { type: 'relation', left: scalar, operator, right: constant }
}

function compareValues(left: TypedValue, operator: Comparator, right: TypedValue): Condition {
  const [a, b] = alike(left, right)
  const related: Condition = { type: 'relation', left: a, operator, right: b }
  if (operator !== '=') return related
  return disjunction([related, conjunction([negate(presence(a)), negate(presence(b))])])
}

/** Two values in the same form: numbers unchanged, dates and moments as moments or as seconds. */
function alike(left: TypedValue, right: TypedValue): readonly [Scalar, Scalar] {
  if (left.epoch || right.epoch) return [epochScalar(left), epochScalar(right)]
  if (left.kind === right.kind || !isTemporal(left.kind)) return [left.scalar, right.scalar]
  return [momentScalar(left), momentScalar(right)]
}

function momentScalar({ kind, scalar }: TypedValue): Scalar {
  return kind === 'date' ? functionScalar('datetime', scalar) : scalar
}
