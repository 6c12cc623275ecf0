import t from 'tap'
import { bodyOf, GRAPH_FORMATS, type ResponseBody, streamOf } from '../src/api/sparql/formats.ts'
import type { Term } from '../src/rdf/term.ts'
import { parseQuery } from '../src/sparql/parse.ts'
import type { ResultFormat } from '../src/sparql/result-formats.ts'
import { rowWriter } from '../src/sparql/row-writer.ts'
import { Evaluation } from '../src/store/columns/evaluate/evaluation.ts'
import { Evaluator } from '../src/store/columns/evaluate/evaluator.ts'
import { termAt } from '../src/store/columns/evaluate/vectors/vector.ts'
import { jobText } from '../src/store/columns/threads/answer-text.ts'
import { PieceBytes } from '../src/store/columns/threads/piece-bytes.ts'
import { columnsOfText } from './support/columns.ts'

/** Answers that are written as bytes: the same as rows that are written as texts. */
const FORMATS: readonly ResultFormat[] = ['json', 'xml', 'csv', 'tsv']

/** Literals as N-Triples has them, with all that some format escapes. */
const LITERALS = [
  '""',
  '"plain"',
  '"a, \\"b\\" <c> & d\\re\\nf\\tg \\\\ \\u0001\\u007F"',
  '"São Paulo 東京 \u{1f30d} \uffee \ufffe"',
  '"chat"@fr',
  '"شيء"@ar--rtl',
  '"5"^^<http://www.w3.org/2001/XMLSchema#integer>',
  ...['0', '-17', '007', '2147483648', '-9007199254740991', '9007199254740993', '123456789012345678901'].map(
    form => `"${form}"^^<http://www.w3.org/2001/XMLSchema#integer>`,
  ),
  ...['1000', '-0', '0', '1e3', '3.25', 'NaN'].map(
    form => `"${form}"^^<http://www.w3.org/2001/XMLSchema#double>`,
  ),
  '"8"^^<http://www.w3.org/2001/XMLSchema#byte>',
  '"5.50"^^<http://www.w3.org/2001/XMLSchema#decimal>',
  '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>',
  '"2024-05-06"^^<http://www.w3.org/2001/XMLSchema#date>',
  '"POINT(1 2)"^^<http://www.opengis.net/ont/geosparql#wktLiteral>',
  '"odd & <"^^<urn:datatype:é&>',
  `"${'long '.repeat(200)}"`,
  '_:b1',
  '<urn:iri:é&x>',
  '<<( <urn:a> <urn:b> "c & \\"d\\""@en )>>',
]

const QUERIES = [
  'SELECT * { ?s ?p ?o }',
  'SELECT ?missing ?o ?s { ?s ?p ?o }',
  'SELECT ?s ?x ?ü { ?s <urn:p0> ?o . OPTIONAL { ?s <urn:p3> ?x } OPTIONAL { ?s <urn:p5> ?ü } }',
  'SELECT ?o (STRLEN(STR(?o)) AS ?n) (CONCAT(STR(?o), "é&") AS ?c) { ?s <urn:p1> ?o }',
  'SELECT * { ?s ?p ?o } LIMIT 3',
]

const lines: string[] = []
for (let at = 0; at < 3000; at++)
  for (let number = 0; number < 1 + (at % 6); number++) {
    const literal = LITERALS[(at * 7 + number) % LITERALS.length]
    const object = at % 3 === 0 ? `"own ${at} & ${number}"` : literal
    lines.push(`<urn:s:${at % 5 === 0 ? 'é' : 'e'}:${at}> <urn:p${number}> ${object} .\n`)
  }
const graph = columnsOfText(lines.join(''))
const evaluation = () => new Evaluation({ defaultGraphs: [graph], namedGraphs: new Map() })

/** The answer as rows of terms that are written one by one. */
function asRows(text: string, format: ResultFormat): string {
  const { query } = parseQuery(text, 'urn:base')
  if (query.type !== 'select') throw new Error('not a SELECT')
  const own = evaluation()
  const writer = rowWriter(format)
  let answer = writer.head(query.variables)
  for (const batch of new Evaluator(own).solutions(query.input))
    for (let row = 0; row < batch.size; row++)
      answer += writer.row(
        query.variables.map((name): Term | null => {
          const vector = batch.get(name)
          return vector === undefined ? null : termAt(vector, row)
        }),
      )
  return answer + writer.end()
}

/** The same as bytes, beside another answer that is written in turn with it. */
function asBytes(text: string, format: ResultFormat, longest: number): string {
  const { query } = parseQuery(text, 'urn:base')
  const piece = new PieceBytes()
  const other = jobText(parseQuery('SELECT ?o ?s { ?s ?p ?o }', 'urn:base').query, evaluation(), 'csv', piece)
  const pieces: Uint8Array[] = []
  const job = jobText(query, evaluation(), format, piece)
  for (;;) {
    const { done } = job.next()
    if (done !== true && piece.length < longest) continue
    pieces.push(piece.take())
    if (done === true) return Buffer.concat(pieces).toString()
    other.next()
    piece.take()
  }
}

t.test('bytes are what texts are', async t => {
  for (const text of QUERIES)
    for (const format of FORMATS) {
      const expected = asRows(text, format)
      for (const longest of [1, 50_000, 10_000_000])
        t.ok(asBytes(text, format, longest) === expected, `${format}, pieces of ${longest}: ${text}`)
    }
})

t.test('what is held is forgotten when there is too much of it', async t => {
  const piece = new PieceBytes()
  const text = Buffer.from('a text that is written again and again')
  piece.begin()
  let written = ''
  for (let at = 0; at < 20_000; at++) {
    piece.encoded(text)
    const from = piece.place
    piece.text(`${at} ${'x'.repeat(at % 300)}`)
    piece.cache(from)
    written += `a text that is written again and again${at} ${'x'.repeat(at % 300)}`
  }
  t.ok(piece.epoch > 1)
  t.ok(Buffer.from(piece.take()).toString() === written)
})

t.test('a piece grows for what is longer than it', async t => {
  const piece = new PieceBytes()
  piece.begin()
  piece.text('before ')
  piece.mark()
  piece.text('é'.repeat(3_000_000))
  t.equal(piece.take().length, 6_000_007)
  piece.text('stays')
  piece.mark()
  piece.text('lost')
  piece.backToMark()
  t.equal(Buffer.from(piece.take()).toString(), 'stays')
})

t.test('a document has the same bytes however soon its triples are found', async t => {
  const document = (triples: number) =>
    Array.from(
      { length: triples },
      (_, at) =>
        `<urn:s${at % 70}> <urn:p${at % 3}> ${at % 2 ? `_:b${at % 5}` : `"value ${at}"`} .\n_:b${at % 5} <urn:q> "${at}" .\n`,
    ).join('')
  async function* cut(text: string, length: number): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
  }
  const textOf = async (body: ResponseBody) => {
    if (typeof body === 'string') return body
    const pieces: Buffer[] = []
    for await (const piece of body) pieces.push(Buffer.from(piece))
    return Buffer.concat(pieces).toString()
  }
  for (const format of GRAPH_FORMATS)
    for (const text of ['', document(1), document(60), document(4000)]) {
      const whole = await textOf(await bodyOf(format, text, {}))
      for (const length of [1000, 50_000])
        t.equal(
          await textOf(await streamOf(format, cut(text, length), {})),
          whole,
          `${format.type}, ${text.length} by ${length}`,
        )
    }
})
