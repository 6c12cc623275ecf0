import { type FieldType, isNumeric, isTemporal } from '../model/field.ts'
import type { DatasetRecord } from '../model/value.ts'
import type { Term } from '../rdf/term.ts'
import { XSD } from '../rdf/vocab.ts'
import { columnVariable, isStored } from './compile/records.ts'
import { type Constant, type SelectedColumn, scalarType } from './plan.ts'

/** One solution of a query of the store. */
export type DecodedSolution = Readonly<Record<string, Term>>

/** A record and its computed values, by their index in the selection; null where the value is stored in the record. */
export interface RecordRow {
  readonly record: DatasetRecord
  readonly computed: readonly (Constant | null)[]
}

/** The computed values of a record. */
export function decodeComputed(
  select: readonly SelectedColumn[],
  termOf: (variable: string) => Term | null,
): readonly (Constant | null)[] {
  return select.map(({ value, unbounded }, index) => {
    if (isStored(value)) return null
    const term = termOf(columnVariable(index)) ?? undefined
    return (unbounded && decodeUnbounded(term)) ?? decodeConstant(term, scalarType(value))
  })
}

/** The value of a term as a field type; null for no term, and for a number that is not finite. */
export function decodeConstant(term: Term | undefined, type: FieldType): Constant | null {
  if (term === undefined) return null
  if (type === 'boolean') return term.value === 'true' || term.value === '1'
  if (!isNumeric(type)) return term.value
  const number = Number(term.value)
  if (!Number.isSafeInteger(number) && isInteger(term)) return BigInt(term.value)
  return Number.isFinite(number) ? number + 0 : null
}

function isInteger(term: Term): boolean {
  const isExact = term.type === 'literal' && (term.datatype === XSD.integer || term.datatype === XSD.decimal)
  return isExact && /^-?\d+$/.test(term.value)
}

/** An XSD number that is infinite or NaN; null for any other. */
function decodeUnbounded(term: Term | undefined): number | null {
  switch (term?.value) {
    case 'INF':
      return Number.POSITIVE_INFINITY
    case '-INF':
      return Number.NEGATIVE_INFINITY
    case 'NaN':
      return Number.NaN
    default:
      return null
  }
}

/** The result of a count query. */
export function decodeCount(solutions: readonly DecodedSolution[]): number {
  const count = solutions[0]?.count
  if (count === undefined) throw new Error('a count without number')
  return Number(count.value)
}

/** A value of a facet and the number of records that have it. */
export interface FacetCount {
  readonly value: Constant
  readonly count: number
}

/** Reads the values of a facet; the parts of dates are numbers. */
export function decodeFacet(solutions: readonly DecodedSolution[], type: FieldType): readonly FacetCount[] {
  return solutions.flatMap(({ value, count }) => {
    const decoded = decodeConstant(value, isTemporal(type) ? 'int' : type)
    return decoded === null ? [] : [{ value: decoded, count: Number(count?.value) }]
  })
}
