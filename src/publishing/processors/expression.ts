import { type Argument, type ClauseName, chain, type Expression } from '../../language/odsql/ast.ts'
import { parseSelect, parseWhere } from '../../language/odsql/parse.ts'
import { type ComparisonOperator, FLIPPED, isOrdered } from '../../model/comparison.ts'
import {
  type CompiledExpression,
  comparedValues,
  compareMoment,
  compileCall,
  compileTextTest,
  type ExpressionScope,
  isTextTest,
  type Plain,
  type ProcessorValue,
  plainOf,
  refused,
  type Test,
  valueNumber,
} from './expression-functions.ts'

/**
 * Compiles a condition in the language of the where clause. Values have no declared types yet: a text that is a numeral counts as
 * a number if it is compared with one. Throws ODSQLError with the position in the text.
 */
export function compileCondition(
  text: string,
  readerOf: ExpressionScope['readerOf'],
): CompiledExpression<boolean> {
  const scope = scopeOf('where', readerOf)
  const evaluate = compileTest(parseWhere(text), scope)
  return { evaluate, columns: [...scope.columns] }
}

/** Compiles the value of a computed field, in the language of the select clause. Throws ODSQLError with the position in the text. */
export function compileValue(text: string, readerOf: ExpressionScope['readerOf']): CompiledExpression<Plain> {
  const scope = scopeOf('select', readerOf)
  const items = parseSelect(text)
  const [item] = items
  if (item === undefined || item.expression === null || items.length > 1 || item.label !== null)
    throw refused(scope, 'one value without a label is expected', { from: 0, to: text.length })
  const evaluate = compileScalar(item.expression, scope)
  return { evaluate, columns: [...scope.columns] }
}

function scopeOf(clause: ClauseName, readerOf: ExpressionScope['readerOf']): ExpressionScope {
  const scope: ExpressionScope = {
    clause,
    columns: new Set(),
    readerOf,
    compile: node => compileScalar(node, scope),
  }
  return scope
}

function compileScalar(node: Expression, scope: ExpressionScope): ProcessorValue {
  switch (node.type) {
    case 'field': {
      scope.columns.add(node.name)
      const read = scope.readerOf(node.name)
      return row => plainOf(read(row))
    }
    case 'string':
    case 'boolean': {
      const { value } = node
      return () => value
    }
    case 'number': {
      const { value } = node
      return () => value
    }
    case 'null':
      return () => null
    case 'sign': {
      const operand = compileScalar(node.operand, scope)
      return row => {
        const value = valueNumber(operand(row))
        return value === null ? null : node.negative ? 0 - value : value
      }
    }
    case 'arithmetic': {
      const [left, right] = [compileScalar(node.left, scope), compileScalar(node.right, scope)]
      const { operator } = node
      return row => {
        const [a, b] = [valueNumber(left(row)), valueNumber(right(row))]
        if (a === null || b === null) return null
        const value = operator === '+' ? a + b : operator === '-' ? a - b : operator === '*' ? a * b : a / b
        return Number.isFinite(value) ? value + 0 : null
      }
    }
    case 'call':
      return compileCall(node, scope)
    case 'date':
    case 'geometry':
      throw refused(scope, `a ${node.type} is allowed in a comparison only`, node.span)
    default:
      return compileTest(node, scope)
  }
}

function compileTest(node: Expression, scope: ExpressionScope): Test {
  switch (node.type) {
    case 'or':
    case 'and': {
      const tests = chain(node).map(part => compileTest(part, scope))
      return node.type === 'or' ? row => tests.some(test => test(row)) : row => tests.every(test => test(row))
    }
    case 'not': {
      const test = compileTest(node.operand, scope)
      return row => !test(row)
    }
    case 'comparison':
      return comparison(node.left, node.operator, node.right, scope)
    case 'range': {
      const { lower, lowerInclusive, upper, upperInclusive } = node.range
      const tests = [
        comparison(node.operand, lowerInclusive ? '>=' : '>', lower, scope),
        comparison(node.operand, upperInclusive ? '<=' : '<', upper, scope),
      ]
      return row => tests.every(test => test(row))
    }
    case 'list': {
      const tests = node.items.map(item => comparison(node.operand, '=', item, scope))
      return row => tests.some(test => test(row))
    }
    case 'is': {
      const operand = compileScalar(node.operand, scope)
      const { value, negated } = node
      return row => {
        const found = operand(row)
        const holds = value === null ? found === null : comparedValues(found, value, true) === 0
        return holds !== negated
      }
    }
    case 'like':
      return compileTextTest('like', node.operand, node.pattern, scope, node.span)
    case 'boolean':
      return () => node.value
    case 'field': {
      const operand = compileScalar(node, scope)
      return row => comparedValues(operand(row), true, true) === 0
    }
    case 'call': {
      const { name } = node
      const [first, second] = node.arguments
      if (isTextTest(name) && first !== undefined && second !== undefined && node.arguments.length === 2)
        return compileTextTest(name, first as Expression, second, scope, node.span)
      throw refused(scope, `${name} is no condition of a step`, node.span)
    }
    default:
      throw refused(scope, 'a condition is expected: compare the value with something', node.span)
  }
}

function comparison(
  left: Expression,
  operator: ComparisonOperator,
  right: Argument,
  scope: ExpressionScope,
): Test {
  if (left.type === 'date') {
    if (right.type === 'date') throw refused(scope, 'a comparison needs a column on one side', right.span)
    return comparison(right as Expression, FLIPPED[operator], left, scope)
  }
  const first = compileScalar(left, scope)
  if (right.type === 'date') {
    const test = compareMoment(operator, right.text)
    if (test === null) throw refused(scope, `${JSON.stringify(right.text)} is not a date`, right.span)
    return row => test(first(row))
  }
  const second = compileScalar(right as Expression, scope)
  const isEquality = operator === '=' || operator === '!='
  return row => {
    const found = comparedValues(first(row), second(row), isEquality)
    return found !== null && isOrdered(operator, found)
  }
}
