import { memoised } from '../../../../model/memoised.ts'
import { type AlgebraExpression, isConstantExpression } from '../../../../sparql/algebra.ts'
import { type TermValue, termValue } from '../value.ts'
import { DATE_FUNCTIONS } from './dates.ts'
import type { ExtensionFunction } from './extension.ts'
import { GEOMETRY_FUNCTIONS } from './geometries.ts'
import { NUMBER_FUNCTIONS } from './numeric.ts'
import { SUBJECT_FUNCTIONS } from './subjects.ts'
import { TEXT_FUNCTIONS } from './texts.ts'

const FUNCTIONS: ReadonlyMap<string, ExtensionFunction> = new Map([
  ...DATE_FUNCTIONS,
  ...GEOMETRY_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...TEXT_FUNCTIONS,
  ...SUBJECT_FUNCTIONS,
])

/** The function of an IRI; null for an unknown one. */
export function extensionFunction(iri: string): ExtensionFunction | null {
  return FUNCTIONS.get(iri) ?? null
}

export function isTestFunction(iri: string): boolean {
  return FUNCTIONS.get(iri)?.isTest === true
}

/** The supported functions, for service descriptions. */
export const EVALUATED_EXTENSIONS: readonly string[] = [...FUNCTIONS.keys()]

/** A call of a known function with a variable first and constants after it. */
export interface ColumnCall {
  readonly variable: string
  readonly constants: readonly TermValue[]
  readonly called: ExtensionFunction
}

const CALLS = new WeakMap<AlgebraExpression, ColumnCall | null>()

/** Parses an expression as a call over one column; null for any other. */
export function columnCall(expression: AlgebraExpression): ColumnCall | null {
  return memoised(CALLS, expression, () => readCall(expression))
}

function readCall(expression: AlgebraExpression): ColumnCall | null {
  if (expression.type !== 'function') return null
  const called = extensionFunction(expression.iri)
  const [first, ...rest] = expression.arguments
  if (called === null || first?.type !== 'variable' || !rest.every(isConstantExpression)) return null
  return { variable: first.name, constants: rest.map(termValue), called }
}
