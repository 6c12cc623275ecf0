import type { Formula } from '../../../../sparql/operation.ts'
import type { AggregatorMaker } from '../aggregates.ts'
import type { GraphColumns } from '../../graph.ts'
import type { Column } from '../../column.ts'
import type { Value } from '../value.ts'
import { isConstant } from '../constants.ts'
import { valueOf } from '../value.ts'
import type { FunctionContext } from './builtins.ts'
import { DATE_FUNCTIONS } from './dates.ts'
import { GEOMETRY_AGGREGATES, GEOMETRY_FUNCTIONS } from './geometries.ts'
import { NUMBER_AGGREGATES, NUMBER_FUNCTIONS } from './numeric.ts'
import { TEXT_FUNCTIONS } from './texts.ts'
import { SUBJECT_FUNCTIONS } from './subjects.ts'

/**
 * A function that is named by an IRI: of GeoSPARQL, or one of Lodestone's own. Beside the value of one call a function may say
 * how it is worked out for a whole column, where its other arguments are constants.
 */
export interface ExtensionFunction {
  /** True where its value is a boolean or an error. */
  readonly isTest?: boolean
  readonly apply: (args: readonly Value[], context: FunctionContext) => Value | null
  /** Of the positions of points, by the arguments after the first: a number, 1 or 0 for a test, NaN for none. Null where it is not of that kind. */
  readonly overPoints?: (constants: readonly Value[]) => ((longitude: number, latitude: number) => number) | null
  /** Of days and of moments in UTC, in seconds since 1970-01-01T00:00:00Z: an integer, NaN for none. */
  readonly overMoments?: (constants: readonly Value[], isDay: boolean) => ((seconds: number) => number) | null
  /** A test of the values of a column, by code: 1 where it holds. */
  readonly overCodes?: (constants: readonly Value[], column: Column) => Uint8Array | null
  /** A test of the subjects of a graph, by number from 1: 1 where it holds. */
  readonly overSubjects?: (constants: readonly Value[], graph: GraphColumns) => Uint8Array | null
  /** Values of the subjects of a graph: codes of a column by number of subject, from 1, or integers. */
  readonly ofSubjects?: (constants: readonly Value[], graph: GraphColumns) => SubjectValues | null
}

/** What a function gives for each subject of a graph, by number from 1. */
export type SubjectValues =
  | { readonly type: 'codes'; readonly column: Column; readonly codes: Uint32Array }
  | { readonly type: 'integers'; readonly values: Float64Array }

const FUNCTIONS: ReadonlyMap<string, ExtensionFunction> = new Map([
  ...DATE_FUNCTIONS,
  ...GEOMETRY_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...TEXT_FUNCTIONS,
  ...SUBJECT_FUNCTIONS,
])

const AGGREGATES: ReadonlyMap<string, AggregatorMaker> = new Map([...GEOMETRY_AGGREGATES, ...NUMBER_AGGREGATES])

/** The function of an IRI; null for one that nobody knows. */
export function extensionFunction(iri: string): ExtensionFunction | null {
  return FUNCTIONS.get(iri) ?? null
}

export function isTestFunction(iri: string): boolean {
  return FUNCTIONS.get(iri)?.isTest === true
}

/** The functions that are there, for service descriptions. */
export const EXTENSION_FUNCTIONS: readonly string[] = [...FUNCTIONS.keys()]
export const EXTENSION_AGGREGATES: readonly string[] = [...AGGREGATES.keys()]

/** The aggregate of an IRI; null for one that nobody knows. */
export function extensionAggregate(iri: string): AggregatorMaker | null {
  return AGGREGATES.get(iri) ?? null
}

/** A call of a known function with a variable first and constants after it. */
export interface ColumnCall {
  readonly variable: string
  readonly constants: readonly Value[]
  readonly called: ExtensionFunction
}

const CALLS = new WeakMap<Formula, ColumnCall | null>()

/** Reads an expression as a call over one column; null for any other. */
export function columnCall(formula: Formula): ColumnCall | null {
  let call = CALLS.get(formula)
  if (call === undefined) {
    call = readCall(formula)
    CALLS.set(formula, call)
  }
  return call
}

function readCall(formula: Formula): ColumnCall | null {
  if (formula.type !== 'function') return null
  const called = extensionFunction(formula.iri)
  const [first, ...rest] = formula.arguments
  if (called === null || first?.type !== 'variable' || !rest.every(isConstant)) return null
  return { variable: first.name, constants: rest.map(valueOf), called }
}
