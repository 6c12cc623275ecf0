import type { Term } from '../rdf/term.ts'
import { RDF, XSD } from '../rdf/vocab.ts'
import type { Solution } from './store.ts'

/** A term in SPARQL 1.1 Query Results JSON (section 3.2.2). */
interface Binding {
  readonly type: 'uri' | 'literal' | 'typed-literal' | 'bnode'
  readonly value: string
  readonly datatype?: string
  readonly 'xml:lang'?: string
}

/** Reads the answer of a SELECT in SPARQL 1.1 Query Results JSON. */
export function readSolutions(text: string): readonly Solution[] {
  const { results } = JSON.parse(text) as {
    readonly results: { readonly bindings: readonly Record<string, Binding>[] }
  }
  return results.bindings.map(binding => {
    const solution: Record<string, Term> = {}
    for (const name in binding) {
      const bound = binding[name]
      if (bound !== undefined) solution[name] = readTerm(bound)
    }
    return solution
  })
}

function readTerm(binding: Binding): Term {
  if (binding.type === 'uri') return { type: 'iri', value: binding.value }
  if (binding.type === 'bnode') return { type: 'blank', value: binding.value }
  const language = binding['xml:lang']
  if (language !== undefined)
    return { type: 'literal', value: binding.value, datatype: RDF.langString, language }
  return { type: 'literal', value: binding.value, datatype: binding.datatype ?? XSD.string, language: '' }
}
