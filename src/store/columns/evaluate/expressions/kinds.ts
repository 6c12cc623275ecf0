import type { AlgebraExpression } from '../../../../sparql/algebra.ts'
import type { DictionarySection } from '../../dictionary-parts.ts'
import { lowerBound } from '../../dictionary-texts.ts'
import type { ColumnDomain } from '../vectors/domain.ts'
import type { TermValue } from '../vectors/value.ts'
import type { ScalarCompiler } from './scalar.ts'

/** Functions with the same value for all texts of one language, all resources of one kind and all literals of one datatype. */
const KIND_FUNCTIONS: ReadonlySet<string> = new Set([
  'LANG',
  'DATATYPE',
  'ISIRI',
  'ISURI',
  'ISBLANK',
  'ISLITERAL',
  'ISNUMERIC',
])

/** True where a condition only depends on the kind of a variable. */
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

/** Functions of the results of {@link KIND_FUNCTIONS}. */
const KINDS_COMPARED: ReadonlySet<string> = new Set(['LANGMATCHES', 'LCASE', 'UCASE', 'STR', 'SAMETERM'])

/** The kind of unbound values. */
const UNBOUND = -1

/** The results of an expression for the values of a column. */
export interface ByKind<Result> {
  /** The result for a code; 0 is no value. */
  readonly at: (code: number) => Result
  /** The result for every value, where it is the same for all; else null. */
  readonly ofAll: Result | null
}

/**
 * The results of an expression of {@link isOfKind}, computed once for all values of a kind.
 *
 * @param use converts the value of the expression to the result
 */
export function valueByKind<Result>(
  expression: AlgebraExpression,
  domain: ColumnDomain,
  scalars: ScalarCompiler,
  use: (value: TermValue | null) => Result,
): ByKind<Result> {
  const name = scalars.soleVariable(expression) ?? ''
  const work = (code: number) => {
    const ids = Uint32Array.of(code)
    return use(scalars.over(expression, new Map([[name, { type: 'ids', domain, ids }]]), 1)(0))
  }
  const parts = domain.dictionary.parts.map(part => ({
    first: part.first,
    kinds: kindsOf(part, domain),
    results: new Map<number, Result>(),
  }))
  const at = (code: number): Result => {
    let number = 0
    while (number + 1 < parts.length && (parts[number + 1]?.first ?? 0) <= code) number += 1
    const part = parts[number]
    if (part === undefined || part.kinds === null) return work(code)
    const { first, kinds, results } = part
    const kind = code === 0 ? UNBOUND : kinds.at(code - first)
    let result = results.get(kind)
    if (result === undefined) {
      result = work(code)
      results.set(kind, result)
    }
    return result
  }
  const isOfOne = parts.length > 0 && parts.every(({ kinds }) => kinds?.areOne === true)
  const [result, ...others] = isOfOne ? parts.map(({ first }) => at(first)) : []
  return { at, ofAll: result !== undefined && others.every(other => other === result) ? result : null }
}

/** The kinds of the values of a part. */
interface Kinds {
  readonly at: (place: number) => number
  readonly areOne: boolean
}

const ONE_KIND: Kinds = { at: () => 0, areOne: true }

/** The kind of each value of a part, as a number; null where values of one datatype may be of several kinds. */
function kindsOf(part: DictionarySection, domain: ColumnDomain): Kinds | null {
  switch (part.kind) {
    case 'text': {
      const { tags } = part
      return tags === null ? ONE_KIND : { at: place => tags[place] as number, areOne: areEqual(tags) }
    }
    case 'resource': {
      const blanks = lowerBound(part.ids, domain.graph.resources.blanks + 1)
      return { at: place => (place < blanks ? 0 : 1), areOne: blanks === 0 || blanks === part.count }
    }
    case 'number':
    case 'moment': {
      const { types } = part
      return types === null ? ONE_KIND : { at: place => types[place] as number, areOne: areEqual(types) }
    }
    case 'boolean':
    case 'point':
      return ONE_KIND
    case 'other':
      return null
  }
}

function areEqual(kinds: ArrayLike<number>): boolean {
  for (let at = 1; at < kinds.length; at++) if (kinds[at] !== kinds[0]) return false
  return true
}
