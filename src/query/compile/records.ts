import type { Field } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { LODESTONE, XSD } from '../../rdf/vocab.ts'
import type { AstExpression, OrderKey, Projection, SelectQuery } from '../../sparql/ast.ts'
import { apply, call, inGraph, iri, literal, not, triple, variable } from '../../sparql/build.ts'
import { technicalName } from '../field-names.ts'
import type { Ordering, Question, RecordQuery, Scalar, SelectedColumn } from '../plan.ts'
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
export function compileRecords(plan: RecordQuery, target: CompileTarget): Statement<SelectQuery> {
  const body = filtered(plan, target)
  const keys = plan.orderBy.flatMap(ordering => orderKeys(ordering, body))
  const projection: Projection[] = [{ variable: RECORD }]
  plan.select.forEach(({ value }, index) => {
    if (!isStored(value))
      projection.push({
        variable: variable(columnVariable(index)),
        expression: compileScalar(value, body, 'optional'),
      })
  })
  const { limit, offset } = plan
  return {
    name: 'page',
    query: {
      type: 'select',
      projection,
      where: body.patterns(),
      ...(keys.length > 0 || !body.keepsOrder
        ? { orderBy: [...keys, { expression: POSITION, descending: false }] }
        : {}),
      ...(limit === null ? {} : { limit }),
      offset,
    },
  }
}

/** The number of records that match a filter. */
export function compileCount(question: Question, target: CompileTarget): Statement<SelectQuery> {
  const expression: AstExpression = { type: 'aggregate', name: 'COUNT', distinct: false, operand: null }
  const where = filtered(question, target).patterns()
  return {
    name: 'count',
    query: { type: 'select', projection: [{ variable: variable('count'), expression }], where },
  }
}

/** The computed values of the named records, in any order. */
export function compileNamed(
  records: readonly string[],
  select: readonly SelectedColumn[],
  question: Pick<Question, 'timezone'>,
  target: CompileTarget,
): Statement<SelectQuery> {
  const body = new PatternBuilder(new CompileContext(target, question.timezone, conditionTest))
  body.find({ type: 'values', variable: RECORD, terms: records.map(iri) })
  const projection: Projection[] = [{ variable: RECORD }]
  select.forEach(({ value }, index) => {
    if (!isStored(value))
      projection.push({
        variable: variable(columnVariable(index)),
        expression: compileScalar(value, body, 'optional'),
      })
  })
  return { name: 'records', query: { type: 'select', projection, where: body.patterns() } }
}

/** One record with a text of a field in which a regular expression matches. */
export function compileTextWith(pattern: string, field: Field, target: CompileTarget): SelectQuery {
  const value = variable('value')
  return {
    type: 'select',
    projection: [{ variable: RECORD }],
    where: [
      inGraph(target.graphs.facts, triple(RECORD, predicateOf(field, target), value), {
        type: 'filter',
        expression: call('REGEX', value, literal(pattern)),
      }),
    ],
    limit: 1,
  }
}

/** A builder in which ?record is each record that matches a filter. */
export function filtered({ filter, timezone }: Question, target: CompileTarget): PatternBuilder {
  const body = new PatternBuilder(new CompileContext(target, timezone, conditionTest))
  if (filter !== null) addCondition(filter, body)
  return body
}

/** Where absent values sort last in both directions, a key that is true for them precedes the value itself. */
function orderKeys({ value, descending, absent }: Ordering, body: PatternBuilder): readonly OrderKey[] {
  if (value.type === 'random') {
    const chance = apply(LODESTONE.random, POSITION, literal(String(value.seed), XSD.integer))
    return [{ expression: chance, descending: false }]
  }
  const key = sortValue(value, descending, body)
  if (absent === 'lowest' || isAlwaysThere(value, body)) return [{ expression: key, descending }]
  const isAbsent: OrderKey = { expression: not(call('BOUND', key)), descending: false }
  return [isAbsent, { expression: key, descending }]
}

function isAlwaysThere(value: Scalar, { context: { target } }: PatternBuilder): boolean {
  if (value.type !== 'field' || value.field.multivalued) return false
  if (technicalName(value.field) !== undefined) return true
  const { fields } = target.statistics
  return lookup(fields, value.field.name)?.nulls === 0
}

/** The value to sort by: of a multivalued field the smallest, or the largest in a descending order. */
function sortValue(value: Scalar, descending: boolean, body: PatternBuilder): AstExpression {
  if (value.type !== 'field' || !value.field.multivalued) {
    const compiled = compileScalar(value, body, 'optional')
    return compiled.type === 'variable' ? compiled : body.bind(compiled, 'key')
  }
  const extreme = descending ? LODESTONE.greatest : LODESTONE.least
  return body.bind(apply(extreme, RECORD, predicateOf(value.field, body.context.target)), 'key')
}
