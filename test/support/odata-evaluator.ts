/**
 * What `$filter`, `$orderby` and `$search` of OData mean, spelled out over plain records: no index, no plan, no store.
 * The differential test asks the same question here and of the service.
 */
import type { Expression, OrderItem, SearchExpression } from '../../src/language/odata/ast.ts'
import { arithmetic, BOOLEAN_FUNCTIONS, call, cast, equal } from './odata-functions.ts'
import {
  dateOf,
  type FieldType,
  fieldValue,
  geographyOf,
  isPoint,
  isQuantity,
  listOf,
  momentOf,
  orderOf,
  type Quantity,
  type Source,
  timeOf,
  type Value,
} from './odata-values.ts'
import { searched, tokens } from './odsql-evaluator.ts'

/** What names and aliases stand for. */
export interface World {
  readonly types: Readonly<Record<string, FieldType>>
  readonly aliases: ReadonlyMap<string, Expression>
  /** Properties of `$compute`. */
  readonly computed: ReadonlyMap<string, Expression>
  readonly now: Quantity
  /** Names that `$search` does not read. */
  readonly silent: ReadonlySet<string>
}

type Variables = ReadonlyMap<string, Value>
const NONE: Variables = new Map()

/** The value of an expression for one record. */
export function evaluate(
  expression: Expression,
  record: Source,
  world: World,
  variables: Variables = NONE,
): Value {
  const of = (part: Expression, names = variables): Value => evaluate(part, record, world, names)
  switch (expression.type) {
    case 'binary':
      return binary(expression, world, of)
    case 'not':
      return negation(of(expression.operand))
    case 'negate': {
      const value = of(expression.operand)
      return isQuantity(value) ? { ...value, value: -value.value } : null
    }
    case 'in': {
      const left = of(expression.left)
      if (expression.right.type === 'list') return expression.right.items.some(item => equal(left, of(item)))
      return listOf(of(expression.right)).some(item => item === left)
    }
    case 'literal':
      return literal(expression)
    case 'null':
      return null
    case 'name': {
      if (variables.has(expression.name)) return variables.get(expression.name) ?? null
      const computed = world.computed.get(expression.name)
      if (computed !== undefined) return of(computed, NONE)
      const type = world.types[expression.name]
      if (type === undefined) throw new Error(`no property ${expression.name}`)
      return fieldValue(record[expression.name], type)
    }
    case 'member': {
      if (expression.of.type === 'name' && expression.of.name === '$it')
        return evaluate({ ...expression, type: 'name' }, record, world)
      const point = of(expression.of)
      if (!isPoint(point)) return null
      return { type: 'double', value: expression.name === 'latitude' ? point.lat : point.lon }
    }
    case 'lambda': {
      const { variable, predicate, quantifier } = expression
      const items = listOf(of(expression.of))
      if (variable === null || predicate === null) return items.length > 0
      const holds = (item: string) => of(predicate, new Map([...variables, [variable, item]])) === true
      return quantifier === 'any' ? items.some(holds) : items.every(holds)
    }
    case 'count':
      return { type: 'int', value: listOf(of(expression.of)).length }
    case 'call':
      return call(
        expression.name,
        expression.arguments.map(argument => of(argument)),
        world.now,
      )
    case 'cast':
      return cast(expression.operand === null ? null : of(expression.operand), expression.target)
    case 'alias': {
      const aliased = world.aliases.get(expression.name)
      return aliased === undefined ? null : of(aliased)
    }
    case 'isof':
    case 'filtered':
    case 'list':
    case 'object':
    case 'case':
      throw new Error(`${expression.type} is not evaluated`)
    default:
      return expression satisfies never
  }
}

type Binary = Extract<Expression, { type: 'binary' }>

/** Operators of two operands; `not a ge 5` means `not (a ge 5)` where `a` is not a boolean. */
function binary(expression: Binary, world: World, of: (part: Expression) => Value): Value {
  const { operator, left, right } = expression
  if (left.type === 'not' && !isBoolean(left.operand, world))
    return negation(binary({ ...expression, left: left.operand }, world, of))
  const [a, b] = [of(left), of(right)]
  switch (operator) {
    case 'and':
      return a === false || b === false ? false : a === null || b === null ? null : true
    case 'or':
      return a === true || b === true ? true : a === null || b === null ? null : false
    case 'eq':
      return equal(a, b)
    case 'ne':
      return !equal(a, b)
    case 'gt':
      return a !== null && b !== null && orderOf(a, b) > 0
    case 'ge':
      return a !== null && b !== null && orderOf(a, b) >= 0
    case 'lt':
      return a !== null && b !== null && orderOf(a, b) < 0
    case 'le':
      return a !== null && b !== null && orderOf(a, b) <= 0
    case 'add':
    case 'sub':
    case 'mul':
    case 'div':
    case 'divby':
    case 'mod':
      return arithmetic(operator, a, b)
    case 'has':
      throw new Error('no type with flags')
    default:
      return operator satisfies never
  }
}

const negation = (value: Value): Value => (value === null ? null : value !== true)

/** Whether an expression is one of truth, by its form and the types of properties. */
function isBoolean(expression: Expression, { types }: World): boolean {
  if (expression.type === 'binary')
    return !['add', 'sub', 'mul', 'div', 'divby', 'mod'].includes(expression.operator)
  if (expression.type === 'call') return BOOLEAN_FUNCTIONS.has(expression.name)
  if (expression.type === 'name') return types[expression.name] === 'boolean'
  if (expression.type === 'literal') return typeof expression.value === 'boolean'
  return ['not', 'in', 'lambda', 'isof', 'null', 'alias'].includes(expression.type)
}

type Literal = Extract<Expression, { type: 'literal' }>

function literal({ of, value }: Literal): Value {
  switch (of) {
    case 'Edm.String':
    case 'Edm.Boolean':
      return typeof value === 'number' ? null : value
    case 'Edm.Int32':
    case 'Edm.Int64':
      return { type: 'int', value: Number(value) }
    case 'Edm.Decimal':
    case 'Edm.Double':
      return { type: 'double', value: Number(value) }
    case 'Edm.Date':
      return dateOf(String(value))
    case 'Edm.TimeOfDay':
      return timeOf(String(value))
    case 'Edm.DateTimeOffset':
      return momentOf(String(value))
    case 'Edm.Duration':
      return { type: 'duration', value: Math.round(Number(value) * 1e6) }
    case 'Edm.Geography':
      return geographyOf(String(value))
    case 'Edm.Enum':
    case 'Edm.Guid':
    case 'Edm.Binary':
      throw new Error(`no values of ${of}`)
    default:
      return of satisfies never
  }
}

/** Whether a record has what is searched for: words anywhere in it, a phrase within one value. */
export function found(search: SearchExpression, record: Source, world: World): boolean {
  switch (search.type) {
    case 'term':
    case 'phrase': {
      const phrase = ` ${tokens(search.text).join(' ')} `
      return textsOf(record, world).some(text => ` ${tokens(text).join(' ')} `.includes(phrase))
    }
    case 'and':
      return search.operands.every(operand => found(operand, record, world))
    case 'or':
      return search.operands.some(operand => found(operand, record, world))
    case 'not':
      return !found(search.operand, record, world)
    default:
      return search satisfies never
  }
}

function textsOf(record: Source, { types, silent }: World): readonly string[] {
  return Object.keys(types).flatMap(name => {
    const value = record[name]
    if (value === null || value === undefined || silent.has(name)) return []
    return Array.isArray(value) ? value.map(String) : [searched(value)]
  })
}

/** A question to an entity set. */
export interface Question {
  readonly filter: Expression | null
  readonly search: SearchExpression | null
  readonly orderBy: readonly OrderItem[]
}

/** The records that answer a question, in its order: null is lowest, equals stay as in the source. */
export function answer(
  { filter, search, orderBy }: Question,
  records: readonly Source[],
  world: World,
): readonly Source[] {
  const kept = records.filter(
    record =>
      (filter === null || evaluate(filter, record, world) === true) &&
      (search === null || found(search, record, world)),
  )
  return kept
    .map(record => ({ record, keys: orderBy.map(({ expression }) => evaluate(expression, record, world)) }))
    .sort((left, right) => {
      for (const [index, { descending }] of orderBy.entries()) {
        const before = nullsFirst(left.keys[index] ?? null, right.keys[index] ?? null)
        if (before !== 0) return descending ? -before : before
      }
      return 0
    })
    .map(({ record }) => record)
}

function nullsFirst(left: Value, right: Value): number {
  if (left === null || right === null) return Number(left !== null) - Number(right !== null)
  return orderOf(left, right)
}
