import {
  type AggregateCall,
  type AlgebraExpression,
  type QueryOperation,
  type SparqlOperation,
  UNIT,
} from './algebra.ts'
import type {
  AstExpression,
  AstQuery,
  ConstructQuery,
  Pattern,
  Projection,
  SelectQuery,
  Variable,
} from './ast.ts'

/** Translates a query of the compiler to an operation (SPARQL 1.1 Query, section 18.2). */
export function translateQuery(query: AstQuery): QueryOperation {
  if (query.type === 'select')
    return {
      type: 'select',
      variables: query.projection.map(({ variable }) => variable.name),
      input: translateSelect(query),
    }
  return { type: 'construct', template: query.template, input: translateConstruct(query) }
}

function translateConstruct(query: ConstructQuery): SparqlOperation {
  return sliced(sorted(translateGroup(query.where), query.orderBy, translateExpression), query)
}

/** The operation of a SELECT: its outermost part is a slice where it has a limit or an offset. */
function translateSelect(query: SelectQuery): SparqlOperation {
  const aggregates = new AggregateVariables()
  const { groupBy } = query
  const keys = groupBy ?? []
  const projected = query.projection.map(({ variable, expression }) => ({
    variable: variable.name,
    expression: expression === undefined ? null : aggregates.lift(expression),
  }))
  const orderBy = (query.orderBy ?? []).map(({ expression, descending }) => ({
    expression: aggregates.lift(expression),
    descending,
  }))
  let operation = extended(translateGroup(query.where), keys)
  if (groupBy !== undefined || aggregates.found.length > 0)
    operation = {
      type: 'group',
      input: operation,
      keys: keys.map(({ variable }) => variable.name),
      aggregates: aggregates.found,
    }
  for (const { variable, expression } of projected)
    if (expression !== null) operation = { type: 'extend', input: operation, variable, expression }
  if (orderBy.length > 0) operation = { type: 'order', input: operation, keys: orderBy }
  operation = { type: 'project', input: operation, variables: projected.map(({ variable }) => variable) }
  if (query.distinct === true) operation = { type: 'distinct', input: operation }
  return sliced(operation, query)
}

function sliced(
  operation: SparqlOperation,
  { limit, offset }: Pick<SelectQuery, 'limit' | 'offset'>,
): SparqlOperation {
  if (limit === undefined && (offset === undefined || offset === 0)) return operation
  return { type: 'slice', input: operation, offset: offset ?? 0, limit: limit ?? null }
}

function sorted(
  operation: SparqlOperation,
  orderBy: SelectQuery['orderBy'],
  translated: (expression: AstExpression) => AlgebraExpression,
): SparqlOperation {
  if (orderBy === undefined || orderBy.length === 0) return operation
  const keys = orderBy.map(({ expression, descending }) => ({
    expression: translated(expression),
    descending,
  }))
  return { type: 'order', input: operation, keys }
}

function extended(operation: SparqlOperation, items: readonly Projection[]): SparqlOperation {
  return items.reduce<SparqlOperation>(
    (input, { variable, expression }) =>
      expression === undefined
        ? input
        : { type: 'extend', input, variable: variable.name, expression: translateExpression(expression) },
    operation,
  )
}

/** A group graph pattern: filters apply to the whole group, wherever they occur in it. */
function translateGroup(patterns: readonly Pattern[]): SparqlOperation {
  let group: SparqlOperation = UNIT
  const filters: AlgebraExpression[] = []
  for (const pattern of patterns)
    if (pattern.type === 'filter') filters.push(translateExpression(pattern.expression))
    else group = added(group, pattern)
  return filters.reduce<SparqlOperation>((input, condition) => ({ type: 'filter', input, condition }), group)
}

function added(
  group: SparqlOperation,
  pattern: Exclude<Pattern, { readonly type: 'filter' }>,
): SparqlOperation {
  switch (pattern.type) {
    case 'triple': {
      const { subject, predicate, object } = pattern
      const own = { subject, predicate, object }
      if (group.type === 'bgp') return { type: 'bgp', patterns: [...group.patterns, own] }
      return joined(group, { type: 'bgp', patterns: [own] })
    }
    case 'graph':
      return joined(group, { type: 'graph', name: pattern.graph, input: translateGroup(pattern.patterns) })
    case 'optional': {
      const right = translateGroup(pattern.patterns)
      if (right.type !== 'filter') return { type: 'leftJoin', left: group, right, condition: null }
      // The filters of an optional group also see the bindings of the pattern that it is joined to.
      const [inner, condition] = withoutFilters(right)
      return { type: 'leftJoin', left: group, right: inner, condition }
    }
    case 'minus':
      return { type: 'minus', left: group, right: translateGroup(pattern.patterns) }
    case 'union':
      return joined(group, { type: 'union', inputs: pattern.branches.map(translateGroup) })
    case 'bind':
      return {
        type: 'extend',
        input: group,
        variable: pattern.variable.name,
        expression: translateExpression(pattern.expression),
      }
    case 'values':
      return joined(group, {
        type: 'values',
        variables: [pattern.variable.name],
        rows: pattern.terms.map(term => [term]),
      })
    case 'inlineData':
      return joined(group, {
        type: 'values',
        variables: pattern.variables.map(({ name }) => name),
        rows: pattern.rows,
      })
    case 'subquery':
      return joined(group, translateSelect(pattern.query))
    default:
      return pattern satisfies never
  }
}

function withoutFilters(operation: SparqlOperation): readonly [SparqlOperation, AlgebraExpression] {
  if (operation.type !== 'filter') throw new Error('a group without filters')
  if (operation.input.type !== 'filter') return [operation.input, operation.condition]
  const [inner, condition] = withoutFilters(operation.input)
  return [inner, { type: 'binary', operator: '&&', left: condition, right: operation.condition }]
}

function joined(left: SparqlOperation, right: SparqlOperation): SparqlOperation {
  if (left.type === 'bgp' && left.patterns.length === 0) return right
  if (left.type === 'join') return { type: 'join', inputs: [...left.inputs, right] }
  return { type: 'join', inputs: [left, right] }
}

/** Translates an expression without aggregates to the algebra. */
function translateExpression(expression: AstExpression): AlgebraExpression {
  return mapped(expression, () => {
    throw new Error('an aggregate where none may stand')
  })
}

function mapped(expression: AstExpression, aggregate: (call: AggregateCall) => Variable): AlgebraExpression {
  const inner = (part: AstExpression) => mapped(part, aggregate)
  switch (expression.type) {
    case 'variable':
    case 'iri':
    case 'literal':
    case 'blank':
    case 'triple':
      return expression
    case 'binary':
      return { ...expression, left: inner(expression.left), right: inner(expression.right) }
    case 'not':
      return { type: 'not', operand: inner(expression.operand) }
    case 'builtin':
    case 'function':
      return { ...expression, arguments: expression.arguments.map(inner) }
    case 'exists':
      return { type: 'exists', negated: expression.negated, input: translateGroup(expression.patterns) }
    case 'in':
      return {
        type: 'in',
        operand: inner(expression.operand),
        items: expression.items.map(inner),
        negated: false,
      }
    case 'aggregate':
      return aggregate({
        name: expression.name,
        distinct: expression.distinct,
        operand: expression.operand === null ? null : translateExpression(expression.operand),
        ...(expression.parameters === undefined ? {} : { parameters: expression.parameters }),
      })
    default:
      return expression satisfies never
  }
}

/** Assigns a variable to each aggregate of a query. */
class AggregateVariables {
  readonly found: { readonly variable: string; readonly aggregate: AggregateCall }[] = []

  lift(expression: AstExpression): AlgebraExpression {
    return mapped(expression, aggregate => {
      const variable = ` aggregate ${this.found.length}`
      this.found.push({ variable, aggregate })
      return { type: 'variable', name: variable }
    })
  }
}
