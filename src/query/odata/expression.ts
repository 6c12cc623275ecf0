import type {
  ArithmeticOperator,
  Expression,
  LogicalOperator,
  ODataComparison,
} from '../../language/odata/ast.ts'
import { conjunction, disjunction, negate } from '../conditions.ts'
import type { Condition } from '../plan.ts'
import { calculate, choiceOf, typedNegation } from './arithmetic.ts'
import { castTo, isOf, operandNode, typedLiteral } from './cast.ts'
import { compare, type Side } from './comparison.ts'
import { applyFunction } from './functions.ts'
import { applyGeo } from './geo.ts'
import {
  certain,
  conjunctionOfTests,
  disjunctionOfTests,
  everyValue,
  logicTest,
  requireTest,
  someOf,
  someValue,
} from './logic.ts'
import { countComputed, type Scope, unknownProperty, unserved, withinScope, wrong } from './scope.ts'
import {
  NULL,
  perRecord,
  startOf,
  type TypedCollection,
  type TypedExpression,
  type TypedTest,
} from './typed-expression.ts'

/** Returns the condition that a filter is true. */
export function conditionOf(node: Expression, scope: Scope): Condition {
  return testAt(node, scope).holds
}

/** Returns the meaning of an expression in a scope. */
export function typedExpressionOf(node: Expression, outer: Scope): TypedExpression {
  const scope = withinScope(outer, node)
  switch (node.type) {
    case 'binary': {
      const turned = turnedNot(node, scope)
      if (turned !== null) return turned
      if (isLogical(node.operator)) return logical(node, scope)
      const [left, right] = [sideOf(node.left, scope), sideOf(node.right, scope)]
      if (node.operator === 'has') throw unserved(scope, 'The operator has', node.span)
      if (isArithmetic(node.operator)) return calculate(left, node.operator, right, node.span, scope)
      return compare(left, node.operator as ODataComparison, right, node.span, scope)
    }
    case 'not': {
      const test = testAt(node.operand, scope)
      return { type: 'test', holds: test.fails, fails: test.holds }
    }
    case 'negate':
      return typedNegation(sideOf(node.operand, scope), scope)
    case 'in':
      return turnedNot(node, scope) ?? inList(node, scope)
    case 'literal':
      return typedLiteral(node, scope)
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
      return filtered(collectionAt(node.of, 'has no $filter', scope), node.filter, scope)
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
      return choiceOf(
        node.branches.map(({ when, then }) => ({
          when: testAt(when, scope).holds,
          side: sideOf(then, scope),
        })),
        node.span,
        scope,
      )
  }
}

/** The arguments of an unsupported function are not examined. */
function isKnown(name: string, isGeo: boolean): boolean {
  return isGeo || !name.includes('.')
}

function sideOf(node: Expression, scope: Scope): Side {
  return { typed: typedExpressionOf(node, scope), node }
}

function testAt(node: Expression, scope: Scope): TypedTest {
  return requireTest(typedExpressionOf(node, scope), node, scope)
}

type Binary = Extract<Expression, { type: 'binary' }>

function isLogical(operator: Binary['operator']): operator is LogicalOperator {
  return operator === 'and' || operator === 'or'
}

function isArithmetic(operator: Binary['operator']): operator is ArithmeticOperator {
  return ['add', 'sub', 'mul', 'div', 'divby', 'mod'].includes(operator)
}

/** A chain of one operator is one condition, however long. */
function logical(node: Binary, scope: Scope): TypedExpression {
  const tests = chain(node).map(operand => testAt(operand, scope))
  return node.operator === 'and' ? conjunctionOfTests(tests) : disjunctionOfTests(tests)
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
 * `not population ge 100050`: by the precedence table `not` applies to the population, which is not boolean; then it negates the
 * whole comparison (OData service 4.2). Null where this does not apply.
 */
function turnedNot(
  node: Extract<Expression, { type: 'binary' | 'in' }>,
  scope: Scope,
): TypedExpression | null {
  if (node.type === 'binary' && isLogical(node.operator)) return null
  const operand = leftmostNot(node)
  if (operand === null || logicTest(typedExpressionOf(operand, scope)) !== null) return null
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

function inList({ left, right, span }: Extract<Expression, { type: 'in' }>, scope: Scope): TypedExpression {
  const side = sideOf(left, scope)
  const list = typedExpressionOf(right, scope)
  if (list.type === 'list') {
    const tests = list.items.map(item => compare(side, 'eq', sideOf(item, scope), item.span, scope))
    return certain(disjunction(tests.map(({ holds }) => holds)))
  }
  if (list.type !== 'collection') throw wrong(scope, `${startOf(right, list)} is no collection`, right.span)
  const { field, where } = list
  const number = where?.number ?? nextElement(scope)
  const test = compare(side, 'eq', { typed: typedElement(number), node: right }, span, scope)
  return certain(someValue(field, number, conjunction([...filtersOfCollection(list), test.holds])))
}

function nextElement({ request }: Scope): number {
  request.elements += 1
  return request.elements
}

function typedElement(number: number): TypedExpression {
  return perRecord('string', { type: 'element', number, of: 'text' })
}

function lambda(node: Extract<Expression, { type: 'lambda' }>, scope: Scope): TypedExpression {
  const { variable, predicate, quantifier } = node
  const collection = collectionAt(node.of, `which ${quantifier} takes`, scope, node)
  const { field, where } = collection
  if (variable === null || predicate === null) {
    if (quantifier === 'any') return certain(someOf(collection))
    throw wrong(scope, 'all needs an expression', node.span)
  }
  const number = where?.number ?? nextElement(scope)
  const variables = new Map(scope.variables).set(variable, typedElement(number))
  const condition = testAt(predicate, { ...scope, variables }).holds
  return certain(
    quantifier === 'any'
      ? someValue(field, number, conjunction([...filtersOfCollection(collection), condition]))
      : everyValue(field, number, disjunction([...filtersOfCollection(collection).map(negate), condition])),
  )
}

function counted(node: Extract<Expression, { type: 'count' }>, scope: Scope): TypedExpression {
  if (node.search !== null) throw unserved(scope, 'The count of what a search finds', node.span)
  const whole = collectionAt(node.of, 'and has no $count', scope, node)
  const { field, where } = node.filter === null ? whole : filtered(whole, node.filter, scope)
  return perRecord('int', { type: 'valueCount', field, ...(where === undefined ? {} : { where }) })
}

/** The values of a collection that satisfy a condition, in which each is `$this` (URL Conventions 4.01, 5.1.1.14.5). */
function filtered({ field, where }: TypedCollection, filter: Expression, scope: Scope): TypedCollection {
  const number = where?.number ?? nextElement(scope)
  const variables = new Map(scope.variables).set('$this', typedElement(number))
  const condition = testAt(filter, { ...scope, variables }).holds
  const conditions = where === undefined ? [condition] : [where.condition, condition]
  return { type: 'collection', field, where: { number, condition: conjunction(conditions) } }
}

function filtersOfCollection({ where }: TypedCollection): readonly Condition[] {
  return where === undefined ? [] : [where.condition]
}

function collectionAt(node: Expression, purpose: string, scope: Scope, whole = node): TypedCollection {
  const typed = typedExpressionOf(node, scope)
  if (typed.type === 'collection') return typed
  throw wrong(scope, `${startOf(node, typed)} is no collection, ${purpose}`, whole.span)
}

/** Variables shadow properties; `$it` is the record, both in and outside of lambda expressions. */
function named({ name, span }: Extract<Expression, { type: 'name' }>, scope: Scope): TypedExpression {
  const known = scope.variables.get(name) ?? scope.names.get(name)
  if (known !== undefined) {
    countComputed(scope, known, span)
    return known
  }
  if (name === '$it' && scope.rows && scope.variables.has('$this'))
    throw unserved(scope, '$it in the options of a collection', span)
  if (name === '$it') return { type: 'record' }
  if (name === scope.request.entity) return { type: 'record' }
  if (name === '$this') throw wrong(scope, '$this stands in options of collections only', span)
  if (name.startsWith('$') || name.startsWith('@')) throw unserved(scope, name.slice(0, 60), span)
  throw unknownProperty(scope, name, span)
}

function member(node: Extract<Expression, { type: 'member' }>, scope: Scope): TypedExpression {
  const { of, name, span } = node
  const path = of.type === 'name' ? scope.names.get(`${of.name}/${name}`) : undefined
  if (path !== undefined && of.type === 'name' && !scope.variables.has(of.name)) return path
  const owner = typedExpressionOf(of, scope)
  if (name.startsWith('@')) throw unserved(scope, `The annotation ${name.slice(0, 60)}`, span)
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
    throw wrong(scope, `${startOf(of)} has no ${name.slice(0, 60)}`, span, 'it has latitude and longitude')
  }
  const hint = owner.type === 'collection' ? 'use any or all' : undefined
  throw wrong(scope, `${startOf(of, owner)} has no properties`, span, hint)
}

/** An alias is replaced by its expression, which refers to the record and not to variables; a missing alias is null. */
function aliased({ name, span }: Extract<Expression, { type: 'alias' }>, scope: Scope): TypedExpression {
  const { aliases } = scope.request
  const expression = aliases.get(name) ?? aliases.get(name.slice(1))
  if (expression === undefined) return NULL
  if (scope.depth > MAX_ALIASED && expression.type === 'alias')
    throw wrong(scope, `The alias ${name.slice(0, 60)} stands for itself`, span)
  return typedExpressionOf(expression, { ...scope, option: name, variables: new Map() })
}

/** Nesting depth of aliases above which they are considered circular. */
const MAX_ALIASED = 100
