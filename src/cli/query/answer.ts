import { Fault } from '../../errors.ts'
import { jsonldStream } from '../../formats/jsonld-stream.ts'
import { csvRows, jsonRows, type RowWriter, tsvRows } from '../../formats/solutions.ts'
import { type Prefixes, turtle } from '../../formats/turtle.ts'
import { termText } from '../../rdf/ntriples.ts'
import type { Term } from '../../rdf/term.ts'
import { XSD } from '../../rdf/vocab.ts'
import { tableRows } from './solutions.ts'

/** What an answer is written in. */
export const ANSWER_FORMATS = ['table', 'json', 'csv', 'tsv', 'turtle', 'ntriples'] as const
export type AnswerFormat = (typeof ANSWER_FORMATS)[number]

/** A term as Comunica gives it (RDF/JS, "Data interfaces"). */
export interface GivenTerm {
  readonly termType: string
  readonly value: string
  readonly language?: string
  readonly direction?: 'ltr' | 'rtl' | '' | null
  readonly datatype?: { readonly value: string }
}

export interface GivenTriple {
  readonly subject: GivenTerm
  readonly predicate: GivenTerm
  readonly object: GivenTerm
}

/** An answer of Comunica: rows, triples or a truth, as they are found. */
export type QueryAnswer =
  | {
      readonly type: 'rows'
      readonly variables: readonly string[]
      readonly rows: AsyncIterable<{ get(name: string): GivenTerm | undefined }>
    }
  | { readonly type: 'triples'; readonly triples: AsyncIterable<GivenTriple> }
  | { readonly type: 'truth'; readonly value: boolean }

const ROWS: Readonly<Record<'table' | 'json' | 'csv' | 'tsv', () => RowWriter>> = {
  table: tableRows,
  json: jsonRows,
  csv: csvRows,
  tsv: tsvRows,
}

/**
 * Writes an answer in pieces, each as soon as it is known.
 *
 * @param format null for the usual one: Turtle for triples, `rows` for rows
 * @param usual the format of rows where none is told
 */
export function writeAnswer(
  answer: QueryAnswer,
  format: AnswerFormat | null,
  usual: 'table' | 'csv',
  prefixes: Prefixes,
): AsyncIterable<string> {
  switch (answer.type) {
    case 'truth':
      return truth(answer.value, format)
    case 'triples':
      return graph(lines(answer.triples), format ?? 'turtle', prefixes)
    case 'rows': {
      const chosen = format ?? usual
      if (chosen === 'turtle' || chosen === 'ntriples')
        throw new Fault('Usage', { reason: `--format ${chosen}: the answer has rows, not triples.` })
      return rows(answer, ROWS[chosen]())
    }
    default:
      return answer satisfies never
  }
}

async function* truth(value: boolean, format: AnswerFormat | null): AsyncGenerator<string> {
  yield format === 'json' ? `${JSON.stringify({ head: {}, boolean: value })}\n` : `${value}\n`
}

async function* rows(
  { variables, rows }: Extract<QueryAnswer, { type: 'rows' }>,
  writer: RowWriter,
): AsyncGenerator<string> {
  yield writer.head(variables)
  for await (const row of rows) yield writer.row(variables.map(name => termOf(row.get(name))))
  yield writer.end()
}

function graph(
  pieces: AsyncIterable<string>,
  format: AnswerFormat,
  prefixes: Prefixes,
): AsyncIterable<string> {
  switch (format) {
    case 'turtle':
      return turtle(pieces, prefixes)
    case 'ntriples':
      return pieces
    case 'json':
      return jsonldStream(pieces, {})
    default:
      throw new Fault('Usage', { reason: `--format ${format}: the answer has triples, not rows.` })
  }
}

async function* lines(quads: AsyncIterable<GivenTriple>): AsyncGenerator<string> {
  for await (const { subject, predicate, object } of quads) {
    const [s, p, o] = [subject, predicate, object].map(termOf)
    if (s && p && o) yield `${termText(s)} ${termText(p)} ${termText(o)} .\n`
  }
}

/** Null for an unbound variable, and for a triple term, which none of the formats can hold. */
function termOf(term: GivenTerm | undefined): Term | null {
  switch (term?.termType) {
    case 'NamedNode':
      return { type: 'iri', value: term.value }
    case 'BlankNode':
      return { type: 'blank', value: term.value }
    case 'Literal': {
      const { value, datatype, language = '', direction } = term
      const tag = direction ? `${language}--${direction}` : language
      return { type: 'literal', value, datatype: datatype?.value ?? XSD.string, language: tag }
    }
    default:
      return null
  }
}
