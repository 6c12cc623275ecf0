import type { Span } from '../../language/odata/ast.ts'
import { refuseLarge } from '../conditions.ts'
import { type Branch, type Condition, NEVER, type Scalar } from '../plan.ts'
import { epochOf } from './apply-evaluate.ts'
import { promotedKind } from './arithmetic.ts'
import type { Side } from './comparison.ts'
import { epochScalar } from './computed.ts'
import { firstThat, logicTest } from './logic.ts'
import { type Scope, unserved, wrong } from './scope.ts'
import {
  describeType,
  isNumericKind,
  KIND_FIELDS,
  NULL,
  NULL_SCALAR,
  type PrimitiveKind,
  perRecord,
  scalarOf,
  type TypedConstant,
  type TypedExpression,
  type TypedValue,
} from './typed-expression.ts'

/** A branch of `case`: its condition and its value. */
interface Case {
  readonly when: Condition
  readonly side: Side
}

type Operand = TypedConstant | TypedValue

/** Returns the value of `case` (URL Conventions 4.01, 5.1.1.10.4): the first branch whose condition is true, else null. */
export function choiceOf(all: readonly Case[], span: Span, scope: Scope): TypedExpression {
  const cases = reachable(all)
  const [first] = cases
  if (first === undefined) return NULL
  if (first.when.type === 'always') return first.side.typed
  if (cases.every(({ side }) => side.typed.type === 'null')) return NULL
  // Before each condition is repeated with those of all branches before it.
  refuseLarge({
    type: 'choice',
    branches: cases.map(({ when }) => ({ when, value: NULL_SCALAR })),
    of: 'int',
  })
  const tests = cases.flatMap(({ when, side }) => {
    const test = logicTest(side.typed)
    return test === null ? [] : [{ when, test }]
  })
  if (tests.length === cases.length) {
    const holds = firstThat(tests, ({ test }) => test.holds)
    const fails = firstThat(tests, ({ test }) => test.fails)
    refuseLarge({ type: 'truth', holds, fails: NEVER })
    return { type: 'test', holds, fails }
  }
  const operands = cases.flatMap(({ side }) => operandOf(side, scope) ?? [])
  const kind = operands.map(operand => operand.kind).reduce((a, b) => common(a, b, span, scope))
  const epoch = operands.some(operand => operand.type === 'value' && operand.epoch)
  const branches = cases.map(({ when, side }): Branch => {
    const operand = operandOf(side, scope)
    return { when, value: operand === null ? NULL_SCALAR : scalarAs(kind, epoch, operand) }
  })
  return perRecord(kind, { type: 'choice', branches, of: epoch ? 'double' : KIND_FIELDS[kind] }, epoch)
}

/** The branches that can apply: none after one that always applies. */
function reachable(cases: readonly Case[]): readonly Case[] {
  const possible = cases.filter(({ when }) => when.type !== 'always' || when.value)
  const end = possible.findIndex(({ when }) => when.type === 'always')
  return end < 0 ? possible : possible.slice(0, end + 1)
}

/** A primitive value; null for null. */
function operandOf({ typed, node }: Side, scope: Scope): Operand | null {
  if (typed.type === 'null') return null
  const isPrimitive = typed.type === 'constant' || typed.type === 'value'
  if (isPrimitive && typed.kind !== 'geography') return typed
  throw unserved(scope, `A branch of case of type ${describeType(typed)} beside others`, node.span)
}

function common(a: PrimitiveKind, b: PrimitiveKind, span: Span, scope: Scope): PrimitiveKind {
  if (a === b) return a
  if (isNumericKind(a) && isNumericKind(b)) return promotedKind(a, b)
  const [one, other] = [a, b].map(kind => describeType({ type: 'constant', kind, value: '' }))
  throw wrong(scope, `The branches of case are of several types, ${one} and ${other}`, span)
}

/** A value in the form that all branches have: the store groups 8 and 8.0 apart. */
function scalarAs(kind: PrimitiveKind, epoch: boolean, operand: Operand): Scalar {
  if (epoch && operand.type === 'value') return epochScalar(operand)
  const scalar = scalarOf(operand)
  if (epoch)
    return { type: 'constant', value: epochOf(String((operand as TypedConstant).value)), of: 'double' }
  if (!isNumericKind(kind) || kind === operand.kind) return scalar
  if (scalar.type === 'constant') return { ...scalar, of: 'double' }
  return { type: 'function', name: 'double', arguments: [scalar], of: 'double' }
}
