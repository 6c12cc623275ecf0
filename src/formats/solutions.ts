import { termText } from '../rdf/ntriples.ts'
import type { AnswerTerm } from '../rdf/term.ts'
import { XSD } from '../rdf/vocab.ts'

/** A row of an answer: terms in the order of the variables; null where one is not bound. */
export type Row = readonly (AnswerTerm | null)[]

/** Writes rows as they come. */
export interface RowWriter {
  readonly head: (variables: readonly string[]) => string
  readonly row: (row: Row) => string
  readonly end: () => string
}

/** SPARQL 1.1 Query Results CSV (section 3): values without their kind. */
export function csvRows(): RowWriter {
  const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return {
    head: variables => `${variables.map(cell).join(',')}\r\n`,
    row: row => `${row.map(term => cell(term === null ? '' : plain(term))).join(',')}\r\n`,
    end: () => '',
  }
}

/** SPARQL 1.1 Query Results TSV (section 4): terms as Turtle writes them. */
export function tsvRows(): RowWriter {
  return {
    head: variables => `${variables.map(name => `?${name}`).join('\t')}\n`,
    row: row => `${row.map(term => (term === null ? '' : termText(term))).join('\t')}\n`,
    end: () => '',
  }
}

/** SPARQL 1.1 Query Results JSON, a line a row. */
export function jsonRows(): RowWriter {
  let names: readonly string[] = []
  let before = '\n'
  return {
    head: variables => {
      names = variables
      return `{"head":{"vars":${JSON.stringify(variables)}},\n"results":{"bindings":[`
    },
    row: row => {
      const bound = row.flatMap((term, at) =>
        term === null ? [] : [`${JSON.stringify(names[at])}:${JSON.stringify(jsonTerm(term))}`],
      )
      const text = `${before}{${bound.join(',')}}`
      before = ',\n'
      return text
    },
    end: () => '\n]}}\n',
  }
}

/** The value of a term without its kind. */
export function plain(term: AnswerTerm): string {
  switch (term.type) {
    case 'iri':
    case 'literal':
      return term.value
    case 'blank':
      return `_:${term.value}`
    case 'triple':
      return `${plain(term.subject)} ${plain(term.predicate)} ${plain(term.object)}`
    default:
      return term satisfies never
  }
}

/** SPARQL 1.2 Query Results JSON, section 3.2.2. */
function jsonTerm(term: AnswerTerm): unknown {
  switch (term.type) {
    case 'iri':
      return { type: 'uri', value: term.value }
    case 'blank':
      return { type: 'bnode', value: term.value }
    case 'triple': {
      const { subject, predicate, object } = term
      const value = { subject: jsonTerm(subject), predicate: jsonTerm(predicate), object: jsonTerm(object) }
      return { type: 'triple', value }
    }
    case 'literal': {
      const { value, datatype, language } = term
      if (language !== '') return { type: 'literal', value, 'xml:lang': language }
      return datatype === XSD.string ? { type: 'literal', value } : { type: 'literal', value, datatype }
    }
    default:
      return term satisfies never
  }
}
