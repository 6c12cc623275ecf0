import type { Field } from '../../model/field.ts'
import { INDEX, XSD } from '../../rdf/vocab.ts'
import type { Expression, Pattern, Variable } from '../../sparql/algebra.ts'
import {
  binary,
  call,
  exists,
  filter,
  fold,
  inGraph,
  iri,
  literal,
  not,
  subquery,
  triple,
} from '../../sparql/build.ts'
import type { Bound, Condition, Word } from '../plan.ts'
import { constantTerm, RECORD, type Scope } from './scope.ts'

const TRUE = literal('true', XSD.boolean)
const FALSE = literal('false', XSD.boolean)

/**
 * What a filter becomes: patterns that bind ?record to each record that satisfies it, once each. `drives` says
 * whether the patterns find records by themselves; where they do not they only test, and something else must bind
 * ?record first.
 */
export interface CompiledCondition {
  readonly patterns: readonly Pattern[]
  readonly drives: boolean
}

/**
 * The variables that hold the values of single-valued fields in one group of patterns: a second test of the same field,
 * or an order by it, needs no second pattern.
 */
export type BoundFields = Map<string, Variable>

/**
 * Compiles a condition that every answer must satisfy. A test of a single-valued field is a triple pattern with a
 * filter: the store scans one predicate. Equality is a triple pattern with the literal in it: the store looks up.
 * An `or` whose every branch finds records by itself is their union. Everything else is an expression over EXISTS,
 * which is false for an absent value, so that NOT is two-valued.
 */
export function compileCondition(
  condition: Condition | null,
  scope: Scope,
  group: BoundFields = new Map(),
): CompiledCondition {
  if (condition === null) return { patterns: [], drives: false }
  switch (condition.type) {
    case 'and': {
      const parts = condition.operands.map(operand => compileCondition(operand, scope, group))
      const ordered = [...parts.filter(part => part.drives), ...parts.filter(part => !part.drives)]
      return { patterns: ordered.flatMap(part => part.patterns), drives: parts.some(part => part.drives) }
    }
    case 'or': {
      const branches = condition.operands.map(operand => compileCondition(operand, scope))
      if (!branches.every(branch => branch.drives)) return tested(condition, scope)
      const union: Pattern = { type: 'union', branches: branches.map(branch => branch.patterns) }
      return { patterns: [distinctRecords([union])], drives: true }
    }
    case 'compare':
    case 'between':
    case 'present':
    case 'oneOf':
      if (!isMany(condition)) return { patterns: fieldPatterns(condition, scope, group), drives: true }
      return { patterns: [distinctRecords(fieldPatterns(condition, scope))], drives: true }
    case 'compareFields':
      if (condition.left.multivalued || condition.right.multivalued) return tested(condition, scope)
      return { patterns: pairPatterns(condition, scope), drives: true }
    case 'words':
      return { patterns: wordPatterns(condition.words, scope), drives: true }
    case 'not':
    case 'always':
      return tested(condition, scope)
    default:
      return condition satisfies never
  }
}

/** Each record once, however often patterns find it. */
function distinctRecords(where: readonly Pattern[]): Pattern {
  return subquery({ type: 'select', distinct: true, projection: [{ variable: RECORD }], where })
}

function tested(condition: Condition, scope: Scope): CompiledCondition {
  return { patterns: [filter(expression(condition, scope))], drives: false }
}

/** A condition as a boolean expression about ?record, never an error and never unbound. */
function expression(condition: Condition, scope: Scope): Expression {
  switch (condition.type) {
    case 'and':
      return (
        fold(
          '&&',
          condition.operands.map(operand => expression(operand, scope)),
        ) ?? TRUE
      )
    case 'or':
      return (
        fold(
          '||',
          condition.operands.map(operand => expression(operand, scope)),
        ) ?? FALSE
      )
    case 'not':
      return not(expression(condition.operand, scope))
    case 'compare':
    case 'between':
    case 'present':
    case 'oneOf':
      return exists(...fieldPatterns(condition, scope))
    case 'compareFields':
      return exists(...pairPatterns(condition, scope))
    case 'words':
      return exists(...wordPatterns(condition.words, scope))
    case 'always':
      return condition.value ? TRUE : FALSE
    default:
      return condition satisfies never
  }
}

type FieldCondition = Extract<Condition, { readonly type: 'compare' | 'between' | 'present' | 'oneOf' }>

/** True where a record could satisfy the patterns of a condition more than once. */
function isMany(condition: FieldCondition): boolean {
  return condition.field.multivalued && !(condition.type === 'compare' && condition.operator === '=')
}

function fieldPatterns(
  condition: FieldCondition,
  scope: Scope,
  group: BoundFields = new Map(),
): readonly Pattern[] {
  const { field } = condition
  const predicate = scope.predicate(field)
  const facts = scope.target.graphs.facts
  if (condition.type === 'compare' && condition.operator === '=')
    return [inGraph(facts, triple(RECORD, predicate, constantTerm(field, condition.value)))]
  const bound = field.multivalued ? undefined : group.get(field.name)
  if (bound !== undefined && condition.type !== 'oneOf') return valueTests(condition, bound).map(filter)
  const value = scope.fresh('value')
  if (!field.multivalued) group.set(field.name, value)
  const pattern = inGraph(facts, triple(RECORD, predicate, value))
  if (condition.type === 'oneOf')
    return [
      { type: 'values', variable: value, terms: condition.values.map(item => constantTerm(field, item)) },
      pattern,
    ]
  return [pattern, ...valueTests(condition, value).map(filter)]
}

function valueTests(
  condition: Exclude<FieldCondition, { readonly type: 'oneOf' }>,
  value: Expression,
): readonly Expression[] {
  switch (condition.type) {
    case 'compare':
      return [binary(condition.operator, value, constantTerm(condition.field, condition.value))]
    case 'between':
      return [
        ...boundTest(condition.field, '>', condition.lower, value),
        ...boundTest(condition.field, '<', condition.upper, value),
      ]
    case 'present':
      return []
    default:
      return condition satisfies never
  }
}

function boundTest(
  field: Field,
  side: '<' | '>',
  bound: Bound | null,
  value: Expression,
): readonly Expression[] {
  if (bound === null) return []
  return [binary(bound.inclusive ? `${side}=` : side, value, constantTerm(field, bound.value))]
}

function pairPatterns(
  condition: Extract<Condition, { type: 'compareFields' }>,
  scope: Scope,
): readonly Pattern[] {
  const [left, right] = [scope.fresh('value'), scope.fresh('value')]
  return [
    inGraph(
      scope.target.graphs.facts,
      triple(RECORD, scope.predicate(condition.left), left),
      triple(RECORD, scope.predicate(condition.right), right),
    ),
    filter(binary(condition.operator, left, right)),
  ]
}

/** Every word is looked for in the record's folded text, where each stands between two blanks. */
function wordPatterns(words: readonly Word[], scope: Scope): readonly Pattern[] {
  const text = scope.fresh('text')
  const tests = words.map(word =>
    call('CONTAINS', text, literal(word.prefix ? ` ${word.text}` : ` ${word.text} `)),
  )
  return [inGraph(scope.target.graphs.index, triple(RECORD, iri(INDEX.text), text)), ...tests.map(filter)]
}
