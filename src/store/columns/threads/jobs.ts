import { termText } from '../../../rdf/ntriples.ts'
import type { Term } from '../../../rdf/term.ts'
import { XSD } from '../../../rdf/vocab.ts'
import type { Node } from '../../../sparql/algebra.ts'
import type { QueryOperation } from '../../../sparql/operation.ts'
import { booleanResult, type CellWriter, rowWriter } from '../../../sparql/results.ts'
import { numberTable } from '../evaluate/aggregates/sums.ts'
import type { Batch } from '../evaluate/batch.ts'
import { concatenatedTexts } from '../evaluate/concat.ts'
import { SubjectDomain } from '../evaluate/domain.ts'
import type { Evaluation } from '../evaluate/evaluation.ts'
import { Evaluator } from '../evaluate/evaluator.ts'
import { withScratch } from '../evaluate/scratch.ts'
import { termOf } from '../evaluate/value.ts'
import { termAt, type Vector } from '../evaluate/vector.ts'
import type { GraphColumns } from '../graph.ts'
import { Cells } from './cells.ts'
import { describeTerms } from './describe.ts'
import type { TextFormat, WireTable, WireVector } from './protocol.ts'

/** Names of graphs of the store, by their columns. */
export type GraphNames = (graph: GraphColumns) => string

/** Evaluates a SELECT whose answer is had at once. */
export function tableOf(
  query: Extract<QueryOperation, { type: 'select' }>,
  evaluation: Evaluation,
  counted: boolean,
  nameOf: GraphNames,
): WireTable {
  return withScratch(() => wholeTable(query, evaluation, counted, nameOf))
}

/** Nothing of it is an array of the evaluation, whose memory the next query takes. */
function wholeTable(
  query: Extract<QueryOperation, { type: 'select' }>,
  evaluation: Evaluation,
  counted: boolean,
  nameOf: GraphNames,
): WireTable {
  const evaluator = new Evaluator(evaluation)
  const { input, variables } = query
  const found =
    counted && input.type === 'slice'
      ? evaluator.page(input)
      : { batches: [...evaluator.solutions(input)], total: -1 }
  const batches = found.batches.filter(({ size }) => size > 0)
  const batch = batches.length === 0 ? null : concatenatedTexts(batches, evaluation)
  const rows = batch?.size ?? 0
  const total = counted && found.total < 0 ? rows : found.total
  const vectors = variables.flatMap(name => {
    const vector = batch?.get(name)
    return vector === undefined ? [] : [[name, wireVector(vector, rows, nameOf)] as const]
  })
  return { rows, total, vectors, columns: [...evaluation.columns] }
}

function wireVector(vector: Vector, rows: number, nameOf: GraphNames): WireVector {
  if (vector.type === 'numbers')
    return {
      type: 'numbers',
      kind: vector.kind,
      values: vector.values.slice(),
      bound: vector.bound?.slice() ?? null,
    }
  if (vector.domain instanceof SubjectDomain) {
    const ids = new Int32Array(rows)
    for (let row = 0; row < rows; row++)
      ids[row] = (vector.type === 'ids' ? (vector.ids[row] as number) : vector.id) - 1
    return { type: 'subjects', graph: nameOf(vector.domain.graph), ids }
  }
  return numbersOnWire(vector, rows) ?? termsOnWire(vector, rows)
}

/** Integers of a column as numbers; null for others. */
function numbersOnWire(vector: Vector, rows: number): WireVector | null {
  if (vector.type !== 'ids') return null
  const table = numberTable(vector.domain)
  if (table === null || table.kind !== 'integer' || !table.isCanonical) return null
  const { ids } = vector
  const values = new Float64Array(rows)
  const bound = new Uint8Array(rows)
  for (let row = 0; row < rows; row++) {
    const id = ids[row] as number
    values[row] = table.values[id] as number
    bound[row] = id === 0 ? 0 : 1
  }
  return { type: 'numbers', kind: table.kind, values, bound }
}

/** Each term once: what is cloned from thread to thread costs by its objects. */
function termsOnWire(vector: Vector, rows: number): WireVector {
  const terms: (Term | string)[] = []
  const places = new Int32Array(rows)
  const known = new Map<number, number>()
  for (let row = 0; row < rows; row++) {
    const id =
      vector.type === 'ids' ? (vector.ids[row] as number) : vector.type === 'constant' ? vector.id : -1
    let place = id < 0 ? undefined : known.get(id)
    if (place === undefined) {
      const term = termAt(vector, row, termOf)
      place = term === null ? -1 : terms.push(isPlainText(term) ? term.value : term) - 1
      if (id >= 0) known.set(id, place)
    }
    places[row] = place
  }
  return { type: 'terms', terms, places }
}

function isPlainText(term: Term): boolean {
  return term.type === 'literal' && term.datatype === XSD.string && term.language === ''
}

/** The answer of a SELECT in tables of at most so many rows. */
export function* tablesOf(
  query: Extract<QueryOperation, { type: 'select' }>,
  evaluation: Evaluation,
  rows: number,
  nameOf: GraphNames,
): Generator<WireTable> {
  for (const batch of new Evaluator(evaluation).solutions(query.input))
    for (let from = 0; from < batch.size; from += rows) {
      const part = batch.slice(from, from + rows)
      const vectors = query.variables.flatMap(name => {
        const vector = part.get(name)
        return vector === undefined ? [] : [[name, wireVector(vector, part.size, nameOf)] as const]
      })
      yield { rows: part.size, total: -1, vectors, columns: [...evaluation.columns] }
    }
}

/** Rows of a batch that are made to text before the clock is looked at. */
const ROWS_AT_A_TIME = 256

/** The answer of a query as text, a little at a time. */
export function* jobText(
  query: QueryOperation,
  evaluation: Evaluation,
  format: TextFormat,
): Generator<string> {
  const evaluator = new Evaluator(evaluation)
  switch (query.type) {
    case 'ask': {
      let found = false
      for (const batch of evaluator.solutions(query.input))
        if (batch.size > 0) {
          found = true
          break
        }
      yield booleanResult(format === 'nt' ? 'json' : format, found)
      return
    }
    case 'select': {
      const writer = rowWriter(format === 'nt' ? 'json' : format)
      const cells = new Cells(writer.cell)
      yield writer.head(query.variables)
      for (const batch of evaluator.solutions(query.input))
        yield* rowsText(batch, query.variables, cells, writer, evaluation)
      yield writer.end()
      return
    }
    case 'construct':
      yield* constructed(query, evaluator, evaluation)
      return
    case 'describe':
      yield* describeTerms(query, evaluator, evaluation)
      return
    default:
      query satisfies never
  }
}

function* rowsText(
  batch: Batch,
  variables: readonly string[],
  cells: Cells,
  { line }: CellWriter,
  evaluation: Evaluation,
): Generator<string> {
  const texts = variables.map(name => cells.of(batch.get(name)))
  const row: (string | null)[] = variables.map(() => null)
  let text = ''
  for (let at = 0; at < batch.size; at++) {
    for (let column = 0; column < texts.length; column++)
      row[column] = (texts[column] as (row: number) => string | null)(at)
    text += line(row)
    if (at % ROWS_AT_A_TIME === ROWS_AT_A_TIME - 1) {
      yield text
      text = ''
      evaluation.check()
    }
  }
  if (text !== '') yield text
}

/** Triples that were written last, so that most that come twice are written once; the answer is a set all the same. */
const MAX_WRITTEN = 1_000_000

/** A template filled with each solution; what is no triple is left out (SPARQL 1.1 Query, section 16.2). */
function* constructed(
  { template, input }: Extract<QueryOperation, { type: 'construct' }>,
  evaluator: Evaluator,
  evaluation: Evaluation,
): Generator<string> {
  const cells = new Cells(termText)
  const written = new Set<string>()
  for (const batch of evaluator.solutions(input)) {
    const blanks = new Map<string, string>()
    const nodes = template.map(({ subject, predicate, object }) => [
      nodeWriter(subject, batch, cells, blanks, evaluation),
      nodeWriter(predicate, batch, cells, blanks, evaluation),
      nodeWriter(object, batch, cells, blanks, evaluation),
    ])
    let text = ''
    for (let row = 0; row < batch.size; row++) {
      blanks.clear()
      for (const [subjectAt, predicateAt, objectAt] of nodes) {
        const [s, p, o] = [subjectAt?.(row), predicateAt?.(row), objectAt?.(row)]
        if (s == null || p == null || o == null || !isResource(s) || !p.startsWith('<')) continue
        const line = `${s} ${p} ${o} .\n`
        if (written.has(line)) continue
        if (written.size < MAX_WRITTEN) written.add(line)
        text += line
      }
      if (row % ROWS_AT_A_TIME === ROWS_AT_A_TIME - 1) {
        if (text !== '') yield text
        text = ''
        evaluation.check()
      }
    }
    if (text !== '') yield text
  }
}

/** The text of a node of a template for each row; a blank node is another in each, and the same within one. */
function nodeWriter(
  node: Node,
  batch: Batch,
  cells: Cells,
  blanks: Map<string, string>,
  evaluation: Evaluation,
): (row: number) => string | null {
  if (node.type === 'variable') return cells.of(batch.get(node.name))
  if (node.type !== 'blank') {
    const text = termText(node)
    return () => text
  }
  return () => {
    const fresh = blanks.get(node.value) ?? `_:${evaluation.freshBlank()}`
    blanks.set(node.value, fresh)
    return fresh
  }
}

/** True for the text of an IRI or a blank node. */
function isResource(text: string): boolean {
  return text.startsWith('<') ? !text.startsWith('<<') : text.startsWith('_')
}
