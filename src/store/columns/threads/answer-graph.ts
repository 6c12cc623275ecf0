import { LineSet } from '../../../rdf/line-set.ts'
import { termText } from '../../../rdf/ntriples.ts'
import type { Term } from '../../../rdf/term.ts'
import type { ConstructOperation, Node, QueryOperation } from '../../../sparql/algebra.ts'
import type { Evaluation } from '../evaluate/evaluation.ts'
import type { Evaluator } from '../evaluate/evaluator.ts'
import type { Batch } from '../evaluate/vectors/batch.ts'
import { termAt, type Vector } from '../evaluate/vectors/vector.ts'

/** Rows of a batch that are written before the clock is checked. */
const ROWS_AT_A_TIME = 256

/** The text of the term of a vector by row; null where it has none. */
function textsOf(vector: Vector | undefined): (row: number) => string | null {
  if (vector === undefined) return () => null
  if (vector.type === 'constant') {
    const text = vector.id === 0 ? null : termText(vector.domain.term(vector.id))
    return () => text
  }
  return row => {
    const term = termAt(vector, row)
    return term === null ? null : termText(term)
  }
}

/** Triples up to this number are remembered, so that most duplicates are written once; the answer is a set in any case. */
const MAX_WRITTEN = 1_000_000

/** The template filled with each solution; invalid triples are omitted (SPARQL 1.1 Query, section 16.2). */
export function* constructed(
  { template, input }: ConstructOperation,
  evaluator: Evaluator,
  evaluation: Evaluation,
): Generator<string> {
  const written = new LineSet()
  let distinct = 0
  for (const batch of evaluator.solutions(input)) {
    const blanks = new Map<string, string>()
    const nodes = template.map(({ subject, predicate, object }) =>
      [subject, predicate, object].map(node => nodeWriter(node, batch, blanks, evaluation)),
    )
    let text = ''
    for (let row = 0; row < batch.size; row++) {
      blanks.clear()
      for (const [subjectAt, predicateAt, objectAt] of nodes) {
        const [s, p, o] = [subjectAt?.(row), predicateAt?.(row), objectAt?.(row)]
        if (s == null || p == null || o == null || !isResource(s) || !isIri(p)) continue
        const line = `${s} ${p} ${o} .\n`
        if (distinct < MAX_WRITTEN) {
          if (!written.add(line)) continue
          distinct += 1
        }
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

/** The text of a node of a template for each row; a blank node differs between rows, and is the same within one. */
function nodeWriter(
  node: Node,
  batch: Batch,
  blanks: Map<string, string>,
  evaluation: Evaluation,
): (row: number) => string | null {
  if (node.type === 'variable') return textsOf(batch.get(node.name))
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
  return isIri(text) || text.startsWith('_')
}

/** True for the text of an IRI, which a triple term is not. */
function isIri(text: string): boolean {
  return text.startsWith('<') && !text.startsWith('<<')
}

/** Maximum number of described resources; the description of each includes all its triples, and those of the blank nodes in them. */
const MAX_DESCRIBED = 10_000

/** A concise bounded description of each resource (SPARQL 1.1 Query, section 16.4 leaves the form open). */
export function* describeTerms(
  { terms, input }: Extract<QueryOperation, { type: 'describe' }>,
  evaluator: Evaluator,
  evaluation: Evaluation,
): Generator<string> {
  const required = new Map<string, Term>()
  const want = (term: Term) => {
    if (term.type !== 'literal' && required.size < MAX_DESCRIBED) required.set(termText(term), term)
  }
  for (const term of terms) if (term.type === 'iri') want(term)
  const names = terms.flatMap(term => (term.type === 'variable' ? [term.name] : []))
  if (names.length > 0)
    for (const batch of evaluator.solutions(input)) {
      for (const name of names) {
        const vector = batch.get(name)
        if (vector === undefined) continue
        for (let row = 0; row < batch.size; row++) {
          const term = termAt(vector, row)
          if (term !== null) want(term)
        }
      }
      if (required.size >= MAX_DESCRIBED) break
    }
  const written = new LineSet()
  // Blank nodes are added during the iteration.
  for (const term of required.values()) yield* about(term, want, written, evaluation)
}

function* about(
  term: Term,
  want: (term: Term) => void,
  written: LineSet,
  evaluation: Evaluation,
): Generator<string> {
  const subject = termText(term)
  for (const graph of evaluation.dataset.defaultGraphs) {
    const number = graph.subjectOf(term)
    if (number < 0) continue
    let text = ''
    for (const column of graph.columns) {
      const row = column.rowOf(number)
      if (row < 0) continue
      for (let at = column.startOf(row); at < column.endOf(row); at++) {
        const object = column.dictionary.term(column.codes[at] as number)
        if (object.type === 'blank') want(object)
        const line = `${subject} ${termText({ type: 'iri', value: column.predicate })} ${termText(object)} .\n`
        if (written.add(line)) text += line
      }
    }
    evaluation.advance(64)
    if (text !== '') yield text
  }
}
