import type { Column } from '../../column.ts'
import type { GraphColumns } from '../../graph.ts'
import type { GridBox } from '../../grid.ts'
import type { TermValue } from '../vectors/value.ts'
import type { Regex } from './regex.ts'

/** The inputs of functions in addition to their arguments. */
export interface FunctionContext {
  /** The moment of the query, the same for all calls of NOW. */
  readonly now: Date
  /** The base of relative IRIs. */
  readonly base: string | null
  /** A number from 0 to below 1. */
  readonly random: () => number
  /** A unique label of a blank node. */
  readonly freshBlank: () => string
  /** Compiled regular expressions of the query. */
  readonly regexes: Map<string, Regex | null>
  /** Throws where the query must stop; called during long work. */
  readonly check?: () => void
}

/** An argument of a function; undefined where it is missing. */
export type ArgumentValue = TermValue | undefined

/**
 * A function that is named by an IRI: of GeoSPARQL, or one of Lodestone's own. In addition to the value of one call, a function
 * may define how it is computed for a whole column, if its other arguments are constants.
 */
export interface ExtensionFunction {
  /** True where its value is a boolean or an error. */
  readonly isTest?: boolean
  readonly apply: (args: readonly TermValue[], context: FunctionContext) => TermValue | null
  /**
   * Over the positions of points, by the arguments after the first: a number, 1 or 0 for a test, NaN for none. Null where the
   * function does not support that.
   */
  readonly overPoints?: (
    constants: readonly TermValue[],
  ) => ((longitude: number, latitude: number) => number) | null
  /** For a number that is a coordinate of points: its axis. */
  readonly coordinate?: 'longitudes' | 'latitudes'
  /** Boxes outside of which a test of points is false; null where it may be true anywhere. */
  readonly testBoxes?: (constants: readonly TermValue[]) => readonly GridBox[] | null
  /** What a box decides of a test of the shapes within it: true, false, or null where the shape itself does. */
  readonly overBoxes?: (constants: readonly TermValue[]) => BoxTest | null
  /** For numbers that are distances of points from a position; null where they are not. */
  readonly distances?: (constants: readonly TermValue[]) => Distances | null
  /**
   * Over days and moments, in seconds since 1970-01-01T00:00:00Z: an integer, NaN for none. Null where it depends on the forms of
   * moments and they have other forms than that of their seconds.
   */
  readonly overMoments?: (
    constants: readonly TermValue[],
    of: { readonly isDay: boolean; readonly hasForms: boolean },
  ) => ((seconds: number) => number) | null
  /**
   * Over days and moments, in seconds: a number, such as that of a month, that moments with the same value have in common. Null where
   * each moment may have a different value.
   */
  readonly periodOfMoments?: (
    constants: readonly TermValue[],
    isDay: boolean,
  ) => ((seconds: number) => number) | null
  /** A test of the values of a column, by code: 1 where it holds. */
  readonly overCodes?: (constants: readonly TermValue[], column: Column) => Uint8Array | null
  /** A test of the subjects of a graph, by number from 1: 1 where it holds. */
  readonly overSubjects?: (
    constants: readonly TermValue[],
    graph: GraphColumns,
    context: FunctionContext,
  ) => Uint8Array | null
  /** Values of the subjects of a graph: codes of a column by number of subject, from 1, or integers. */
  readonly ofSubjects?: (constants: readonly TermValue[], graph: GraphColumns) => SubjectValues | null
}

export type BoxTest = (box: GridBox) => boolean | null

/** Distances on Earth from one position. */
export interface Distances {
  /** Metres of the number 1. */
  readonly unit: number
  /** Boxes outside of which every point is farther away than a distance, in that unit. */
  readonly boxesWithin: (distance: number) => readonly GridBox[]
}

/** The values of a function for each subject of a graph, by number from 1. */
export type SubjectValues =
  | { readonly type: 'codes'; readonly column: Column; readonly codes: Uint32Array }
  | { readonly type: 'integers'; readonly values: Float64Array }
