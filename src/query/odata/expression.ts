import type {
  ArithmeticOperator,
  ComparisonOperator,
  Expression,
  Literal,
  LogicalOperator,
} from '../../language/odata/ast.ts'
import { dateBounds, parseDate } from '../dates.ts'
import type { Condition } from '../plan.ts'
import { calculate, negated } from './arithmetic.ts'
import { castTo, isOf, operandNode } from './cast.ts'
import { compare, type Side } from './comparison.ts'
import { applyFunction } from './functions.ts'
import { applyGeo } from './geo.ts'
import { everyValue, someValue } from './lambda.ts'
import { capital, certain, conjunction, disjunction, either, requireTest, testOf } from './logic.ts'
import {
  type ConstantMeaning,
  constantOf,
  describe,
  describeType,
  type Kind,
  type Meaning,
  NULL,
  perRecord,
  type TestMeaning,
} from './meaning.ts'
import { type Scope, unknown, unserved, within, wrong } from './scope.ts'

/** Gives the condition that a filter means: that it is true. */
export function conditionOf(node: Expression, scope: Scope): Condition {
  return testAt(node, scope).holds
}

/** Gives what an expression means in a place. */
export function meaningOf(node: Expression, outer: Scope): Meaning {
  const scope = within(outer, node)
  switch (node.type) {
    case 'binary': {
      const turned = turnedNot(node, scope)
      if (turned !== null) return turned
      if (isLogical(node.operator)) return logical(node, scope)
      const [left, right] = [sideOf(node.left, scope), sideOf(node.right, scope)]
      if (node.operator === 'has') throw unserved(scope, 'The operator has', node.span)
      if (isArithmetic(node.operator)) return calculate(left, node.operator, right, node.span, scope)
      return compare(left, node.operator as ComparisonOperator, right, node.span, scope)
    }
    case 'not': {
      const test = testAt(node.operand, scope)
      return { type: 'test', holds: test.fails, fails: test.holds }
    }
    case 'negate':
      return negated(sideOf(node.operand, scope), scope)
    case 'in':
      return turnedNot(node, scope) ?? among(node, scope)
    case 'literal':
      return literalMeaning(node, scope)
    case 'null':
      return NULL
    case 'name':
      return named(node, scope)
    case 'member':
      return member(node, scope)
    case 'lambda':
      return lambda(node, scope)
    case 'count':
      return counted(node, scope)
    case 'filtered':
      throw unserved(scope, 'A collection that is filtered in an expression', node.span)
    case 'call': {
      const isGeo = node.name.toLowerCase().startsWith('geo.')
      const sides = isKnown(node.name, isGeo) ? node.arguments.map(argument => sideOf(argument, scope)) : []
      return isGeo ? applyGeo(node, sides, scope) : applyFunction(node, sides, scope)
    }
    case 'cast':
      return castTo(sideOf(operandNode(node), scope), node.target, node.span, scope)
    case 'isof':
      return isOf(sideOf(operandNode(node), scope), node.target, node.span, scope)
    case 'alias':
      return aliased(node, scope)
    case 'list':
      return { type: 'list', items: node.items }
    case 'object':
      return { type: 'object' }
    case 'case':
      throw unserved(scope, 'The function case', node.span)
    default:
      return node satisfies never
  }
}

/** The arguments of a function that is not served are not looked at. */
function isKnown(name: string, isGeo: boolean): boolean {
  return isGeo || !name.includes('.')
}

function sideOf(node: Expression, scope: Scope): Side {
  return { meaning: meaningOf(node, scope), node }
}

function testAt(node: Expression, scope: Scope): TestMeaning {
  return requireTest(meaningOf(node, scope), node, scope)
}

type Binary = Extract<Expression, { type: 'binary' }>

function isLogical(operator: Binary['operator']): operator is LogicalOperator {
  return operator === 'and' || operator === 'or'
}

function isArithmetic(operator: Binary['operator']): operator is ArithmeticOperator {
  return ['add', 'sub', 'mul', 'div', 'divby', 'mod'].includes(operator)
}

/** A chain of one operator is one condition, however long. */
function logical(node: Binary, scope: Scope): Meaning {
  const tests = chain(node).map(operand => testAt(operand, scope))
  return node.operator === 'and' ? conjunction(tests) : disjunction(tests)
}

function chain(node: Binary): readonly Expression[] {
  const operands: Expression[] = []
  const rest: Expression[] = [node]
  for (let next = rest.pop(); next !== undefined; next = rest.pop())
    if (next.type === 'binary' && next.operator === node.operator) rest.push(next.right, next.left)
    else operands.push(next)
  return operands
}

/**
 * `not population ge 100050`: by the table of precedence `not` belongs to the population, which is no boolean; then it
 * is meant of the whole comparison (facts on OData, 2.5). Null where nothing has to be turned.
 */
function turnedNot(node: Extract<Expression, { type: 'binary' | 'in' }>, scope: Scope): Meaning | null {
  if (node.type === 'binary' && isLogical(node.operator)) return null
  const operand = leftmostNot(node)
  if (operand === null || testOf(meaningOf(operand, scope)) !== null) return null
  const test = testAt(withoutNot(node), scope)
  return { type: 'test', holds: test.fails, fails: test.holds }
}

/** The operand of the `not` with which an expression begins; null where it begins with none. */
function leftmostNot(node: Extract<Expression, { type: 'binary' | 'in' }>): Expression | null {
  let first: Expression = node
  while ((first.type === 'binary' && !isLogical(first.operator)) || first.type === 'in') first = first.left
  return first.type === 'not' ? first.operand : null
}

function withoutNot(node: Expression): Expression {
  if (node.type === 'not') return node.operand
  return node.type === 'binary' || node.type === 'in' ? { ...node, left: withoutNot(node.left) } : node
}

function among({ left, right, span }: Extract<Expression, { type: 'in' }>, scope: Scope): Meaning {
  const side = sideOf(left, scope)
  const list = meaningOf(right, scope)
  if (list.type === 'list') {
    const tests = list.items.map(item => compare(side, 'eq', sideOf(item, scope), item.span, scope))
    return certain(either(tests.map(({ holds }) => holds)))
  }
  if (list.type !== 'collection')
    throw wrong(
      scope,
      `${capital(describe(right))} of type ${describeType(list)} is no collection`,
      right.span,
    )
  const { field } = list
  const element = nextElement(scope)
  const test = compare(side, 'eq', { meaning: elementMeaning(element), node: right }, span, scope)
  return certain(someValue(field, element, test.holds))
}

function nextElement({ request }: Scope): number {
  request.elements += 1
  return request.elements
}

function elementMeaning(number: number): Meaning {
  return perRecord('string', { type: 'element', number, of: 'text' })
}

function lambda(node: Extract<Expression, { type: 'lambda' }>, scope: Scope): Meaning {
  const collection = meaningOf(node.of, scope)
  if (collection.type !== 'collection')
    throw wrong(
      scope,
      `${capital(describe(node.of))} of type ${describeType(collection)} is no collection, which ${node.quantifier} takes`,
      node.span,
    )
  const { field } = collection
  const { variable, predicate } = node
  if (variable === null || predicate === null) {
    if (node.quantifier === 'any') return certain({ type: 'present', field })
    throw wrong(scope, 'all needs an expression', node.span)
  }
  const number = nextElement(scope)
  const variables = new Map(scope.variables).set(variable, elementMeaning(number))
  const condition = testAt(predicate, { ...scope, variables }).holds
  return certain((node.quantifier === 'any' ? someValue : everyValue)(field, number, condition))
}

function counted(node: Extract<Expression, { type: 'count' }>, scope: Scope): Meaning {
  if (node.of.type === 'filtered' || node.filter !== null || node.search !== null)
    throw unserved(scope, 'The count of a part of a collection', node.span)
  const collection = meaningOf(node.of, scope)
  if (collection.type === 'collection')
    return perRecord('int', { type: 'valueCount', field: collection.field })
  throw wrong(
    scope,
    `${capital(describe(node.of))} of type ${describeType(collection)} is no collection, and has no $count`,
    node.span,
  )
}

/** Variables shadow properties; `$it` is the record, in and outside of lambda expressions. */
function named({ name, span }: Extract<Expression, { type: 'name' }>, scope: Scope): Meaning {
  const known = scope.variables.get(name) ?? scope.names.get(name)
  if (known !== undefined) return known
  if (name === '$it') return { type: 'record' }
  if (name === '$this') throw wrong(scope, '$this stands in options of collections only', span)
  if (name.startsWith('$') || name.startsWith('@')) throw unserved(scope, name.slice(0, 60), span)
  throw unknown(scope, name, span)
}

function member(node: Extract<Expression, { type: 'member' }>, scope: Scope): Meaning {
  const { of, name, span } = node
  const path = of.type === 'name' ? scope.names.get(`${of.name}/${name}`) : undefined
  if (path !== undefined && of.type === 'name' && !scope.variables.has(of.name)) return path
  const owner = meaningOf(of, scope)
  if (owner.type === 'null') return NULL
  if (owner.type === 'record') {
    if (name === scope.request.entity) return owner
    return named({ type: 'name', name, span }, { ...scope, variables: new Map() })
  }
  if (owner.type === 'place' && owner.field.type === 'geo_point_2d') {
    if (name === 'latitude' || name === 'longitude')
      return perRecord('double', {
        type: 'coordinate',
        axis: name === 'latitude' ? 'lat' : 'lon',
        field: owner.field,
      })
    throw wrong(
      scope,
      `${capital(describe(of))} has no ${name.slice(0, 60)}`,
      span,
      'it has latitude and longitude',
    )
  }
  const hint = owner.type === 'collection' ? 'use any or all' : undefined
  throw wrong(scope, `${capital(describe(of))} of type ${describeType(owner)} has no properties`, span, hint)
}

/** An alias stands for its expression, about the record and not about variables; one that is not given is null. */
function aliased({ name, span }: Extract<Expression, { type: 'alias' }>, scope: Scope): Meaning {
  const { aliases } = scope.request
  const expression = aliases.get(name) ?? aliases.get(name.slice(1))
  if (expression === undefined) return NULL
  if (scope.depth > MOST_ALIASED && expression.type === 'alias')
    throw wrong(scope, `The alias ${name.slice(0, 60)} stands for itself`, span)
  return meaningOf(expression, { ...scope, option: name, variables: new Map() })
}

/** Depth from which on aliases of aliases are taken to go round in a circle. */
const MOST_ALIASED = 100

function literalMeaning(node: Literal, scope: Scope): Meaning {
  const { value, of, span } = node
  switch (of) {
    case 'Edm.String':
      return constantOf('string', String(value))
    case 'Edm.Boolean':
      return constantOf('boolean', value === true)
    case 'Edm.Int32':
    case 'Edm.Int64':
      return constantOf(isInt64(Number(value)) ? 'int' : 'decimal', Number(value))
    case 'Edm.Decimal':
      return constantOf('decimal', Number(value))
    case 'Edm.Double':
      return constantOf('double', Number(value))
    case 'Edm.Date':
    case 'Edm.DateTimeOffset':
      return moment(of === 'Edm.Date' ? 'date' : 'moment', String(value), span, scope)
    case 'Edm.TimeOfDay':
      return constantOf('time', secondsOf(String(value)))
    case 'Edm.Duration':
      return constantOf('duration', Number(value))
    case 'Edm.Guid':
      return constantOf('guid', String(value))
    case 'Edm.Binary':
      return constantOf('binary', String(value))
    case 'Edm.Geography':
      return constantOf('geography', String(value))
    case 'Edm.Enum':
      throw unserved(scope, 'An enumeration', span)
    default:
      return of satisfies never
  }
}

/** Numbers of JavaScript near the ends of Int64 stand for those beyond as well. */
function isInt64(value: number): boolean {
  return Math.abs(value) <= 2 ** 63
}

function moment(
  kind: Extract<Kind, 'date' | 'moment'>,
  text: string,
  span: Literal['span'],
  scope: Scope,
): ConstantMeaning {
  const constant = parseDate(text)
  if (constant === null) throw wrong(scope, `There is no day or time ${text.slice(0, 40)}`, span)
  const { start } = dateBounds(constant, kind === 'date' ? 'date' : 'datetime', 'UTC')
  return { ...constantOf(kind, start), offset: constant.offset ?? 0 }
}

function secondsOf(text: string): number {
  const [hour = 0, minute = 0, second = 0] = text.split(':').map(Number)
  return (hour * 60 + minute) * 60 + second
}
