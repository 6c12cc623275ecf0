import type { Column } from '../../column.ts'
import type { GraphColumns } from '../../graph.ts'
import type { GridBox } from '../../grid.ts'
import type { TermValue } from '../value.ts'
import type { FunctionContext } from './builtins.ts'

/**
 * A function that is named by an IRI: of GeoSPARQL, or one of Lodestone's own. Beside the value of one call a function may say
 * how it is worked out for a whole column, where its other arguments are constants.
 */
export interface ExtensionFunction {
  /** True where its value is a boolean or an error. */
  readonly isTest?: boolean
  readonly apply: (args: readonly TermValue[], context: FunctionContext) => TermValue | null
  /** Of the positions of points, by the arguments after the first: a number, 1 or 0 for a test, NaN for none. Null where it is not of that kind. */
  readonly overPoints?: (
    constants: readonly TermValue[],
  ) => ((longitude: number, latitude: number) => number) | null
  /** For a number that is a coordinate of points: which. */
  readonly coordinate?: 'longitudes' | 'latitudes'
  /** Boxes outside of which a test of points is false; null where it may hold anywhere. */
  readonly within?: (constants: readonly TermValue[]) => readonly GridBox[] | null
  /** For numbers that are distances of points from a place; null where they are none. */
  readonly distances?: (constants: readonly TermValue[]) => Distances | null
  /** Of days and of moments in UTC, in seconds since 1970-01-01T00:00:00Z: an integer, NaN for none. */
  readonly overMoments?: (
    constants: readonly TermValue[],
    isDay: boolean,
  ) => ((seconds: number) => number) | null
  /**
   * Of days and of moments in UTC, in seconds: the number of a period, such as a month, within which the value is the same.
   * Null where the value is another at each moment.
   */
  readonly periodOfMoments?: (
    constants: readonly TermValue[],
    isDay: boolean,
  ) => ((seconds: number) => number) | null
  /** A test of the values of a column, by code: 1 where it holds. */
  readonly overCodes?: (constants: readonly TermValue[], column: Column) => Uint8Array | null
  /** A test of the subjects of a graph, by number from 1: 1 where it holds. */
  readonly overSubjects?: (constants: readonly TermValue[], graph: GraphColumns) => Uint8Array | null
  /** Values of the subjects of a graph: codes of a column by number of subject, from 1, or integers. */
  readonly ofSubjects?: (constants: readonly TermValue[], graph: GraphColumns) => SubjectValues | null
}

/** Distances on Earth from one place. */
export interface Distances {
  /** Metres of the number 1. */
  readonly unit: number
  /** Boxes outside of which every point is farther away than a distance, in that unit. */
  readonly boxesWithin: (distance: number) => readonly GridBox[]
}

/** What a function gives for each subject of a graph, by number from 1. */
export type SubjectValues =
  | { readonly type: 'codes'; readonly column: Column; readonly codes: Uint32Array }
  | { readonly type: 'integers'; readonly values: Float64Array }
