import { usageFault } from '../../config/faults.ts'
import { jsonldStream } from '../../formats/jsonld-forms.ts'
import { type Prefixes, turtle } from '../../formats/turtle.ts'
import { termText } from '../../rdf/ntriples.ts'
import { isTripleTerm, splitTriples } from '../../rdf/ntriples-reader.ts'
import { answerTerm, type RdfJsTerm } from '../../rdf/rdfjs.ts'
import type { Literal, Term } from '../../rdf/term.ts'
import { plain } from '../../sparql/result-formats.ts'
import { type ResultRow, type RowWriter, rowWriter } from '../../sparql/row-writer.ts'

/** Output formats of an answer. */
export const ANSWER_FORMATS = ['table', 'json', 'csv', 'tsv', 'turtle', 'ntriples'] as const
export type QueryFormat = (typeof ANSWER_FORMATS)[number]

/** A triple of Comunica. */
export interface GivenTriple {
  readonly subject: RdfJsTerm
  readonly predicate: RdfJsTerm
  readonly object: RdfJsTerm
}

/** An answer of Comunica: rows, triples or a boolean, as they are found. */
export type ComunicaAnswer =
  | {
      readonly type: 'rows'
      readonly variables: readonly string[]
      readonly rows: AsyncIterable<{ get(name: string): RdfJsTerm | undefined }>
    }
  | { readonly type: 'triples'; readonly triples: AsyncIterable<GivenTriple> }
  | { readonly type: 'truth'; readonly value: boolean }

const ROWS: Readonly<Record<'table' | 'json' | 'csv' | 'tsv', () => RowWriter>> = {
  table: tableRows,
  json: () => rowWriter('json'),
  csv: () => rowWriter('csv'),
  tsv: () => rowWriter('tsv'),
}

/**
 * Writes an answer in pieces, each as soon as it is known.
 *
 * @param format null for the default: Turtle for triples, `rows` for rows
 * @param standard the format of rows if none is named
 */
export function writeQueryAnswer(
  answer: ComunicaAnswer,
  format: QueryFormat | null,
  standard: 'table' | 'csv',
  prefixes: Prefixes,
): AsyncIterable<string> {
  switch (answer.type) {
    case 'truth':
      return truth(answer.value, format)
    case 'triples':
      return graph(lines(answer.triples), format ?? 'turtle', prefixes)
    case 'rows': {
      const chosen = format ?? standard
      if (chosen === 'turtle' || chosen === 'ntriples')
        throw usageFault(`--format ${chosen}: the answer has rows, not triples.`)
      return rows(answer, ROWS[chosen]())
    }
  }
}

async function* truth(value: boolean, format: QueryFormat | null): AsyncGenerator<string> {
  yield format === 'json' ? `${JSON.stringify({ head: {}, boolean: value })}\n` : `${value}\n`
}

async function* rows(
  { variables, rows }: Extract<ComunicaAnswer, { type: 'rows' }>,
  writer: RowWriter,
): AsyncGenerator<string> {
  yield writer.head(variables)
  for await (const row of rows) yield writer.row(variables.map(name => answerTerm(row.get(name))))
  yield writer.end()
}

function graph(
  pieces: AsyncIterable<string>,
  format: QueryFormat,
  prefixes: Prefixes,
): AsyncIterable<string> {
  switch (format) {
    case 'turtle':
      return turtle(pieces, prefixes)
    case 'ntriples':
      return pieces
    case 'json':
      return jsonldStream(withoutTripleTerms(pieces), {})
    default:
      throw usageFault(`--format ${format}: the answer has triples, not rows.`)
  }
}

async function* lines(quads: AsyncIterable<GivenTriple>): AsyncGenerator<string> {
  for await (const { subject, predicate, object } of quads) {
    const [s, p, o] = [subject, predicate, object].map(answerTerm)
    if (s && p && o) yield `${termText(s)} ${termText(p)} ${termText(o)} .\n`
  }
}

async function* withoutTripleTerms(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces) {
    for (const { object } of splitTriples(piece))
      if (isTripleTerm(object))
        throw usageFault(
          '--format json: JSON-LD cannot hold the triple term of the answer; choose turtle or ntriples.',
        )
    yield piece
  }
}

/** Rows that determine the column widths of a table; later ones may be wider. */
const ROWS_MEASURED = 100
/** Maximum characters of a cell. */
const WIDEST = 60

/** A readable table: the columns fit the first rows, numbers are right-aligned. */
function tableRows(): RowWriter {
  let names: readonly string[] = []
  let buffered: ResultRow[] = []
  let widths: readonly number[] | null = null
  let numeric: readonly boolean[] = []
  const line = (cells: readonly string[]) =>
    `${cells
      .map((cell, at) => {
        const pad = ' '.repeat(Math.max(0, (widths?.[at] ?? 0) - widthOf(cell)))
        return numeric[at] === true ? pad + cell : cell + pad
      })
      .join('  ')
      .trimEnd()}\n`
  const begin = () => {
    const shown = buffered.map(row => row.map(shownTerm))
    numeric = names.map(
      (_, at) => buffered.length > 0 && buffered.every(row => row[at] === null || isNumber(row[at])),
    )
    widths = names.map((name, at) => Math.max(widthOf(name), ...shown.map(row => widthOf(row[at] ?? ''))))
    buffered = []
    const rule = widths.map(width => '─'.repeat(width)).join('  ')
    return `${line(names)}${rule}\n${shown.map(line).join('')}`
  }
  return {
    head: variables => {
      names = variables
      return ''
    },
    row: row => {
      if (widths !== null) return line(row.map(shownTerm))
      buffered.push(row)
      return buffered.length < ROWS_MEASURED ? '' : begin()
    },
    end: () => (widths === null ? begin() : ''),
  }
}

function shownTerm(term: Term | null): string {
  if (term === null) return ''
  if (isNumber(term) && /e/i.test(term.value)) return String(Number(term.value))
  const text = plain(term).replace(/\s+/g, ' ')
  const characters = [...text]
  return characters.length > WIDEST && term.type === 'literal'
    ? `${characters.slice(0, WIDEST - 1).join('')}…`
    : text
}

/** Terminal columns of a text: wide characters take two, combining marks none. */
function widthOf(text: string): number {
  let width = 0
  for (const character of text) {
    if (/\p{Mn}|\p{Me}|\p{Cf}/u.test(character)) continue
    width += /[ᄀ-ᅟ⺀-꓏가-힣豈-﫿︰-﹯＀-｠￠-￦]|\p{Emoji_Presentation}/u.test(character) ? 2 : 1
  }
  return width
}

function isNumber(term: Term | null | undefined): term is Literal {
  return term?.type === 'literal' && /#(?:integer|decimal|double|float|int|long)$/.test(term.datatype)
}
