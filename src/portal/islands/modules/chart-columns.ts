import type { Literal, Term } from '../../../rdf/term.ts'
import { plain } from '../../../sparql/result-formats.ts'
import { momentOf } from './answer-table.ts'
import type { MessageRow } from './query-messages.ts'

const NUMBERS = /#(?:integer|decimal|double|float|long|int|short|nonNegativeInteger)$/
const DATES = /#(?:date|dateTime|gYear|gYearMonth)$/

/** Maximum number of bars, and of points. */
const MAX_BARS = 40
const MAX_POINTS = 5000

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

/** The points of a chart; a row without a number, or without a place on the other axis, has none. */
export function chartPoints(
  { x, y, type }: NonNullable<ReturnType<typeof chartColumns>>,
  rows: readonly MessageRow[],
  name: (iri: string) => string,
  noValue: string,
) {
  const shown = (term: Term | null | undefined) =>
    term == null ? noValue : term.type === 'iri' ? name(term.value) : plain(term)
  return rows
    .filter(row => row[y] != null && (type === 'bar' || row[x] != null))
    .slice(0, type === 'bar' ? MAX_BARS : MAX_POINTS)
    .map(row => ({
      x:
        type === 'bar'
          ? shown(row[x])
          : type === 'line'
            ? momentOf(row[x] as Literal)
            : Number(shown(row[x])),
      y: Number(shown(row[y])),
    }))
}

function kindOf(rows: readonly MessageRow[], at: number): 'number' | 'date' | 'text' {
  const terms = rows.flatMap(row => row[at] ?? [])
  const isAll = (pattern: RegExp) =>
    terms.length > 0 && terms.every(term => term.type === 'literal' && pattern.test(term.datatype))
  return isAll(NUMBERS) ? 'number' : isAll(DATES) ? 'date' : 'text'
}
