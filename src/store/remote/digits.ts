import { lookup, setMember } from '../../model/lookup.ts'
import type { Term } from '../../rdf/term.ts'
import { XSD } from '../../rdf/vocab.ts'
import type { Expression, Projection, SelectQuery } from '../../sparql/algebra.ts'
import { apply, binary, call, conditional, integer, iri, literal, variable } from '../../sparql/build.ts'
import type { Solution } from '../store.ts'
import { canonicalLiteral } from './results.ts'

/** Beside which variable the digits of its value stand. */
const SUFFIX = '_digits'

/**
 * Asks for all digits of doubles as well. Virtuoso keeps them exactly and writes six: a function of its own gives the
 * seventeen that tell every double from all others.
 *
 * @param isDouble whether the values of a variable of the answer may be doubles
 */
export function withDigits(query: SelectQuery, isDouble: (projection: Projection) => boolean): SelectQuery {
  const more = query.projection.flatMap((item): Projection[] => {
    if (!isDouble(item)) return []
    const value: Expression = item.expression ?? item.variable
    const isOne = binary('=', call('DATATYPE', value), iri(XSD.double))
    const digits = apply('bif:sprintf', literal('%.17g'), value)
    return [
      { variable: variable(item.variable.name + SUFFIX), expression: conditional(isOne, digits, integer(0)) },
    ]
  })
  return more.length === 0 ? query : { ...query, projection: [...query.projection, ...more] }
}

/** The rows of an answer with all digits of their doubles. */
export function mergeDigits(rows: readonly Solution[]): readonly Solution[] {
  return rows.map(row => {
    const merged: Record<string, Term> = {}
    for (const name in row) {
      const term = lookup(row, name)
      if (term === undefined || name.endsWith(SUFFIX)) continue
      const digits = lookup(row, name + SUFFIX)
      setMember(
        merged,
        name,
        digits?.type === 'literal' && term.type === 'literal' && term.datatype === XSD.double
          ? canonicalLiteral(spelled(digits.value), XSD.double)
          : term,
      )
    }
    return merged
  })
}

/** `inf` and `nan` as XML Schema spells them. */
function spelled(digits: string): string {
  if (/nan/i.test(digits)) return 'NaN'
  return digits.replace(/inf(inity)?/i, 'INF')
}
