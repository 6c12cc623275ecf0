import type { Call, Expression, OrderItem, SelectItem } from '../../language/odsql/ast.ts'
import { exactJson } from '../../model/exact-json.ts'
import { isGeo } from '../../model/field.ts'
import { MAX_ROW_VALUES } from '../conditions.ts'
import { beginsWith, technicalName } from '../find-field.ts'
import { fieldsOf, type Ordering, type Scalar, type SelectedColumn, scalarType } from '../plan.ts'
import { directed, expressionKey, FieldNames, type ResolveContext } from './context.ts'
import { foldNumber, resolveScalar } from './scalars.ts'

/** Returns the columns of a select clause, in order; without a clause every field. */
export function resolveSelect(
  items: readonly SelectItem[],
  text: string,
  context: ResolveContext,
): readonly SelectedColumn[] {
  const every = context.dataset.fields.map(
    (field): SelectedColumn => ({ key: field.name, value: { type: 'field', field } }),
  )
  if (items.length === 0) return every
  const names = new FieldNames('select', context)
  const narrowed = prefilter(items, every, names)
  const chosen = new Map<string, Scalar>()
  const choose = (selections: readonly SelectedColumn[]) => {
    for (const { key, value } of selections) chosen.set(key, value)
  }
  for (const item of items) {
    const { expression, label } = item
    if (expression === null) choose(every)
    else if (isNarrowing(expression)) choose(narrowed)
    else chosen.set(label ?? expressionKey(item, text), column(expression, names))
  }
  const computed = [...chosen.values()].filter(isComputed).length
  if (computed > MAX_ROW_VALUES)
    throw names.fault(
      `${computed} computed values were found where at most ${MAX_ROW_VALUES} can be selected`,
      { from: 0, to: text.length },
    )
  return [...chosen].map(([key, value]) => ({ key, value }))
}

function isComputed(value: Scalar): boolean {
  return value.type !== 'field' || technicalName(value.field) !== undefined
}

/** A value of each record; a multivalued field can only be selected as a whole. */
function column(expression: Expression, names: FieldNames): Scalar {
  const value = resolveScalar(expression, names)
  const many = value.type === 'field' ? undefined : fieldsOf(value).find(({ multivalued }) => multivalued)
  if (many === undefined) return value
  throw names.fault(`The field ${many.name} has many values and cannot be computed with`, expression.span)
}

function isNarrowing(expression: Expression): expression is Call {
  return expression.type === 'call' && (expression.name === 'include' || expression.name === 'exclude')
}

/** The fields that any `include(…)` names, or all fields, without those that any `exclude(…)` names. */
function prefilter(
  items: readonly SelectItem[],
  from: readonly SelectedColumn[],
  names: FieldNames,
): readonly SelectedColumn[] {
  const tests = { include: [] as NameTest[], exclude: [] as NameTest[] }
  for (const { expression, label, span } of items) {
    if (expression === null || !isNarrowing(expression)) continue
    if (label !== null) throw names.fault(`${expression.name} takes no label`, span)
    tests[expression.name === 'include' ? 'include' : 'exclude'].push(...nameTests(expression, names))
  }
  return from.filter(
    ({ key }) =>
      (tests.include.length === 0 || tests.include.some(test => test(key))) &&
      !tests.exclude.some(test => test(key)),
  )
}

type NameTest = (name: string) => boolean

/** Tests for names, which match any ending where they have a trailing `*`. */
function nameTests(call: Call, names: FieldNames): readonly NameTest[] {
  names.function(call)
  return call.arguments.map(argument => {
    if (argument.type === 'star') return () => true
    if (argument.type === 'wildcard') return beginsWith(argument.prefix, names.context.template)
    if (argument.type === 'field') {
      const { name: named = argument.name } = names.known(argument.name) ?? {}
      return name => name === named
    }
    throw names.fault(`${call.name} takes names of fields`, argument.span)
  })
}

/** Returns the keys by which an order_by clause sorts records. Geometry has no order. */
export function resolveOrderBy(
  items: readonly OrderItem[],
  select: readonly SelectedColumn[],
  context: ResolveContext,
): readonly Ordering[] {
  const names = new FieldNames('order_by', context, new Map(select.map(({ key, value }) => [key, value])))
  const beyond = items[MAX_KEYS]
  if (beyond !== undefined)
    throw names.fault(`${items.length} keys were found where at most ${MAX_KEYS} can sort`, beyond.span)
  const orderings = items.map((item): Ordering => {
    const { node, descending } = directed(item)
    if (node.type === 'call' && node.name === 'random') return chance(node, names)
    const value = resolveScalar(node, names)
    const type = scalarType(value)
    if (isGeo(type)) {
      const described = node.type === 'field' ? `Field ${node.name}` : 'A value'
      throw names.fault(`${described} of type ${type} has no order`, item.expression.span)
    }
    return { value, descending }
  })
  return deciding(orderings)
}

/** Maximum number of keys of one order; each may cost a pass over all records. */
const MAX_KEYS = 10

/** Keys that affect the order: not duplicates, and no key after a random one. */
function deciding(orderings: readonly Ordering[]): readonly Ordering[] {
  const distinct = new Map<string, Ordering>()
  for (const ordering of orderings) {
    const name = exactJson(ordering.value)
    if (!distinct.has(name)) distinct.set(name, ordering)
    if (ordering.value.type === 'random') break
  }
  return [...distinct.values()]
}

function chance(call: Call, names: FieldNames): Ordering {
  names.function(call)
  const seed = foldNumber(call.arguments[0])
  if (seed === null || !Number.isSafeInteger(seed))
    throw names.conversionError(call, 'other arguments', 'a whole number', call.span)
  return { value: { type: 'random', seed }, descending: false }
}
