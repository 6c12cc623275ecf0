import { isTemporal } from '../../model/field.ts'
import { XSD } from '../../rdf/vocab.ts'
import type { AlgebraExpression, OrderCondition } from '../../sparql/algebra.ts'
import {
  aggregate,
  apply,
  COUNT_ALL,
  call,
  conditional,
  integer,
  literal,
  select,
  variable,
} from '../../sparql/build.ts'
import type { Facet, FacetSort } from '../facets.ts'
import type { Question } from '../plan.ts'
import type { PatternBuilder } from './pattern-builder.ts'
import { filtered } from './records.ts'
import { compileScalar } from './scalar.ts'
import { type CompileTarget, RECORD, type Statement } from './target.ts'

const VALUE = variable('value')
const COUNT = variable('count')
const DATE_LEVELS = ['year', 'month', 'day'] as const

/**
 * The values of a facet on one level among the records of a question, each with its number of records.
 *
 * @param above the steps of the path whose next steps are requested; none for the first level
 */
export function compileFacet(
  facet: Facet,
  above: readonly string[],
  question: Question,
  target: CompileTarget,
): Statement {
  const body = filtered(question, target)
  const value = body.bind(level(facet, above, body), 'step')
  // A computed value may be unbound; a stored value is always bound.
  if (facet.separator !== null || isTemporal(facet.field.type)) body.test(call('BOUND', value))
  const isRepeated = facet.field.multivalued && facet.separator !== null
  const count = isRepeated ? aggregate('COUNT', RECORD, { distinct: true }) : COUNT_ALL
  const projection = [
    { variable: VALUE, expression: value },
    { variable: COUNT, aggregate: count },
  ]
  const modifiers = { groupBy: [value], orderBy: orderOf(facet.sort), limit: facet.limit }
  return { name: `facet ${facet.name}`, query: select(projection, body.patterns(), modifiers) }
}

/** The value of a record on a level: the field itself, the next step of its path, or a part of its date. */
function level(
  { field, separator }: Facet,
  above: readonly string[],
  body: PatternBuilder,
): AlgebraExpression {
  const own = { type: 'field', field } as const
  if (isTemporal(field.type)) {
    const part = DATE_LEVELS[above.length] ?? 'day'
    return compileScalar({ type: 'datePart', part, operand: own }, body, 'required')
  }
  const value = compileScalar(own, body, 'required')
  if (separator === null) return value
  const start = above.length === 0 ? '' : above.join(separator) + separator
  if (start !== '') body.test(call('STRSTARTS', value, literal(start)))
  const rest = start === '' ? value : call('SUBSTR', value, integer([...start].length + 1))
  const end = literal(separator)
  return conditional(call('CONTAINS', rest, end), call('STRBEFORE', rest, end), rest)
}

/** Values with equal numbers of records are sorted by value. */
function orderOf(sort: FacetSort): readonly OrderCondition[] {
  const descending = sort.startsWith('-')
  const byValue: OrderCondition = { expression: VALUE, descending: false }
  switch (sort) {
    case 'count':
    case '-count':
      return [{ expression: COUNT, descending }, byValue]
    case 'alphanum':
    case '-alphanum':
      return [{ expression: VALUE, descending }]
    case 'num':
    case '-num':
      return [{ expression: apply(XSD.double, VALUE), descending }, byValue]
  }
}
