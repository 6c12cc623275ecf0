import type { AggregateCall, Formula } from '../../../../sparql/operation.ts'
import type { Aggregator, AggregatorContext } from '../aggregates.ts'
import type { Value } from '../value.ts'
import type { FunctionContext } from './builtins.ts'

/** A function that is named by an IRI. */
export interface ExtensionFunction {
  /** True where its value is a boolean or an error. */
  readonly isTest?: boolean
  /** True where it is called with nulls, too. */
  readonly seesNulls?: boolean
  readonly apply: (args: readonly (Value | null)[], context: FunctionContext) => Value | null
}

const FUNCTIONS = new Map<string, ExtensionFunction>()

/** The function of an IRI; null for one that nobody knows. */
export function extensionFunction(iri: string): ExtensionFunction | null {
  return FUNCTIONS.get(iri) ?? null
}

export function isTestFunction(iri: string): boolean {
  return FUNCTIONS.get(iri)?.isTest === true
}

/** Makes an aggregate that is named by an IRI. */
export type AggregatorMaker = (call: AggregateCall, operand: Formula, context: AggregatorContext) => Aggregator

const AGGREGATES = new Map<string, AggregatorMaker>()

/** The aggregate of an IRI; null for one that nobody knows. */
export function extensionAggregate(iri: string): AggregatorMaker | null {
  return AGGREGATES.get(iri) ?? null
}
