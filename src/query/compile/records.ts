import { type Field, isTemporal } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { LODESTONE, XSD } from '../../rdf/vocab.ts'
import type { AlgebraExpression, OrderCondition, SelectOperation } from '../../sparql/algebra.ts'
import {
  aggregate,
  apply,
  COUNT_ALL,
  call,
  conditional,
  filter,
  inGraph,
  integer,
  iri,
  literal,
  not,
  oneOf,
  type Projection,
  select,
  triple,
  variable,
} from '../../sparql/build.ts'
import type { Facet, FacetSort } from '../facets.ts'
import { technicalName } from '../find-field.ts'
import {
  fieldsOf,
  type Ordering,
  type Question,
  type RecordQuery,
  type Scalar,
  type SelectedColumn,
} from '../plan.ts'
import { addCondition, conditionTest } from './condition.ts'
import { CompileContext, PatternBuilder } from './pattern-builder.ts'
import { compileScalar } from './scalar.ts'
import { type CompileTarget, POSITION, predicateOf, RECORD, type Statement } from './target.ts'

/** The name of the variable of a computed column. */
export function columnVariable(index: number): string {
  return `column${index}`
}

/** True for a value that is stored in the record, so that it is not computed. */
export function isStored(scalar: Scalar): boolean {
  return scalar.type === 'field' && technicalName(scalar.field) === undefined
}

/** The records of a query in their order, with their computed values; stored values are read afterwards. */
export function compileRecords(plan: RecordQuery, target: CompileTarget): Statement {
  const body = filtered(plan, target)
  const keys = plan.orderBy.flatMap(ordering => orderKeys(ordering, body))
  const projection = projectionOf(plan.select, body)
  const orderBy =
    keys.length > 0 || !body.keepsOrder ? [...keys, { expression: POSITION, descending: false }] : []
  const { limit, offset } = plan
  return { name: 'page', query: select(projection, body.patterns(), { orderBy, limit, offset }) }
}

/** The record and its computed values. */
function projectionOf(columns: readonly SelectedColumn[], body: PatternBuilder): readonly Projection[] {
  const computed = columns.flatMap(({ value }, index) => {
    if (isStored(value)) return []
    const compiled = compileScalar(value, body, 'optional')
    // EXISTS about the values of a list reads the graph of the facts, so it stands within that graph.
    const isOfLists = fieldsOf(value).some(({ multivalued }) => multivalued)
    const expression = isOfLists ? body.bind(compiled, 'column') : compiled
    return [{ variable: variable(columnVariable(index)), expression }]
  })
  return [RECORD, ...computed]
}

/** The number of records that match a filter. */
export function compileCount(question: Question, target: CompileTarget): Statement {
  const projection = [{ variable: variable('count'), aggregate: COUNT_ALL }]
  return { name: 'count', query: select(projection, filtered(question, target).patterns()) }
}

/** The computed values of the named records, in any order. */
export function compileNamed(
  records: readonly string[],
  columns: readonly SelectedColumn[],
  question: Pick<Question, 'timezone'>,
  target: CompileTarget,
): Statement {
  const body = new PatternBuilder(new CompileContext(target, question.timezone, conditionTest))
  body.find(oneOf(RECORD, records.map(iri)))
  const projection = projectionOf(columns, body)
  return { name: 'records', query: select(projection, body.patterns()) }
}

/** One record with a text of a field in which a regular expression matches. */
export function compileTextWith(pattern: string, field: Field, target: CompileTarget): SelectOperation {
  const value = variable('value')
  const fact = triple(RECORD, predicateOf(field, target), value)
  const where = inGraph(target.graphs.facts, filter(fact, call('REGEX', value, literal(pattern))))
  return select([RECORD], where, { limit: 1 })
}

/** A builder in which ?record is each record that matches a filter. */
export function filtered({ filter, timezone }: Question, target: CompileTarget): PatternBuilder {
  const body = new PatternBuilder(new CompileContext(target, timezone, conditionTest))
  if (filter !== null) addCondition(filter, body)
  return body
}

/** Where absent values sort last in both directions, a key that is true for them precedes the value itself. */
function orderKeys({ value, descending, absent }: Ordering, body: PatternBuilder): readonly OrderCondition[] {
  if (value.type === 'random') {
    const chance = apply(LODESTONE.random, POSITION, literal(String(value.seed), XSD.integer))
    return [{ expression: chance, descending: false }]
  }
  const key = sortValue(value, descending, body)
  if (absent === 'lowest' || isAlwaysThere(value, body)) return [{ expression: key, descending }]
  const isAbsent: OrderCondition = { expression: not(call('BOUND', key)), descending: false }
  return [isAbsent, { expression: key, descending }]
}

function isAlwaysThere(value: Scalar, { context: { target } }: PatternBuilder): boolean {
  if (value.type !== 'field' || value.field.multivalued) return false
  if (technicalName(value.field) !== undefined) return true
  const { fields } = target.statistics
  return lookup(fields, value.field.name)?.nulls === 0
}

/** The value to sort by: of a multivalued field the smallest, or the largest in a descending order. */
function sortValue(value: Scalar, descending: boolean, body: PatternBuilder): AlgebraExpression {
  if (value.type !== 'field' || !value.field.multivalued) {
    const compiled = compileScalar(value, body, 'optional')
    return compiled.type === 'variable' ? compiled : body.bind(compiled, 'key')
  }
  const extreme = descending ? LODESTONE.greatest : LODESTONE.least
  return body.bind(apply(extreme, RECORD, predicateOf(value.field, body.context.target)), 'key')
}

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
  if (sort.endsWith('alphanum')) return [{ expression: VALUE, descending }]
  return [{ expression: sort.endsWith('count') ? COUNT : apply(XSD.double, VALUE), descending }, byValue]
}
