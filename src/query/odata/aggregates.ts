import type { AggregateItem, Expression, Transformation } from '../../language/odata/ast.ts'
import { refuseLarge } from '../conditions.ts'
import type { Scalar } from '../plan.ts'
import { typedExpressionOf } from './expression.ts'
import type { RowAggregate } from './rows.ts'
import { type Scope, unserved, wrong } from './scope.ts'
import {
  describeExpression,
  describeType,
  isNumericKind,
  isValue,
  KIND_FIELDS,
  type PrimitiveKind,
  scalarOf,
  startOf,
} from './typed-expression.ts'

/** A cell of the rows: its name, a path for a coordinate of a point. */
export interface RowCell {
  readonly name: string
  readonly kind: PrimitiveKind
  readonly epoch: boolean
}

/** The result of an aggregation, and its operand (Data Aggregation 4.0, section 3.1.3). */
export interface AggregateColumn extends RowAggregate {
  readonly kind: PrimitiveKind
  readonly epoch: boolean
}

/** Returns the aggregate that an item requests. */
export function aggregateColumn({ operand, method, span }: AggregateItem, scope: Scope): AggregateColumn {
  const counted = { kind: 'int', epoch: false } as const
  if (operand === null) return { method: 'count', of: null, type: 'int', ...counted }
  const known = method.toLowerCase()
  if (!['sum', 'min', 'max', 'average', 'countdistinct'].includes(known))
    throw unserved(scope, `The method ${method.slice(0, 60)}`, span)
  const typed = typedExpressionOf(operand, scope)
  if (!isValue(typed))
    throw unserved(
      scope,
      `Aggregation of ${describeExpression(operand)} of type ${describeType(typed)}`,
      operand.span,
    )
  const kind = typed.type === 'test' ? 'boolean' : typed.kind
  const epoch = typed.type === 'value' && typed.epoch
  const value = { of: checked(scalarOf(typed)), type: epoch ? 'double' : KIND_FIELDS[kind] }
  if (known === 'countdistinct') return { method: known, ...value, ...counted }
  const isSummed = known === 'sum' || known === 'average'
  if (isSummed ? !isNumericKind(kind) && kind !== 'duration' : UNORDERED.includes(kind))
    throw wrong(scope, `${startOf(operand)} of type ${describeType(typed)} has no ${known}`, operand.span)
  const isWhole = known === 'average' && kind === 'int'
  return { method: known as RowAggregate['method'], ...value, kind: isWhole ? 'double' : kind, epoch }
}

const UNORDERED: readonly PrimitiveKind[] = ['boolean', 'guid', 'binary', 'geography']

/** Refuses a name that a property of the result already has. */
export function refuseTaken({ name, span }: AggregateItem, taken: Set<string>, scope: Scope): void {
  if (taken.has(name)) throw wrong(scope, `There is a property ${name.slice(0, 60)} already`, span)
  taken.add(name)
}

/** A value that is not too large. */
export function checked(scalar: Scalar): Scalar {
  refuseLarge(scalar)
  return scalar
}

/** The value that the top and bottom transformations rank by. */
export function aggregateNumber(node: Expression, scope: Scope): Scalar {
  const typed = typedExpressionOf(node, scope)
  if (typed.type === 'value' && isNumericKind(typed.kind)) return checked(typed.scalar)
  throw wrong(scope, `${startOf(node)} of type ${describeType(typed)} is no number`, node.span)
}

/** The constant that is a count or an amount. */
export function amountOf(node: Expression, isCount: boolean, scope: Scope): number {
  const typed = typedExpressionOf(node, scope)
  const value = typed.type === 'constant' ? Number(typed.value) : Number.NaN
  const fits = isCount ? Number.isSafeInteger(value) && value >= 0 : Number.isFinite(value)
  if (fits && typed.type === 'constant' && isNumericKind(typed.kind)) return value
  throw wrong(scope, `${startOf(node)} is no ${isCount ? 'count' : 'number'}`, node.span)
}

/** A transformation in plain words. */
export function aggregateName(step: Transformation): string {
  return `The transformation ${(step.type === 'other' ? step.name : step.type).slice(0, 60)}`
}
