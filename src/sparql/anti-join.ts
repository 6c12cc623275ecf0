import {
  type AlgebraExpression,
  certainVariables,
  conjuncts,
  type OperationOf,
  type SparqlOperation,
  variablesOf,
} from './algebra.ts'

/**
 * Writes `OPTIONAL { … } FILTER(!BOUND(?v))`, where only that group binds the variable, as FILTER NOT EXISTS: none of its solutions
 * is found then. Only for groups of patterns, which mean the same in both.
 */
export function withNotExists(filter: OperationOf<'filter'>): OperationOf<'filter'> {
  const { input, condition } = filter
  if (input.type !== 'leftJoin' || !isOfPatterns(input.right)) return filter
  const { left, right } = input
  const own = [...certainVariables(right)].filter(name => !variablesOf(left).has(name))
  const conditions = conjuncts(condition)
  const absent = conditions.find(each => {
    const tested = each.type === 'not' && each.operand.type === 'builtin' ? each.operand : null
    const [variable] = tested?.name === 'BOUND' ? tested.arguments : []
    return variable?.type === 'variable' && own.includes(variable.name)
  })
  if (absent === undefined) return filter
  const notExists: AlgebraExpression = {
    type: 'exists',
    negated: true,
    input: input.condition === null ? right : { type: 'filter', input: right, condition: input.condition },
  }
  return {
    type: 'filter',
    input: left,
    condition: conditions
      .map(each => (each === absent ? notExists : each))
      .reduce((left, right) => ({ type: 'binary', operator: '&&', left, right })),
  }
}

function isOfPatterns(operation: SparqlOperation): boolean {
  if (operation.type === 'join') return operation.inputs.every(isOfPatterns)
  return operation.type === 'bgp' || operation.type === 'path'
}
