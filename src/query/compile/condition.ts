import type { Extent } from '../../model/dataset.ts'
import type { Field } from '../../model/field.ts'
import { movedEast, positionsOf } from '../../model/geometry.ts'
import { circle } from '../../model/great-circle.ts'
import { lookup } from '../../model/lookup.ts'
import type { Geometry } from '../../model/value.ts'
import { GEOF, LODESTONE, XSD } from '../../rdf/vocab.ts'
import type { AlgebraExpression } from '../../sparql/algebra.ts'
import { among, apply, binary, call, exists, foldTerm, iri, literal, not, oneOf } from '../../sparql/build.ts'
import { technicalName } from '../find-field.ts'
import {
  type Bound,
  type Condition,
  type Constant,
  fieldsOf,
  type SpatialRelation,
  type Word,
} from '../plan.ts'
import { type Need, PatternBuilder, type Preflight } from './pattern-builder.ts'
import { compileScalar } from './scalar.ts'
import {
  doubleTerm,
  geometryTerm,
  pointTerm,
  predicateOf,
  RECORD,
  recordOf,
  targetConstant,
} from './target.ts'

const TRUE = literal('true', XSD.boolean)
const FALSE = literal('false', XSD.boolean)

/**
 * Adds a condition that every matching record must satisfy, as a triple pattern if it is about a single field, otherwise as a
 * filter.
 */
export function addCondition(condition: Condition, body: PatternBuilder): void {
  switch (condition.type) {
    case 'and':
      for (const operand of condition.operands) addCondition(operand, body)
      return
    case 'compare':
    case 'oneOf':
      if (technicalName(condition.field) === 'recordid') {
        const values = condition.type === 'oneOf' ? condition.values : [condition.value]
        if (condition.type === 'oneOf' || condition.operator === '=') {
          addIdentities(values, body)
          return
        }
      } else if (!condition.field.multivalued && technicalName(condition.field) === undefined) {
        if (condition.type === 'compare' && condition.operator === '=') {
          body.fact(condition.field, targetConstant(condition.field.type, condition.value))
          return
        }
        body.value(condition.field, 'required')
      }
      break
    case 'between':
    case 'present':
    case 'like':
    case 'startsWith':
    case 'withinDistance':
    case 'spatial':
      if (condition.field.multivalued || technicalName(condition.field) !== undefined) break
      body.value(condition.field, 'required')
      if (condition.type === 'present') return
      break
    default:
  }
  body.test(conditionTest(condition, body, 'open'))
}

/** Records by their ids; an invalid id matches no record. */
function addIdentities(ids: readonly Constant[], body: PatternBuilder): void {
  const { target } = body.context
  const terms = [...new Set(ids.map(String))].flatMap(id => recordOf(id, target) ?? [])
  body.find(oneOf(RECORD, terms))
}

/** A condition as an expression about ?record: true where it holds; elsewhere false or, where that makes no difference, an error. */
export function conditionTest(
  condition: Condition,
  body: PatternBuilder,
  preflight: Preflight,
): AlgebraExpression {
  switch (condition.type) {
    case 'and':
      return all(condition.operands.map(operand => conditionTest(operand, body, preflight)))
    case 'or': {
      const tests = condition.operands.map(operand => conditionTest(operand, body, preflight))
      return foldTerm('||', tests) ?? FALSE
    }
    case 'not':
      return not(conditionTest(condition.operand, body, 'guarded'))
    case 'always':
      return condition.value ? TRUE : FALSE
    case 'words':
      return all(condition.words.map(word => searched(word, body)))
    case 'some':
      return within(body, inner => {
        inner.context.bindElement(condition.number, inner.value(condition.field, 'required'))
        inner.test(conditionTest(condition.condition, inner, 'open'))
      })
    case 'relation':
      return relationTest(condition, body, preflight)
    default:
      if (!condition.field.multivalued)
        return condition.type === 'present' && technicalName(condition.field) === undefined
          ? call('BOUND', body.value(condition.field, 'optional'))
          : withPreflight(valueTest(condition, body.value(condition.field, 'optional'), body), preflight)
      return within(body, inner => {
        if (condition.type === 'compare' && condition.operator === '=')
          inner.fact(condition.field, targetConstant(condition.field.type, condition.value))
        else {
          const test = valueTest(condition, inner.value(condition.field, 'required'), inner)
          if (test !== TRUE) inner.test(test)
        }
      })
  }
}

function all(tests: readonly AlgebraExpression[]): AlgebraExpression {
  return foldTerm('&&', tests) ?? TRUE
}

/** The relations of a value that is computed once: of lists, from the same elements. */
function relationTest(
  condition: Extract<Condition, { readonly type: 'relation' }>,
  body: PatternBuilder,
  preflight: Preflight,
): AlgebraExpression {
  const { left, also } = condition
  const relation = (inner: PatternBuilder, need: Need) => {
    const value = compileScalar(left, inner, need)
    const each = [condition, ...(also === undefined ? [] : [also])]
    return all(each.map(({ operator, right }) => binary(operator, value, compileScalar(right, inner, need))))
  }
  const many = fieldsOf(condition).some(({ multivalued }) => multivalued)
  return many
    ? within(body, inner => inner.test(relation(inner, 'required')))
    : withPreflight(relation(body, 'optional'), preflight)
}

/** EXISTS: one matching value of a multivalued field is enough. */
function within(body: PatternBuilder, add: (inner: PatternBuilder) => void): AlgebraExpression {
  const inner = new PatternBuilder(body.context, body)
  add(inner)
  return exists(inner.group())
}

function withPreflight(test: AlgebraExpression, preflight: Preflight): AlgebraExpression {
  return preflight === 'open' || test === TRUE ? test : call('COALESCE', test, FALSE)
}

type FieldCondition = Exclude<
  Condition,
  { readonly type: 'and' | 'or' | 'not' | 'always' | 'relation' | 'words' | 'some' }
>

/** The test of one value of a field. */
function valueTest(
  condition: FieldCondition,
  value: AlgebraExpression,
  body: PatternBuilder,
): AlgebraExpression {
  const { field } = condition
  switch (condition.type) {
    case 'compare':
      return binary(condition.operator, value, targetConstant(field.type, condition.value))
    case 'oneOf':
      return among(
        value,
        condition.values.map(item => targetConstant(field.type, item)),
      )
    case 'between':
      return all([
        ...(condition.lower === null ? [] : [boundTest(field, '>', condition.lower, value)]),
        ...(condition.upper === null ? [] : [boundTest(field, '<', condition.upper, value)]),
      ])
    case 'present':
      return TRUE
    case 'like':
      return all(
        condition.words.map(({ text, mode }) =>
          apply(LODESTONE.matches, value, literal(text), literal(mode)),
        ),
      )
    case 'startsWith':
      return call('STRSTARTS', value, literal(condition.text))
    case 'withinDistance':
      // The nearest position of a shape is found with a polygon instead of the circle.
      return field.type === 'geo_shape'
        ? spatialTest(field, 'intersects', circle(condition.point, condition.metres), value, body)
        : apply(LODESTONE.near, value, pointTerm(condition.point), doubleTerm(condition.metres))
    case 'spatial':
      return spatialTest(field, condition.relation, condition.shape, value, body)
  }
}

const RELATIONS: Readonly<Record<SpatialRelation, string>> = {
  intersects: GEOF.sfIntersects,
  disjoint: GEOF.sfDisjoint,
  within: GEOF.sfWithin,
}

/** A relation to a shape, or to one of its copies on the sides of the map to which the values of a field reach. */
function spatialTest(
  field: Field,
  relation: SpatialRelation,
  shape: Geometry,
  value: AlgebraExpression,
  body: PatternBuilder,
): AlgebraExpression {
  const extent = lookup(body.context.target.statistics.fields, field.name)?.extent
  const tests = copiesWithin(shape, extent).map(copy => apply(RELATIONS[relation], value, geometryTerm(copy)))
  return foldTerm(relation === 'disjoint' ? '&&' : '||', tests) ?? TRUE
}

/** A shape moved by whole turns to where it meets the longitudes of an extent; the shape itself where none does. */
function copiesWithin(
  shape: Geometry,
  extent: Pick<Extent, 'west' | 'east'> | undefined,
): readonly Geometry[] {
  const longitudes = positionsOf(shape).map(([longitude]) => longitude)
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)]
  if (extent === undefined || east - west >= 360) return [shape]
  const turns = [0, -360, 360].filter(turn => west + turn <= extent.east && east + turn >= extent.west)
  return turns.length === 0 ? [shape] : turns.map(turn => (turn === 0 ? shape : movedEast(shape, turn)))
}

function boundTest(field: Field, side: '<' | '>', bound: Bound, value: AlgebraExpression): AlgebraExpression {
  return binary(bound.inclusive ? `${side}=` : side, value, targetConstant(field.type, bound.value))
}

/** A word in any value of the record, or only in the searched fields where these are not all fields. */
function searched({ text, mode }: Word, { context: { target } }: PatternBuilder): AlgebraExpression {
  const predicates = (target.searched ?? []).map(field => iri(predicateOf(field, target).value))
  return apply(LODESTONE.search, RECORD, literal(text), literal(mode), ...predicates)
}
