import { isGeo } from '../../model/field.ts'
import { GEOF, INDEX, XSD } from '../../rdf/vocab.ts'
import type { Expression, Pattern } from '../../sparql/algebra.ts'
import {
  apply,
  binary,
  call,
  exists,
  filter,
  fold,
  inGraph,
  integer,
  iri,
  literal,
  minus,
  not,
  subquery,
  triple,
} from '../../sparql/build.ts'
import { type Bound, type Condition, fieldsOf, type Word } from '../plan.ts'
import { technicalName } from '../technical.ts'
import { Body } from './body.ts'
import { byCarrier, carrierOf, firstLeaf, isFuzzy, isPhrase, joinNegations, patternOf } from './carriers.ts'
import { circle } from './circle.ts'
import { drives, isIdentity, scans } from './drives.ts'
import { estimate } from './estimate.ts'
import { compileScalar } from './scalar.ts'
import { type CompileTarget, constantTerm, geometryTerm, RECORD, Scope } from './scope.ts'
import { spatialTest } from './spatial.ts'
import { foldingSteps, slippedPattern, wordPattern } from './text.ts'

const TRUE = literal('true', XSD.boolean)
const FALSE = literal('false', XSD.boolean)

/**
 * How a condition meets its records: it has to find them among all, or the records are few and given, and it only
 * tests each.
 */
export type Purpose = 'search' | 'test'

type FieldCondition = Exclude<
  Condition,
  { readonly type: 'and' | 'or' | 'not' | 'always' | 'relation' | 'words' }
>

/**
 * Adds a condition that every answer must satisfy to the patterns of a body, and says whether it finds records by
 * itself: where it does not, something else must bind ?record.
 *
 * A test of a field is a triple pattern with a filter: the store scans one predicate. Equality is a triple pattern with
 * the literal in it: the store looks up. An `or` whose every branch finds records by itself is their union; `not` takes
 * out what its operand finds. Everything else is an expression over EXISTS, which is false for an absent value, so that
 * NOT is two-valued. Each record is found once, however many values of it satisfy the condition.
 */
export function compileCondition(condition: Condition, body: Body, purpose: Purpose): boolean {
  switch (condition.type) {
    case 'and': {
      const joined = joinNegations(condition.operands)
      const operands = [
        ...fewestFirst(joined.filter(drives), body.scope),
        ...joined.filter(operand => !drives(operand)),
      ]
      const others = operands.filter(operand => drives(operand)).map(operand => estimate(operand, body.scope))
      const few = Math.min(body.scope.target.statistics.records, ...others)
      for (const operand of operands)
        if (operand.type === 'not' && purpose === 'search') remove(operand.operand, body, few)
        else compileCondition(operand, body, purpose)
      return operands.some(operand => drives(operand))
    }
    case 'or': {
      if (!drives(condition) || purpose === 'test') return test(condition, body)
      const groups = byCarrier(condition.operands)
      const [only, ...others] = groups
      if (only !== undefined && others.length === 0 && carrierOf(condition) !== null) {
        alternatives(only, body)
        return true
      }
      const branches = groups.map(operands => {
        const branch = new Body(body.scope)
        const [first] = operands
        if (operands.length === 1 && first !== undefined) compileCondition(first, branch, 'search')
        else alternatives(operands, branch)
        return branch.patterns()
      })
      body.find(distinctRecords([{ type: 'union', branches }]))
      return true
    }
    case 'not':
      if (purpose === 'test') return test(condition, body)
      remove(condition.operand, body, body.scope.target.statistics.records)
      return false
    case 'relation': {
      if (!drives(condition)) return test(condition, body)
      const many = [...fieldsOf(condition.left), ...fieldsOf(condition.right)].some(
        field => field.multivalued,
      )
      if (many) return once(condition, body, purpose)
      addPatterns(condition, body)
      return true
    }
    case 'words':
      addPatterns(condition, body)
      return true
    case 'always':
      return test(condition, body)
    default:
      if (isMany(condition)) return once(condition, body, purpose)
      addPatterns(condition, body)
      return drives(condition)
  }
}

/** Look-ups begin with that of the fewest records: not every engine knows which is. */
function fewestFirst(operands: readonly Condition[], scope: Scope): readonly Condition[] {
  if (operands.length < 2) return operands
  const costs = new Map(
    operands.map(each => [each, scans(each) ? Number.POSITIVE_INFINITY : estimate(each, scope)]),
  )
  const cost = (operand: Condition) => costs.get(operand) ?? 0
  return [...operands].sort((a, b) => (cost(a) === cost(b) ? 0 : cost(a) - cost(b)))
}

function relationTest(
  { left, operator, right }: Extract<Condition, { readonly type: 'relation' }>,
  body: Body,
): Expression {
  return binary(operator, compileScalar(left, body, 'required'), compileScalar(right, body, 'required'))
}

/** Joins what conditions of one carrier read once, and tests that any of them holds. */
function alternatives(operands: readonly Condition[], body: Body): void {
  const [first] = operands
  if (first === undefined) return
  carry(first, body)
  body.test(
    anyOf([
      ...togetherTests(operands, body),
      ...operands.filter(operand => patternOf(operand) === null).map(operand => carriedTest(operand, body)),
    ]),
  )
}

/** Texts up to which single words are looked for by one regular expression, and not each by its own. */
const TOGETHER = { words: 100, like: 10 } as const

/** Single words as alternatives of regular expressions: a text is read once for many of them. */
function togetherTests(operands: readonly Condition[], body: Body): readonly Expression[] {
  const tests: Expression[] = []
  for (const type of ['words', 'like'] as const) {
    const found = operands.filter(operand => operand.type === type && patternOf(operand) !== null)
    for (let at = 0; at < found.length; at += TOGETHER[type]) {
      const [first] = found.slice(at, at + TOGETHER[type])
      if (first === undefined) continue
      const patterns = found.slice(at, at + TOGETHER[type]).map(operand => patternOf(operand) ?? '')
      const text = first.type === 'like' ? body.value(first.field, 'required') : body.text()
      tests.push(call('REGEX', text, literal(patterns.map(pattern => `(?:${pattern})`).join('|'))))
    }
  }
  return tests
}

function carry(condition: Condition, body: Body): void {
  const leaf = firstLeaf(condition)
  if (leaf.type === 'words') body.text()
  else if ('field' in leaf) body.value(leaf.field, 'required')
}

function carriedTest(condition: Condition, body: Body): Expression {
  switch (condition.type) {
    case 'and':
      return allOf(condition.operands.map(operand => carriedTest(operand, body)))
    case 'or':
      return anyOf(condition.operands.map(operand => carriedTest(operand, body)))
    case 'compare':
      return binary(
        condition.operator,
        body.value(condition.field, 'required'),
        constantTerm(condition.field.type, condition.value),
      )
    case 'oneOf': {
      const items = condition.values.map(value => constantTerm(condition.field.type, value))
      return { type: 'oneOf', operand: body.value(condition.field, 'required'), items }
    }
    case 'present':
      return TRUE
    case 'relation':
      return relationTest(condition, body)
    default: {
      const inner = body.fork()
      addPatterns(condition, inner)
      return allOf(inner.onlyTests())
    }
  }
}

const allOf = (tests: readonly Expression[]): Expression =>
  tests.length === 0 ? TRUE : tests.reduce((left, right) => binary('&&', left, right))
const anyOf = (tests: readonly Expression[]): Expression =>
  tests.length === 0 ? FALSE : tests.reduce((left, right) => binary('||', left, right))

/** Takes out the records that a condition finds; where few are left to test, tests each. */
function remove(condition: Condition, body: Body, records: number): void {
  const { scope } = body
  const cost = estimate(condition, scope) + (scans(condition) ? scope.target.statistics.records / 3 : 0)
  if (!drives(condition) || records < cost) {
    body.test(not(expression(condition, scope)))
    return
  }
  const inner = new Body(scope)
  compileCondition(condition, inner, 'search')
  body.remove(minus(...inner.patterns()))
}

/** A condition that a record can satisfy by several values, each record once. */
function once(condition: Condition, body: Body, purpose: Purpose): boolean {
  if (purpose === 'test') return test(condition, body)
  const inner = new Body(body.scope)
  addPatterns(condition, inner)
  body.find(distinctRecords(inner.patterns()))
  return true
}

function test(condition: Condition, body: Body): boolean {
  body.test(expression(condition, body.scope))
  return false
}

/** Each record once, however often patterns find it. */
function distinctRecords(where: readonly Pattern[]): Pattern {
  return subquery({ type: 'select', distinct: true, projection: [{ variable: RECORD }], where })
}

/** A scope in which values can depend on conditions. */
export function openScope(target: CompileTarget, timezone: string): Scope {
  return new Scope(target, timezone, expression)
}

/** A condition as a boolean expression about ?record, never an error and never unbound. */
function expression(condition: Condition, scope: Scope): Expression {
  switch (condition.type) {
    case 'and':
      return joined('&&', condition.operands, scope) ?? TRUE
    case 'or': {
      const groups = byCarrier(condition.operands).map((operands): Expression => {
        const [first] = operands
        if (operands.length === 1 && first !== undefined) return expression(first, scope)
        const inner = new Body(scope)
        alternatives(operands, inner)
        return exists(...inner.patterns())
      })
      return fold('||', groups) ?? FALSE
    }
    case 'not':
      return not(expression(condition.operand, scope))
    case 'always':
      return condition.value ? TRUE : FALSE
    default: {
      const inner = new Body(scope)
      if (!drives(condition)) inner.position()
      addPatterns(condition, inner)
      return exists(...inner.patterns())
    }
  }
}

function joined(operator: '&&' | '||', operands: readonly Condition[], scope: Scope): Expression | null {
  return fold(
    operator,
    operands.map(operand => expression(operand, scope)),
  )
}

/** True where a record could satisfy the patterns of a condition more than once. */
function isMany(condition: FieldCondition): boolean {
  return condition.field.multivalued && !(condition.type === 'compare' && condition.operator === '=')
}

/** Joins what one condition that is no combination of others reads, with its tests. */
function addPatterns(condition: Condition, body: Body): void {
  const { facts } = body.scope.target.graphs
  switch (condition.type) {
    case 'compare': {
      const { field, operator } = condition
      if (isIdentity(condition)) {
        identities([String(condition.value)], body)
        return
      }
      const constant = constantTerm(field.type, condition.value)
      if (operator === '=' && technicalName(field) === undefined)
        body.join(inGraph(facts, triple(RECORD, body.scope.predicate(field), constant)))
      else body.test(binary(operator, body.value(field, 'required'), constant))
      return
    }
    case 'oneOf': {
      const { field, values } = condition
      if (isIdentity(condition)) {
        identities(values.map(String), body)
        return
      }
      const terms = values.map(item => constantTerm(field.type, item))
      if (technicalName(field) !== undefined) {
        body.test({ type: 'oneOf', operand: body.value(field, 'required'), items: terms })
        return
      }
      const value = body.scope.fresh('value')
      body.find({ type: 'values', variable: value, terms })
      body.join(inGraph(facts, triple(RECORD, body.scope.predicate(field), value)))
      return
    }
    case 'between': {
      const value = body.value(condition.field, 'required')
      for (const [side, bound] of [
        ['>', condition.lower],
        ['<', condition.upper],
      ] as const)
        if (bound !== null) body.test(boundTest(condition.field, side, bound, value))
      return
    }
    case 'present':
      body.value(condition.field, 'required')
      return
    case 'relation': {
      body.test(relationTest(condition, body))
      return
    }
    case 'words': {
      const text = body.text()
      body.test(...condition.words.map(word => (isPhrase(word) ? phraseTest : wordTest)(word, text, body)))
      return
    }
    case 'like': {
      const [fuzzy, exact] = [condition.words.filter(isFuzzy), condition.words.filter(word => !isFuzzy(word))]
      const value = body.value(condition.field, 'required')
      body.test(...exact.map(word => call('REGEX', value, literal(wordPattern(word)))))
      if (fuzzy.length === 0) return
      // The record's words leave few values to fold; what is told of it, as its id, is not among them.
      if (technicalName(condition.field) === undefined)
        body.test(...fuzzy.map(word => wordTest(word, body.text())))
      const folded = foldedValue(value, fuzzy, body)
      body.test(...fuzzy.map(word => call('REGEX', folded, literal(slippedPattern(word)))))
      return
    }
    case 'startsWith':
      body.test(call('STRSTARTS', body.value(condition.field, 'required'), literal(condition.text)))
      return
    case 'near': {
      const { field, point, metres } = condition
      if (field.type === 'geo_shape') {
        const within = apply(
          GEOF.sfIntersects,
          body.value(field, 'required'),
          geometryTerm(circle(point, metres)),
        )
        body.test(within)
        return
      }
      const distance = compileScalar({ type: 'distance', field, point }, body, 'required')
      body.test(binary('<=', distance, constantTerm('double', metres)))
      return
    }
    case 'spatial': {
      const value = body.value(condition.field, 'required')
      body.test(spatialTest(condition, value))
      return
    }
    case 'some':
      body.scope.setElement(condition.number, body.value(condition.field, 'required'))
      compileCondition(condition.condition, body, 'test')
      return
    case 'and':
    case 'or':
    case 'not':
    case 'always':
      body.test(expression(condition, body.scope))
      return
    default:
      condition satisfies never
  }
}

/** Records by their ids; a text that is no id is the IRI of no record. */
function identities(ids: readonly string[], body: Body): void {
  const known = ids.filter(id => /^[0-9a-f]{40}$/.test(id))
  if (known.length === 0) body.find(noRecord(body.scope))
  else body.find({ type: 'values', variable: RECORD, terms: known.map(id => body.scope.record(id)) })
  body.position()
}

/**
 * A position that no record has: no solutions. A filter of false or VALUES without terms would do, but from these the
 * store gives aggregates no row either.
 */
export function noRecord(scope: Scope): Pattern {
  return inGraph(scope.target.graphs.index, triple(RECORD, iri(INDEX.position), integer(-1)))
}

function boundTest(
  field: Extract<Condition, { type: 'between' }>['field'],
  side: '<' | '>',
  bound: Bound,
  value: Expression,
): Expression {
  return binary(bound.inclusive ? `${side}=` : side, value, constantTerm(field.type, bound.value))
}

/** Every word is looked for in the record's folded text, where each stands between two blanks. */
function wordTest(word: Word, text: Expression): Expression {
  if (isFuzzy(word)) return call('REGEX', text, literal(slippedPattern(word)))
  return call('CONTAINS', text, literal(word.mode === 'prefix' ? ` ${word.text}` : ` ${word.text} `))
}

/** The words of a phrase in a row within one value of any field whose words are searched. */
function phraseTest(phrase: Word, text: Expression, { scope }: Body): Expression {
  const words = phrase.text.split(' ').map(word => wordTest({ ...phrase, text: word }, text))
  const pattern = literal(wordPattern(phrase))
  const values = scope.target.dataset.fields
    .filter(({ type }) => type !== 'boolean' && !isGeo(type))
    .map(field => {
      const value = scope.fresh('value')
      const found = inGraph(scope.target.graphs.facts, triple(RECORD, scope.predicate(field), value))
      return exists(found, filter(call('REGEX', call('STR', value), pattern)))
    })
  return allOf([...words, anyOf(values)])
}

/** One variable a step: the store takes twice as long for each REPLACE around another. */
function foldedValue(value: Expression, words: readonly Word[], body: Body): Expression {
  const folded = foldingSteps(words).reduce<Expression>(
    (text, { pattern, by }) => body.let(call('REPLACE', text, literal(pattern), literal(by)), 'folded'),
    body.let(call('LCASE', value), 'folded'),
  )
  return call('CONCAT', literal(' '), folded, literal(' '))
}
