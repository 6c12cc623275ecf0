import type { Expression } from '../../language/odata/ast.ts'
import { conjunction, disjunction, negate } from '../conditions.ts'
import { ALWAYS, type Condition, NEVER, numberScalar, type Scalar, scalarType } from '../plan.ts'
import { type Scope, wrong } from './scope.ts'
import { describeType, startOf, type TypedExpression, type TypedTest } from './typed-expression.ts'

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
    `${startOf(node)} of type ${describeType(typed)} is not a condition`,
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
    case 'length':
    case 'lower':
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

/** True where a number can be infinite or NaN: the store holds no such numbers, but divisions produce them. */
export function canBeInfinite(scalar: Scalar): boolean {
  switch (scalar.type) {
    case 'function':
      if (scalar.name === 'divide' || scalar.name === 'remainder' || scalar.name === 'double') return true
      return scalar.arguments.some(canBeInfinite)
    case 'arithmetic':
      return canBeInfinite(scalar.left) || canBeInfinite(scalar.right)
    case 'choice':
      return scalar.branches.some(({ value }) => canBeInfinite(value))
    default:
      return false
  }
}

/** The negation of a number: 0 minus it. */
export function negative(scalar: Scalar): Scalar {
  const exact = scalarType(scalar) === 'int' ? ({ of: 'int' } as const) : {}
  return { type: 'arithmetic', operator: '-', left: numberScalar(0), right: scalar, ...exact }
}
