import { lookup, setMember } from '../../model/lookup.ts'
import { literalType } from '../../rdf/literals.ts'
import { languageDatatype } from '../../rdf/ntriples.ts'
import type { Term } from '../../rdf/term.ts'
import { XSD } from '../../rdf/vocab.ts'
import type { Solution } from '../store.ts'

/** A term as SPARQL 1.1 Query Results JSON writes it (section 3.2.2); `typed-literal` is that of its draft. */
interface JsonTerm {
  readonly type: 'uri' | 'literal' | 'typed-literal' | 'bnode'
  readonly value: string
  readonly datatype?: string
  readonly 'xml:lang'?: string
}

interface JsonResults {
  readonly boolean?: boolean
  readonly results?: { readonly bindings: readonly Readonly<Record<string, JsonTerm>>[] }
}

/**
 * Reads the answer of a SELECT. Literals come in the form in which Lodestone writes them (rdf/literals.ts), for engines
 * spell numbers and moments as they like: `1.0E10` is `10000000000`.
 *
 * @throws SyntaxError for what is no such answer, as one that the engine broke off
 */
export function readJsonSolutions(text: string): readonly Solution[] {
  const { results } = JSON.parse(text) as JsonResults
  if (results === undefined) throw new SyntaxError('an answer without results')
  return results.bindings.map(binding => {
    const solution: Record<string, Term> = {}
    for (const name in binding) {
      const term = lookup(binding, name)
      if (term !== undefined) setMember(solution, name, readJsonTerm(term))
    }
    return solution
  })
}

function readJsonTerm({ type, value, datatype, 'xml:lang': language = '' }: JsonTerm): Term {
  if (type === 'uri') return { type: 'iri', value }
  if (type === 'bnode') return { type: 'blank', value }
  if (language !== '')
    return {
      type: 'literal',
      value,
      datatype: languageDatatype(language),
      language: language.toLowerCase(),
    }
  return canonicalLiteral(value, datatype ?? XSD.string)
}

/** A literal as Lodestone writes it. What is none of its datatype stays as it is. */
export function canonicalLiteral(value: string, datatype: string): Term {
  const type = datatype === XSD.string ? null : literalType(datatype)
  const form = type?.canonical(value) ?? null
  return type === null || form === null
    ? { type: 'literal', value, datatype, language: '' }
    : { type: 'literal', value: form, datatype: type.stored, language: '' }
}
