import type { DatasetRecord, Value } from '../model/value.ts'
import type { Term } from '../rdf/term.ts'

/** One row of an answer of the store. */
type Solution = Readonly<Record<string, Term>>

/** Reads a record from its IRI and the JSON text of its values. The position is -1 where it was not asked for. */
export function decodeRecord(solution: Solution): DatasetRecord {
  const { record, json, position } = solution
  if (record === undefined || json === undefined) throw new Error('a record without IRI or contents')
  return {
    id: recordId(record.value),
    position: position === undefined ? -1 : Number(position.value),
    values: JSON.parse(json.value) as readonly Value[],
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
