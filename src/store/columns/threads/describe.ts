import { LineSet } from '../../../rdf/line-set.ts'
import { termText } from '../../../rdf/ntriples.ts'
import type { Term } from '../../../rdf/term.ts'
import type { QueryOperation } from '../../../sparql/algebra.ts'
import type { Evaluation } from '../evaluate/evaluation.ts'
import type { Evaluator } from '../evaluate/evaluator.ts'
import { termOf } from '../evaluate/value.ts'
import { termAt } from '../evaluate/vector.ts'

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
          const term = termAt(vector, row, termOf)
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
