import type { Term } from '../../../rdf/term.ts'
import { XSD } from '../../../rdf/vocab.ts'
import type { SelectOperation } from '../../../sparql/algebra.ts'
import type { Evaluation } from '../evaluate/evaluation.ts'
import { Evaluator } from '../evaluate/evaluator.ts'
import type { Batch } from '../evaluate/vectors/batch.ts'
import { concatenatedTexts } from '../evaluate/vectors/concat.ts'
import { SubjectDomain } from '../evaluate/vectors/domain.ts'
import { columnNumbers } from '../evaluate/vectors/number-vectors.ts'
import { withScratch } from '../evaluate/vectors/scratch.ts'
import { idAt, termAt, type Vector } from '../evaluate/vectors/vector.ts'
import type { GraphColumns } from '../graph.ts'
import type { LastPiece, WireTable, WireVector } from './protocol.ts'

/** Names of graphs of the store, by their columns. */
export type GraphNames = (graph: GraphColumns) => string

/** Evaluates a SELECT whose answer is returned at once. */
export function tableOf(
  query: SelectOperation,
  evaluation: Evaluation,
  counted: boolean,
  nameOf: GraphNames,
): WireTable {
  return withScratch(() => wholeTable(query, evaluation, counted, nameOf))
}

/** Copies a table out of the arrays of the evaluation, whose memory the next query reuses. */
function wholeTable(
  query: SelectOperation,
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
  const vectors = batch === null ? [] : wireVectors(batch, variables, nameOf)
  return { rows, total, vectors, columns: [...evaluation.columns] }
}

function wireVectors(batch: Batch, variables: readonly string[], nameOf: GraphNames): WireTable['vectors'] {
  return variables.flatMap(name => {
    const vector = batch.get(name)
    return vector === undefined ? [] : [[name, wireVector(vector, batch.size, nameOf)] as const]
  })
}

function wireVector(vector: Vector, rows: number, nameOf: GraphNames): WireVector {
  if (vector.type === 'numbers') {
    const { kind } = vector
    if (kind === 'decimal') return termsOnWire(vector, rows)
    return {
      type: 'numbers',
      kind,
      values: vector.values.slice(),
      bound: vector.bound?.slice() ?? null,
    }
  }
  if (vector.domain instanceof SubjectDomain) {
    const ids = new Int32Array(rows)
    for (let row = 0; row < rows; row++) ids[row] = idAt(vector, row) - 1
    return { type: 'subjects', graph: nameOf(vector.domain.graph), ids }
  }
  return numbersOnWire(vector, rows) ?? termsOnWire(vector, rows)
}

/** Integers of a column as numbers; null for others. */
function numbersOnWire(vector: Vector, rows: number): WireVector | null {
  if (vector.type !== 'ids') return null
  const table = columnNumbers(vector.domain)
  if (table?.kind !== 'integer' || !table.isCanonical) return null
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

/** Each term once: the cost of cloning data between threads depends on the number of its objects. */
function termsOnWire(vector: Vector, rows: number): WireVector {
  const terms: (Term | string)[] = []
  const places = new Int32Array(rows)
  const known = new Map<number, number>()
  for (let row = 0; row < rows; row++) {
    const id = vector.type === 'numbers' ? -1 : idAt(vector, row)
    let place = id < 0 ? undefined : known.get(id)
    if (place === undefined) {
      const term = termAt(vector, row)
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

/** The answer of a SELECT in tables of a maximum number of rows. */
export function* tablesOf(
  query: SelectOperation,
  evaluation: Evaluation,
  rows: number,
  nameOf: GraphNames,
): Generator<WireTable, LastPiece> {
  for (const batch of new Evaluator(evaluation).solutions(query.input))
    for (let from = 0; from < batch.size; from += rows) {
      const part = batch.slice(from, from + rows)
      const vectors = wireVectors(part, query.variables, nameOf)
      yield { rows: part.size, total: -1, vectors, columns: [...evaluation.columns] }
    }
  return { piece: null, cursor: null }
}
