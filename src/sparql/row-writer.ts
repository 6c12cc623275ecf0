import { XML_DECLARATION } from '../model/xml.ts'
import type { Term } from '../rdf/term.ts'
import { cellWriter, type Rest, type ResultFormat, termCell, XML_NAMESPACE } from './result-formats.ts'

/** A row of an answer: terms in the order of the variables; null where one is unbound. */
export type ResultRow = readonly (Term | null)[]

/** Writes rows one by one. */
export interface RowWriter {
  readonly head: (variables: readonly string[]) => string
  readonly row: (row: ResultRow) => string
  /** @param rest where the answer continues; absent where it is complete */
  readonly end: (rest?: Rest) => string
}

/** How an incomplete answer states where it continues. */
export interface CursorContext {
  /** Where it starts; null for the beginning. */
  readonly place: string | null
  /** The text before a position in a cursor. */
  readonly prefix: string
  /** The text before a cursor in the URL of the rest; null where there is none. */
  readonly address: string | null
}

/** Writes complete rows. */
export function rowWriter(format: ResultFormat): RowWriter {
  const writer = cellWriter(format)
  const { head, layout, end } = writer
  let form = layout([])
  let begin = form.first
  return {
    head: variables => {
      form = layout(variables)
      begin = form.first
      return head(variables)
    },
    row: row => {
      const { separator, before, after, isSparse } = form
      const cells: string[] = []
      row.forEach((term, at) => {
        if (term !== null) cells.push(`${before[at]}${termCell(writer, term)}${after}`)
        else if (!isSparse) cells.push('')
      })
      const text = `${begin}${cells.join(separator)}${form.end}`
      begin = form.begin
      return text
    },
    end,
  }
}

/** The result of an ASK; CSV and TSV have no form for it. */
export function booleanResult(format: ResultFormat, value: boolean): string {
  switch (format) {
    case 'json':
      return `{"head":{},"boolean":${value}}`
    case 'xml':
      return `${XML_DECLARATION}<sparql xmlns="${XML_NAMESPACE}"><head/><boolean>${value}</boolean></sparql>`
    default:
      return String(value)
  }
}
