import { parseExactly } from '../model/exact-json.ts'
import { type FieldType, isNumeric, isTemporal } from '../model/field.ts'
import { lookup } from '../model/lookup.ts'
import { decodePositions, positionOf } from '../model/positions.ts'
import type { DatasetRecord, Value } from '../model/value.ts'
import type { Term } from '../rdf/term.ts'
import { XSD } from '../rdf/vocab.ts'
import { columnName, isStored } from './compile/records.ts'
import { type Constant, type Selection, scalarType } from './plan.ts'

/** One row of an answer of the store. */
export type Solution = Readonly<Record<string, Term>>

/** A record and what was computed from it, by the place of the selection; null where it is stored in the record. */
export interface RecordRow {
  readonly record: DatasetRecord
  readonly computed: readonly (Constant | null)[]
}

/** Reads a record from its IRI and the JSON text of its values. The position is -1 where it was not asked for. */
export function decodeRecord(solution: Solution): DatasetRecord {
  const { record, json, position } = solution
  if (record === undefined || json === undefined) throw new Error('a record without IRI or contents')
  return {
    id: recordId(record.value),
    position: position === undefined ? -1 : positionOf(position.value),
    values: parseExactly(json.value) as readonly Value[],
  }
}

/** Reads a record with its computed columns. */
export function decodeRow(solution: Solution, select: readonly Selection[]): RecordRow {
  return {
    record: decodeRecord(solution),
    computed: select.map(({ value, unbounded }, index) => {
      if (isStored(value)) return null
      const term = lookup(solution, columnName(index))
      return (unbounded && decodeUnbounded(term)) ?? decodeConstant(term, scalarType(value))
    }),
  }
}

/** The value of a type that a term is; null for none, and for a number that is not finite. */
export function decodeConstant(term: Term | undefined, type: FieldType): Constant | null {
  if (term === undefined) return null
  if (type === 'boolean') return term.value === 'true' || term.value === '1'
  if (!isNumeric(type)) return term.value
  const number = Number(term.value)
  if (!Number.isSafeInteger(number) && isInteger(term)) return BigInt(term.value)
  return Number.isFinite(number) ? number + 0 : null
}

function isInteger(term: Term): boolean {
  return term.type === 'literal' && term.datatype === XSD.integer && /^-?\d+$/.test(term.value)
}

/** A number of XSD that is infinite, or none; null for any other. */
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

/** The IRIs of records that a page query gave, in its order. */
export function decodeRecordIris(solutions: readonly Solution[]): readonly string[] {
  return solutions.map(({ record }) => {
    if (record === undefined) throw new Error('a solution without record')
    return record.value
  })
}

/** The number that a count query gave. */
export function decodeCount(solutions: readonly Solution[]): number {
  const count = solutions[0]?.count
  if (count === undefined) throw new Error('a count without number')
  return Number(count.value)
}

/** The id at the end of a record's IRI. */
export function recordId(iri: string): string {
  return iri.slice(iri.lastIndexOf('/') + 1)
}

/** The positions that all buckets share; null where none of them narrows the records down. */
export function decodeBuckets(
  solutions: readonly Solution[],
  buckets: readonly number[],
): readonly number[] | null {
  if (solutions.length < buckets.length) return []
  const lists = solutions.flatMap(({ positions }) => {
    const list = decodePositions(positions?.value ?? '')
    return list === null ? [] : [list]
  })
  const [first, ...others] = lists.sort((a, b) => a.length - b.length)
  if (first === undefined) return null
  const sets = others.map(list => new Set(list))
  return first.filter(position => sets.every(set => set.has(position)))
}

/** A value of a facet and the number of records that have it. */
export interface FacetCount {
  readonly value: Constant
  readonly count: number
}

/** Reads the values of a facet; the parts of dates are numbers. */
export function decodeFacet(solutions: readonly Solution[], type: FieldType): readonly FacetCount[] {
  return solutions.flatMap(({ value, count }) => {
    const decoded = decodeConstant(value, isTemporal(type) ? 'int' : type)
    return decoded === null ? [] : [{ value: decoded, count: Number(count?.value) }]
  })
}
