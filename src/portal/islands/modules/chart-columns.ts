import type { MessageRow } from './query-messages.ts'

const NUMBERS = /#(?:integer|decimal|double|float|long|int|short|nonNegativeInteger)$/
const DATES = /#(?:date|dateTime|gYear|gYearMonth)$/

/** The columns of an answer that a chart shows; null for an answer without numbers. */
export function chartColumns(variables: readonly string[], rows: readonly MessageRow[]) {
  const kinds = variables.map((_, at) => kindOf(rows, at))
  const y = kinds.lastIndexOf('number')
  if (y < 0 || rows.length < 2) return null
  const dates = kinds.indexOf('date')
  const words = kinds.findIndex((kind, at) => kind === 'text' && at !== y)
  const numbers = kinds.findIndex((kind, at) => kind === 'number' && at !== y)
  const x = dates >= 0 ? dates : words >= 0 ? words : numbers
  if (x < 0) return null
  const type = dates >= 0 ? 'line' : words >= 0 ? 'bar' : 'dot'
  return { x, y, type } as const
}

function kindOf(rows: readonly MessageRow[], at: number): 'number' | 'date' | 'text' {
  const terms = rows.flatMap(row => row[at] ?? [])
  const isAll = (pattern: RegExp) =>
    terms.length > 0 && terms.every(term => term.type === 'literal' && pattern.test(term.datatype))
  return isAll(NUMBERS) ? 'number' : isAll(DATES) ? 'date' : 'text'
}
