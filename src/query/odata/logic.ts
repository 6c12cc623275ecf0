import type { Expression } from '../../language/odata/ast.ts'
import { FLIPPED } from '../../model/comparison.ts'
import type { Field } from '../../model/field.ts'
import { conjunction, disjunction, negate } from '../conditions.ts'
import {
  ALWAYS,
  arithmeticScalar,
  type Comparator,
  type Condition,
  type ElementTest,
  NEVER,
  numberScalar,
  planParts,
  type Scalar,
  scalarType,
} from '../plan.ts'
import { type Scope, wrong } from './scope.ts'
import { startOf, type TypedExpression, type TypedTest } from './typed-expression.ts'

/** A test that is never null. */
export function certain(holds: Condition): TypedTest {
  return { type: 'test', holds, fails: negate(holds) }
}

/** A test that is null for every record. */
const NEITHER: TypedTest = { type: 'test', holds: NEVER, fails: NEVER }

const TRUE: Scalar = { type: 'constant', value: true, of: 'boolean' }
const FALSE: Scalar = { type: 'constant', value: false, of: 'boolean' }

/** An expression as a three-valued boolean; null where it is not boolean. */
export function logicTest(typed: TypedExpression): TypedTest | null {
  switch (typed.type) {
    case 'test':
      return typed
    case 'null':
      return NEITHER
    case 'constant':
      return typed.kind === 'boolean' ? certain({ type: 'always', value: typed.value === true }) : null
    case 'value': {
      if (typed.kind !== 'boolean') return null
      const { scalar } = typed
      if (scalar.type === 'truth') return { type: 'test', holds: scalar.holds, fails: scalar.fails }
      if (scalar.type !== 'field')
        return {
          type: 'test',
          holds: beginning(scalar) ?? { type: 'relation', left: scalar, operator: '=', right: TRUE },
          fails: { type: 'relation', left: scalar, operator: '=', right: FALSE },
        }
      const { field } = scalar
      return {
        type: 'test',
        holds: { type: 'compare', field, operator: '=', value: true },
        fails: { type: 'compare', field, operator: '=', value: false },
      }
    }
    default:
      return null
  }
}

/** A `startsWith` test of a field as the plan's own condition for it; null for any other scalar. */
function beginning(scalar: Scalar): Condition | null {
  if (scalar.type !== 'function' || scalar.name !== 'startsWith') return null
  const [text, start] = scalar.arguments
  if (text?.type !== 'field' || start?.type !== 'constant') return null
  return { type: 'startsWith', field: text.field, text: String(start.value) }
}

/** An expression that must be boolean. */
export function requireTest(typed: TypedExpression, node: Expression, scope: Scope): TypedTest {
  const test = logicTest(typed)
  if (test !== null) return test
  throw wrong(
    scope,
    `${startOf(node, typed)} is not a condition`,
    node.span,
    typed.type === 'collection' ? 'use any or all' : 'compare it with something',
  )
}

/** Three-valued conjunction: it fails where any operand fails. */
export function conjunctionOfTests(tests: readonly TypedTest[]): TypedTest {
  const [holds, fails] = [tests.map(test => test.holds), tests.map(test => test.fails)]
  return { type: 'test', holds: conjunction(holds), fails: disjunction(fails) }
}

/** Three-valued disjunction: it fails where every operand fails. */
export function disjunctionOfTests(tests: readonly TypedTest[]): TypedTest {
  const [holds, fails] = [tests.map(test => test.holds), tests.map(test => test.fails)]
  return { type: 'test', holds: disjunction(holds), fails: conjunction(fails) }
}

/** The condition that a value is not null. */
export function presence(scalar: Scalar): Condition {
  switch (scalar.type) {
    case 'field':
    case 'distance':
    case 'coordinate':
      return { type: 'present', field: scalar.field }
    case 'constant':
    case 'element':
    case 'valueCount':
      return ALWAYS
    case 'truth':
      return disjunction([scalar.holds, scalar.fails])
    case 'choice':
      return firstThat(scalar.branches, ({ value }) => presence(value))
    case 'datePart':
      return presence(scalar.operand)
    case 'arithmetic':
      if (scalar.operator === '/' && !isNonZero(scalar.right)) return hasValue(scalar)
      return conjunction([presence(scalar.left), presence(scalar.right)])
    case 'function':
      switch (scalar.name) {
        case 'quotient':
        case 'modulo':
          if (!isNonZero(scalar.arguments[1])) return hasValue(scalar)
          break
        case 'int':
        case 'double':
        case 'boolean':
        case 'date':
        case 'datetime':
          if (scalar.arguments.some(argument => scalarType(argument) === 'text')) return hasValue(scalar)
          break
        default:
      }
      return conjunction(scalar.arguments.map(presence))
    default:
      return hasValue(scalar)
  }
}

/** The condition of the first branch that applies; it fails where no branch applies. */
export function firstThat<Item extends { readonly when: Condition }>(
  branches: readonly Item[],
  of: (branch: Item) => Condition,
): Condition {
  return disjunction(
    branches.map((branch, index) =>
      conjunction([...branches.slice(0, index).map(({ when }) => negate(when)), branch.when, of(branch)]),
    ),
  )
}

function hasValue(scalar: Scalar): Condition {
  return { type: 'relation', left: scalar, operator: '=', right: scalar }
}

function isNonZero(scalar: Scalar | undefined): boolean {
  return scalar?.type === 'constant' && scalar.value !== 0
}

/** The negation of a number: 0 minus it. */
export function negative(scalar: Scalar): Scalar {
  const exact = scalarType(scalar) === 'int' ? ({ of: 'int' } as const) : {}
  return { ...arithmeticScalar('-', numberScalar(0), scalar), ...exact }
}

/**
 * The condition that some value of a field satisfies another condition, in which it is the `element` of a number: as a condition
 * of the field itself where that is equivalent, because such conditions are looked up.
 */
export function someValue(field: Field, number: number, condition: Condition): Condition {
  const present: Condition = { type: 'present', field }
  if (condition.type === 'always') return condition.value ? present : NEVER
  if (!mentions(condition, number)) return conjunction([present, condition])
  if (condition.type === 'or')
    return disjunction(condition.operands.map(operand => someValue(field, number, operand)))
  if (condition.type === 'and') {
    const about = condition.operands.filter(operand => mentions(operand, number))
    const [only] = about
    const others = condition.operands.filter(operand => !mentions(operand, number))
    if (only !== undefined && about.length === 1)
      return conjunction([someValue(field, number, only), ...others])
    if (others.length > 0)
      return conjunction([{ type: 'some', field, number, condition: conjunction(about) }, ...others])
  }
  return ofField(field, number, condition) ?? { type: 'some', field, number, condition }
}

/** The condition that a collection has a value that is counted. */
export function someOf({ field, where }: { readonly field: Field; readonly where?: ElementTest }): Condition {
  return where === undefined ? { type: 'present', field } : someValue(field, where.number, where.condition)
}

const OPPOSITE: Readonly<Record<Comparator, Comparator>> = {
  '=': '!=',
  '!=': '=',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
}

/** A comparison of the element, or its prefix, as a condition of the field; null for any other. */
function ofField(field: Field, number: number, condition: Condition): Condition | null {
  if (condition.type === 'not') {
    const inner = ofField(field, number, condition.operand)
    return inner?.type === 'compare' ? { ...inner, operator: OPPOSITE[inner.operator] } : null
  }
  if (condition.type !== 'relation') return null
  const { left, operator, right } = condition
  if (isElement(left, number) && right.type === 'constant')
    return { type: 'compare', field, operator, value: right.value }
  if (isElement(right, number) && left.type === 'constant')
    return { type: 'compare', field, operator: FLIPPED[operator], value: left.value }
  const isTrue = operator === '=' && right.type === 'constant' && right.value === true
  if (left.type !== 'function' || left.name !== 'startsWith' || !isTrue) return null
  const [text, start] = left.arguments
  if (text === undefined || !isElement(text, number) || start?.type !== 'constant') return null
  return { type: 'startsWith', field, text: String(start.value) }
}

function isElement(scalar: Scalar, number: number): boolean {
  return scalar.type === 'element' && scalar.number === number
}

/** True where a condition or value refers to the element of a number. */
function mentions(node: Condition | Scalar, number: number): boolean {
  return (
    (node.type === 'element' && node.number === number) ||
    planParts(node).some(part => mentions(part, number))
  )
}

/** The condition that every value of a field satisfies another condition; it holds if there are no values. */
export function everyValue(field: Field, number: number, condition: Condition): Condition {
  return negate(someValue(field, number, negate(condition)))
}
