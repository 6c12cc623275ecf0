import { XML_DECLARATION, xmlAttribute, xmlText } from '../model/xml.ts'
import { termText } from '../rdf/ntriples.ts'
import type { AnswerTerm } from '../rdf/term.ts'
import { XSD } from '../rdf/vocab.ts'

/** Formats of the results of SELECT and ASK. */
export type ResultFormat = 'json' | 'xml' | 'csv' | 'tsv'

/** A row of an answer: terms in the order of the variables; null where one is not bound. */
export type Row = readonly (AnswerTerm | null)[]

/** Writes rows as they come; what does not depend on the row is written once for each term. */
export interface RowWriter {
  readonly head: (variables: readonly string[]) => string
  readonly row: (row: Row) => string
  readonly end: () => string
}

export function rowWriter(format: ResultFormat): RowWriter {
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
export function csvRows(): RowWriter {
  const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return {
    head: variables => `${variables.map(cell).join(',')}\r\n`,
    row: row => {
      let line = ''
      for (let at = 0; at < row.length; at++) {
        const term = row[at]
        if (at > 0) line += ','
        if (term != null) line += cell(plain(term))
      }
      return `${line}\r\n`
    },
    end: () => '',
  }
}

/** SPARQL 1.1 Query Results TSV (section 4): terms as Turtle writes them. */
export function tsvRows(): RowWriter {
  return {
    head: variables => `${variables.map(name => `?${name}`).join('\t')}\n`,
    row: row => {
      let line = ''
      for (let at = 0; at < row.length; at++) {
        const term = row[at]
        if (at > 0) line += '\t'
        if (term != null) line += termText(term)
      }
      return `${line}\n`
    },
    end: () => '',
  }
}

/** SPARQL 1.1 Query Results JSON, a line a row; a base direction as in the draft of SPARQL 1.2 (`its:dir`). */
export function jsonRows(): RowWriter {
  let names: readonly string[] = []
  let before = '\n'
  return {
    head: variables => {
      names = variables.map(name => `${JSON.stringify(name)}:`)
      return `{"head":{"vars":${JSON.stringify(variables)}},\n"results":{"bindings":[`
    },
    row: row => {
      let text = `${before}{`
      let isFirst = true
      for (let at = 0; at < row.length; at++) {
        const term = row[at]
        if (term == null) continue
        text += isFirst ? '' : ','
        text += names[at] + jsonTerm(term)
        isFirst = false
      }
      before = ',\n'
      return `${text}}`
    },
    end: () => '\n]}}\n',
  }
}

/** SPARQL 1.2 Query Results JSON, section 3.2.2. */
function jsonTerm(term: AnswerTerm): string {
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
export function xmlRows(): RowWriter {
  let names: readonly string[] = []
  return {
    head: variables => {
      names = variables.map(name => xmlAttribute(name))
      const head = names.map(name => `<variable name="${name}"/>`).join('')
      return `${XML_DECLARATION}<sparql xmlns="${RESULTS}" xmlns:its="${ITS}" its:version="2.0"><head>${head}</head><results>\n`
    },
    row: row => {
      let text = '<result>'
      for (let at = 0; at < row.length; at++) {
        const term = row[at]
        if (term != null) text += `<binding name="${names[at]}">${xmlTerm(term)}</binding>`
      }
      return `${text}</result>\n`
    },
    end: () => '</results></sparql>\n',
  }
}

/** SPARQL 1.2 Query Results XML, section 2.3.1. */
function xmlTerm(term: AnswerTerm): string {
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
