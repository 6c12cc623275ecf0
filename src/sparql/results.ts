import { XML_DECLARATION, xmlAttribute, xmlText } from '../model/xml.ts'
import { termText } from '../rdf/ntriples.ts'
import type { Term } from '../rdf/term.ts'
import { XSD } from '../rdf/vocab.ts'

/** Formats of the results of SELECT and ASK. */
export type ResultFormat = 'json' | 'xml' | 'csv' | 'tsv'

/** A row of an answer: terms in the order of the variables; null where one is not bound. */
export type ResultRow = readonly (Term | null)[]

/** Writes rows as they come. */
export interface RowWriter {
  readonly head: (variables: readonly string[]) => string
  readonly row: (row: ResultRow) => string
  /** @param rest where the answer goes on; absent where it is whole */
  readonly end: (rest?: Rest) => string
}

/** How an answer says where it goes on that is not whole. */
export interface ContinuationFormat {
  /** Where it begins; null for the beginning. */
  readonly place: string | null
  /** What stands before a place in a cursor. */
  readonly prefix: string
  /** What stands before a cursor in the address of the rest; null where there is none. */
  readonly address: string | null
}

/** Where an answer goes on that is not whole. */
export interface Rest {
  /** What the query is to be asked with again. */
  readonly cursor: string
  /** The address of the rest. */
  readonly next?: string
}

/** Writes rows of texts that are written once for a term, whatever row it stands in. */
export interface CellWriter extends RowWriter {
  readonly cell: (term: Term) => string
  /** A row of such texts; null where a variable is not bound. */
  readonly line: (cells: readonly (string | null)[]) => string
}

function rowsOf(writer: Omit<CellWriter, 'row'>): CellWriter {
  const { cell, line } = writer
  return { ...writer, row: row => line(row.map(term => (term === null ? null : cell(term)))) }
}

export function rowWriter(format: ResultFormat): CellWriter {
  switch (format) {
    case 'json':
      return jsonRows()
    case 'xml':
      return xmlRows()
    case 'csv':
      return csvRows()
    case 'tsv':
      return tsvRows()
    default:
      return format satisfies never
  }
}

/** The result of an ASK; CSV and TSV have no form for one. */
export function booleanResult(format: ResultFormat, value: boolean): string {
  switch (format) {
    case 'json':
      return `{"head":{},"boolean":${value}}`
    case 'xml':
      return `${XML_DECLARATION}<sparql xmlns="${RESULTS}"><head/><boolean>${value}</boolean></sparql>`
    default:
      return String(value)
  }
}

const RESULTS = 'http://www.w3.org/2005/sparql-results#'
const ITS = 'http://www.w3.org/2005/11/its'

/** SPARQL 1.1 Query Results CSV (section 3): values without their kind. */
export function csvRows(): CellWriter {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return rowsOf({
    head: variables => `${variables.map(quoted).join(',')}\r\n`,
    cell: term => quoted(plain(term)),
    line: cells => `${joined(cells, ',')}\r\n`,
    end: () => '',
  })
}

function joined(cells: readonly (string | null)[], separator: string): string {
  let line = cells[0] ?? ''
  for (let at = 1; at < cells.length; at++) line += separator + (cells[at] ?? '')
  return line
}

/** SPARQL 1.1 Query Results TSV (section 4): terms as Turtle writes them. */
export function tsvRows(): CellWriter {
  return rowsOf({
    head: variables => `${variables.map(name => `?${name}`).join('\t')}\n`,
    cell: termText,
    line: cells => `${joined(cells, '\t')}\n`,
    end: () => '',
  })
}

/** SPARQL 1.1 Query Results JSON, a line a row; a base direction as in the draft of SPARQL 1.2 (`its:dir`). */
export function jsonRows(): CellWriter {
  let names: readonly string[] = []
  let before = '\n'
  return rowsOf({
    head: variables => {
      names = variables.map(name => `${JSON.stringify(name)}:`)
      return `{"head":{"vars":${JSON.stringify(variables)}},\n"results":{"bindings":[`
    },
    cell: jsonTerm,
    line: cells => {
      let text = `${before}{`
      let isFirst = true
      for (let at = 0; at < cells.length; at++) {
        const cell = cells[at]
        if (cell == null) continue
        text += isFirst ? '' : ','
        text += names[at] + cell
        isFirst = false
      }
      before = ',\n'
      return `${text}}`
    },
    end: rest => (rest === undefined ? '\n]}}\n' : `\n]},\n"continuation":${JSON.stringify(rest)}}\n`),
  })
}

/** SPARQL 1.2 Query Results JSON, section 3.2.2. */
function jsonTerm(term: Term): string {
  if (term.type === 'triple') {
    const [subject, predicate, object] = [term.subject, term.predicate, term.object].map(jsonTerm)
    return `{"type":"triple","value":{"subject":${subject},"predicate":${predicate},"object":${object}}}`
  }
  const value = JSON.stringify(term.value)
  switch (term.type) {
    case 'iri':
      return `{"type":"uri","value":${value}}`
    case 'blank':
      return `{"type":"bnode","value":${value}}`
    case 'literal': {
      const { datatype, language } = term
      if (language === '')
        return datatype === XSD.string
          ? `{"type":"literal","value":${value}}`
          : `{"type":"literal","value":${value},"datatype":${JSON.stringify(datatype)}}`
      const [tag, direction] = language.split('--') as [string, string | undefined]
      const its = direction === undefined ? '' : `,"its:dir":"${direction}"`
      return `{"type":"literal","value":${value},"xml:lang":${JSON.stringify(tag)}${its}}`
    }
    default:
      return term satisfies never
  }
}

/** SPARQL Query Results XML Format. */
function xmlRows(): CellWriter {
  let names: readonly string[] = []
  return rowsOf({
    head: variables => {
      names = variables.map(name => xmlAttribute(name))
      const head = names.map(name => `<variable name="${name}"/>`).join('')
      names = names.map(name => `<binding name="${name}">`)
      return `${XML_DECLARATION}<sparql xmlns="${RESULTS}" xmlns:its="${ITS}" its:version="2.0"><head>${head}</head><results>\n`
    },
    cell: xmlTerm,
    line: cells => {
      let text = '<result>'
      for (let at = 0; at < cells.length; at++)
        if (cells[at] != null) text += `${names[at]}${cells[at]}</binding>`
      return `${text}</result>\n`
    },
    end: () => '</results></sparql>\n',
  })
}

/** SPARQL 1.2 Query Results XML, section 2.3.1. */
function xmlTerm(term: Term): string {
  if (term.type === 'triple') {
    const [subject, predicate, object] = [term.subject, term.predicate, term.object].map(xmlTerm)
    return `<triple><subject>${subject}</subject><predicate>${predicate}</predicate><object>${object}</object></triple>`
  }
  const value = xmlText(term.value)
  switch (term.type) {
    case 'iri':
      return `<uri>${value}</uri>`
    case 'blank':
      return `<bnode>${value}</bnode>`
    case 'literal': {
      const { datatype, language } = term
      if (language === '')
        return datatype === XSD.string
          ? `<literal>${value}</literal>`
          : `<literal datatype="${xmlAttribute(datatype)}">${value}</literal>`
      const [tag, direction] = language.split('--') as [string, string | undefined]
      const its = direction === undefined ? '' : ` its:dir="${direction}"`
      return `<literal xml:lang="${xmlAttribute(tag)}"${its}>${value}</literal>`
    }
    default:
      return term satisfies never
  }
}

/** The value of a term without its kind. */
export function plain(term: Term): string {
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
