import type { Formula } from '../../../sparql/operation.ts'

export function isConstantExpression(
  formula: Formula,
): formula is Extract<Formula, { type: 'iri' | 'literal' | 'blank' }> {
  return formula.type === 'iri' || formula.type === 'literal' || formula.type === 'blank'
}
