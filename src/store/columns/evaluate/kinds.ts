import type { AlgebraExpression } from '../../../sparql/algebra.ts'
import type { DictionarySection } from '../dictionary-parts.ts'
import { lowerBound } from '../dictionary-texts.ts'
import type { ColumnDomain } from './domain.ts'
import type { ScalarCompiler } from './scalar.ts'
import type { TermValue } from './value.ts'

/** Functions that say the same of all texts of one language, all resources of one kind and all literals of one datatype. */
const KIND_FUNCTIONS: ReadonlySet<string> = new Set([
  'LANG',
  'DATATYPE',
  'ISIRI',
  'ISURI',
  'ISBLANK',
  'ISLITERAL',
  'ISNUMERIC',
])

/** True where a condition reads nothing of a variable but its kind. */
export function isOfKind(expression: AlgebraExpression): boolean {
  switch (expression.type) {
    case 'iri':
    case 'literal':
      return true
    case 'not':
      return isOfKind(expression.operand)
    case 'binary':
      return isOfKind(expression.left) && isOfKind(expression.right)
    case 'in':
      return isOfKind(expression.operand) && expression.items.every(isOfKind)
    case 'builtin':
      if (KIND_FUNCTIONS.has(expression.name) && expression.arguments[0]?.type === 'variable') return true
      return KINDS_COMPARED.has(expression.name) && expression.arguments.every(isOfKind)
    default:
      return false
  }
}

/** Functions of what {@link KIND_FUNCTIONS} give. */
const KINDS_COMPARED: ReadonlySet<string> = new Set(['LANGMATCHES', 'LCASE', 'UCASE', 'STR', 'SAMETERM'])

/** The kind of no value. */
const UNBOUND = -1

/**
 * What becomes of an expression of {@link isOfKind} for a code, worked out once for all values of its kind.
 *
 * @param use what the result of the expression becomes, for a kind
 */
export function valueByKind<Result>(
  expression: AlgebraExpression,
  domain: ColumnDomain,
  scalars: ScalarCompiler,
  use: (value: TermValue | null) => Result,
): (code: number) => Result {
  const name = scalars.soleVariable(expression) ?? ''
  const work = (code: number) => {
    const ids = Uint32Array.of(code)
    return use(scalars.over(expression, new Map([[name, { type: 'ids', domain, ids }]]), 1)(0))
  }
  const parts = domain.dictionary.parts.map(part => ({
    first: part.first,
    kindAt: kindsOf(part, domain),
    results: new Map<number, Result>(),
  }))
  return code => {
    let number = 0
    while (number + 1 < parts.length && (parts[number + 1]?.first ?? 0) <= code) number += 1
    const part = parts[number]
    if (part === undefined || part.kindAt === null) return work(code)
    const { first, kindAt, results } = part
    const kind = code === 0 ? UNBOUND : kindAt(code - first)
    let result = results.get(kind)
    if (result === undefined) {
      result = work(code)
      results.set(kind, result)
    }
    return result
  }
}

/** The kind of each value of a part, as a number; null where values of one datatype are of several. */
function kindsOf(part: DictionarySection, domain: ColumnDomain): ((place: number) => number) | null {
  switch (part.kind) {
    case 'text': {
      const { tags } = part
      return tags === null ? () => 0 : place => tags[place] as number
    }
    case 'resource': {
      const blanks = lowerBound(part.ids, domain.graph.resources.blanks + 1)
      return place => (place < blanks ? 0 : 1)
    }
    case 'number':
    case 'moment': {
      const { types } = part
      return types === null ? () => 0 : place => types[place] as number
    }
    case 'boolean':
    case 'point':
      return () => 0
    case 'other':
      return null
    default:
      return part satisfies never
  }
}
