import type { AggregateItem, Expression, Transformation } from '../../language/odata/ast.ts'
import type { FieldType } from '../../model/field.ts'
import { capital } from '../faults.ts'
import { refuseLarge } from '../filter-limits.ts'
import type { Scalar } from '../plan.ts'
import { meaningOf } from './expression.ts'
import type { RowAggregate } from './rows.ts'
import { type Scope, unserved, wrong } from './scope.ts'
import {
  describeMeaning,
  describeType,
  isNumericMeaning,
  isValue,
  KIND_FIELDS,
  type MeaningKind,
  scalarOf,
} from './typed-expression.ts'

/** A cell of the rows: what it is called, a path for the part of a point. */
export interface RowCell {
  readonly name: string
  readonly kind: MeaningKind
  readonly epoch: boolean
}

/** The result of an aggregation, and its operand (Data Aggregation 4.0, section 3.1.3). */
export interface AggregateColumn extends RowAggregate {
  readonly kind: MeaningKind
  readonly epoch: boolean
}

/** Returns the aggregate that an item requests. */
export function aggregateColumn({ operand, method, span }: AggregateItem, scope: Scope): AggregateColumn {
  const counted = { kind: 'int', epoch: false } as const
  if (operand === null) return { method: 'count', of: null, type: 'int', ...counted }
  const known = method.toLowerCase()
  if (!['sum', 'min', 'max', 'average', 'countdistinct'].includes(known))
    throw unserved(scope, `The method ${method.slice(0, 60)}`, span)
  const meaning = meaningOf(operand, scope)
  if (!isValue(meaning))
    throw unserved(
      scope,
      `Aggregation of ${describeMeaning(operand)} of type ${describeType(meaning)}`,
      operand.span,
    )
  const kind = meaning.type === 'test' ? 'boolean' : meaning.kind
  const epoch = meaning.type === 'value' && meaning.epoch
  const value = { of: checked(scalarOf(meaning)), type: typeOf(kind, epoch) }
  if (known === 'countdistinct') return { method: known, ...value, ...counted }
  const isSummed = known === 'sum' || known === 'average'
  if (isSummed ? !isNumericMeaning(kind) && kind !== 'duration' : UNORDERED.includes(kind))
    throw wrong(
      scope,
      `${capital(describeMeaning(operand))} of type ${describeType(meaning)} has no ${known}`,
      operand.span,
    )
  const isWhole = known === 'average' && kind === 'int'
  return { method: known as RowAggregate['method'], ...value, kind: isWhole ? 'double' : kind, epoch }
}

const UNORDERED: readonly MeaningKind[] = ['boolean', 'guid', 'binary', 'geography']

function typeOf(kind: MeaningKind, epoch: boolean): FieldType {
  return epoch ? 'double' : KIND_FIELDS[kind]
}

/** Refuses a name that a property of the result has already. */
export function refuseTaken({ name, span }: AggregateItem, taken: Set<string>, scope: Scope): void {
  if (taken.has(name)) throw wrong(scope, `There is a property ${name.slice(0, 60)} already`, span)
  taken.add(name)
}

/** A value that is not too large. */
export function checked(scalar: Scalar): Scalar {
  refuseLarge(scalar)
  return scalar
}

/** The value that distinguishes the most from the least. */
export function aggregateNumber(node: Expression, scope: Scope): Scalar {
  const meaning = meaningOf(node, scope)
  if (meaning.type === 'value' && isNumericMeaning(meaning.kind)) return checked(meaning.scalar)
  throw wrong(
    scope,
    `${capital(describeMeaning(node))} of type ${describeType(meaning)} is no number`,
    node.span,
  )
}

/** The constant that is a count or an amount. */
export function amountOf(node: Expression, isCount: boolean, scope: Scope): number {
  const meaning = meaningOf(node, scope)
  const value = meaning.type === 'constant' ? Number(meaning.value) : Number.NaN
  const fits = isCount ? Number.isSafeInteger(value) && value >= 0 : Number.isFinite(value)
  if (fits && meaning.type === 'constant' && isNumericMeaning(meaning.kind)) return value
  throw wrong(scope, `${capital(describeMeaning(node))} is no ${isCount ? 'count' : 'number'}`, node.span)
}

/** A transformation in plain words. */
export function aggregateName(step: Transformation): string {
  return `The transformation ${(step.type === 'other' ? step.name : step.type).slice(0, 60)}`
}
