import type { AlgebraExpression, AlgebraQuery, Pattern, Projection } from './algebra.ts'

/** What is reported of a query, node by node; within EXISTS, subqueries and all other groups as well. */
export interface Visitor {
  readonly pattern?: (pattern: Pattern) => void
  readonly expression?: (expression: AlgebraExpression) => void
}

/** Goes through all patterns and expressions of a query. */
function walkQuery(query: AlgebraQuery, visitor: Visitor): void {
  const projection = (items: readonly Projection[]) => {
    for (const { expression } of items) if (expression !== undefined) walkExpression(expression, visitor)
  }
  if (query.type === 'select') {
    projection(query.projection)
    projection(query.groupBy ?? [])
  }
  for (const { expression } of query.orderBy ?? []) walkExpression(expression, visitor)
  walkPatterns(query.where, visitor)
}

function walkPatterns(patterns: readonly Pattern[], visitor: Visitor): void {
  for (const pattern of patterns) {
    visitor.pattern?.(pattern)
    switch (pattern.type) {
      case 'graph':
      case 'optional':
      case 'minus':
        walkPatterns(pattern.patterns, visitor)
        break
      case 'union':
        for (const branch of pattern.branches) walkPatterns(branch, visitor)
        break
      case 'filter':
      case 'bind':
        walkExpression(pattern.expression, visitor)
        break
      case 'subquery':
        walkQuery(pattern.query, visitor)
        break
      case 'triple':
      case 'values':
      case 'inlineData':
        break
      default:
        pattern satisfies never
    }
  }
}

function walkExpression(expression: AlgebraExpression, visitor: Visitor): void {
  visitor.expression?.(expression)
  switch (expression.type) {
    case 'binary':
      walkExpression(expression.left, visitor)
      walkExpression(expression.right, visitor)
      break
    case 'not':
      walkExpression(expression.operand, visitor)
      break
    case 'builtin':
    case 'function':
      for (const argument of expression.arguments) walkExpression(argument, visitor)
      break
    case 'exists':
      walkPatterns(expression.patterns, visitor)
      break
    case 'in':
      walkExpression(expression.operand, visitor)
      for (const item of expression.items) walkExpression(item, visitor)
      break
    case 'aggregate':
      if (expression.operand !== null) walkExpression(expression.operand, visitor)
      break
    case 'variable':
    case 'iri':
    case 'literal':
    case 'blank':
    case 'triple':
      break
    default:
      expression satisfies never
  }
}

/** The graphs that a query names. */
export function graphsOfQuery(query: AlgebraQuery): ReadonlySet<string> {
  const graphs = new Set<string>()
  walkQuery(query, {
    pattern: pattern => {
      if (pattern.type === 'graph') graphs.add(pattern.graph.value)
    },
  })
  return graphs
}
