import type { Argument, Call, Expression, GroupItem } from '../../language/odsql/ast.ts'
import { TIME_UNITS } from '../../language/odsql/vocabulary.ts'
import type { FormatPart } from '../../model/date-format.ts'
import { type CoarsePrecision, coarsePrecision, isGeo, isNumeric, isTemporal } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { type Constant, fieldsOf, type Grouping, type GroupKey, type Scalar, scalarType } from '../plan.ts'
import { expressionKey, FieldNames, type ResolveContext } from './context.ts'
import {
  exactInteger,
  foldNumber,
  isExpression,
  momentConstant,
  momentScalar,
  resolveScalar,
} from './scalars.ts'

/** Minimum and maximum width of ranges: their edges can still be distinguished. */
export const LEAST_RANGE_WIDTH = 1e-9
export const MAX_RANGE_WIDTH = 1e15
/** Maximum length of a range of dates: longer than all years that a date can have. */
const MAX_DAYS = 10_000_000
const MAX_CLOCK_UNITS = 1_000_000_000

const MAX_EDGES = 1000

/** Maximum number of keys of a group; each is a column of the table of groups. */
const MAX_KEYS = 100

/** Pixels of a map of the whole world at zoom 0, and the default radius of a cluster. */
const TILE = 256
const RADIUS = 40

/** A group_by clause: its different items, the text of the clause, and the key of each item. */
export interface Groups {
  readonly items: readonly GroupItem[]
  readonly text: string
  readonly keys: readonly GroupKey[]
}

/** Returns the keys of a group_by clause with their items (ODSQL 5). */
export function resolveGroupBy(all: readonly GroupItem[], text: string, context: ResolveContext): Groups {
  const names = new FieldNames('group_by', context)
  const excess = all[MAX_KEYS]
  if (excess !== undefined)
    throw names.fault(
      `${all.length} keys were found where at most ${MAX_KEYS} can group`,
      excess.expression.span,
    )
  // A key that is there twice is one: two of a field with several values would be each pair of them, shown as one.
  const different = new Map(
    all.map(item => {
      const written = expressionKey(item, text)
      return [JSON.stringify([item.label ?? null, written]), { item, key: item.label ?? written }]
    }),
  )
  const found = [...different.values()]
  return {
    items: found.map(({ item }) => item),
    text,
    keys: found.map(({ item, key }) => ({ key, grouping: grouping(item.expression, names) })),
  }
}

function grouping(node: Expression, names: FieldNames): Grouping {
  if (node.type === 'call' && node.name === 'range') return range(node, names)
  if (node.type === 'call' && node.name === 'geo_cluster') return cells(node, names)
  const isValue = ['field', 'call', 'arithmetic'].includes(node.type)
  const value = isValue ? resolveScalar(node, names) : null
  if (value === null || (node.type === 'arithmetic' && fieldsOf(value).length === 0))
    throw names.fault('A group is a field, or a function of one', node.span)
  const type = scalarType(value)
  if (type === 'geo_point_2d')
    throw names.fault(
      'Aggregation on geo point field is not possible. Use the geo_cluster(point_geo, int_precision) aggregation function instead',
      node.span,
    )
  if (isGeo(type)) throw names.fault('Aggregation on geo shape field is not possible', node.span)
  return { type: 'value', value: names.context.dialect.isoKeys ? precise(value, names) : value }
}

/** Dates with the precision of years or months as the texts in the records, so that each period is one group. */
function precise(value: Scalar, { context: { language } }: FieldNames): Scalar {
  const precision = value.type === 'field' ? coarsePrecision(value.field) : null
  if (precision === null) return value
  return { type: 'dateFormat', parts: PERIODS[precision], language, operand: value }
}

const YEAR: FormatPart = { type: 'symbol', letter: 'y', count: 4 }
const PERIODS: Readonly<Record<CoarsePrecision, readonly FormatPart[]>> = {
  year: [YEAR],
  month: [YEAR, { type: 'text', text: '-' }, { type: 'symbol', letter: 'M', count: 2 }],
}

function range(call: Call, names: FieldNames): Grouping {
  names.function(call)
  const [first, second, ...more] = call.arguments
  if (first === undefined || !isExpression(first) || second === undefined)
    throw names.conversionError(call, 'other arguments', 'a field and its steps', call.span)
  const value = resolveScalar(first, names)
  const type = scalarType(value)
  if (!isNumeric(type) && !isTemporal(type))
    throw names.conversionError(call, `a value of type ${type}`, 'numbers or dates', first.span)
  if (second.type === 'quantity') return interval(call, value, second, more, names)
  if (second.type === 'steps') {
    if (more.length > 0) throw names.conversionError(call, 'more', 'one list of steps', call.span)
    const edges = second.items.map(item => edge(call, item, value, names))
    return steps(
      call,
      value,
      [...(second.open === ']' ? [null] : []), ...edges, ...(second.close === '[' ? [null] : [])],
      names,
    )
  }
  if (second.type === 'call' && second.name === 'equi') return equal(call, second, value, names)
  if (more.length === 0 && second.type !== 'star') return width(call, value, second, names)
  const edges = [second, ...more].map((item, index, all) => {
    if (item.type !== 'star') return edge(call, item, value, names)
    if (index > 0 && index < all.length - 1)
      throw names.conversionError(call, 'a * between steps', 'a * at either end only', item.span)
    return null
  })
  return steps(call, value, edges, names)
}

/** Steps of equal width on numbers. */
function width(call: Call, value: Scalar, node: Argument, names: FieldNames): Grouping {
  const size = foldNumber(node)
  if (isTemporal(scalarType(value)))
    throw names.conversionError(call, 'a number', 'an interval such as 1 day', node.span)
  if (size === null || size < LEAST_RANGE_WIDTH || size > MAX_RANGE_WIDTH)
    throw names.unfit(call, node, 'a width from 1e-9 to 1e15')
  return { type: 'width', value, width: size, unit: null }
}

/** Steps of equal width on dates. */
function interval(
  call: Call,
  value: Scalar,
  node: Extract<Argument, { type: 'quantity' }>,
  more: readonly Argument[],
  names: FieldNames,
): Grouping {
  const unit = lookup(TIME_UNITS, node.unit)
  if (!isTemporal(scalarType(value)))
    throw names.conversionError(
      call,
      `the interval ${node.value} ${node.unit.slice(0, 30)}`,
      'a number',
      node.span,
    )
  if (unit === undefined)
    throw names.conversionError(
      call,
      `the unit ${node.unit.slice(0, 30)}`,
      `one of ${Object.keys(TIME_UNITS).slice(0, 9).join(', ')} or a whole word such as day`,
      node.span,
    )
  if (more.length > 0) throw names.conversionError(call, 'more', 'one interval', call.span)
  const single = ['week', 'month', 'quarter', 'year'].includes(unit)
  const max = single ? 1 : unit === 'day' ? MAX_DAYS : MAX_CLOCK_UNITS
  if (!Number.isInteger(node.value) || node.value < 1 || node.value > max)
    throw names.conversionError(
      call,
      `${node.value} ${unit}s`,
      single ? `1 ${unit}` : `a whole number of them, at most ${max}`,
      node.span,
    )
  return { type: 'width', value, width: node.value, unit }
}

/** `EQUI(step, lower, upper)`: below, steps of equal width, above. */
function equal(call: Call, equi: Call, value: Scalar, names: FieldNames): Grouping {
  names.function(equi)
  const [step, lower, upper] = equi.arguments.map(foldNumber)
  if (
    !isNumeric(scalarType(value)) ||
    step == null ||
    lower == null ||
    upper == null ||
    step <= 0 ||
    upper <= lower
  )
    throw names.conversionError(
      equi,
      'other arguments',
      'a step above 0, a lower and a higher number',
      equi.span,
    )
  const count = Math.ceil((upper - lower) / step - 1e-9)
  if (count > MAX_EDGES) throw tooMany(call, names)
  // Multiples of a decimal fraction are inexact.
  const inner = Array.from({ length: count }, (_, index) => Number((lower + index * step).toPrecision(15)))
  return { type: 'steps', value, edges: [null, ...inner, upper, null] }
}

function steps(call: Call, value: Scalar, edges: readonly (Constant | null)[], names: FieldNames): Grouping {
  const known = edges.filter(item => item !== null)
  const rising = known.every((item, index) => index === 0 || (known[index - 1] as Constant) < item)
  if (known.length === 0 || edges.length < 2)
    throw names.conversionError(
      call,
      known.length === 0 ? 'no step' : 'one step without a * beside it',
      'two steps, or one and the range beyond it',
      call.span,
    )
  if (!rising)
    throw names.conversionError(call, 'steps out of order', 'each step above the one before', call.span)
  if (known.length > MAX_EDGES) throw tooMany(call, names)
  return { type: 'steps', value, edges }
}

function tooMany(call: Call, names: FieldNames) {
  return names.fault(`A range has at most ${MAX_EDGES} steps`, call.span)
}

function edge(call: Call, node: Argument, value: Scalar, names: FieldNames): Constant {
  const type = scalarType(value)
  if (isExpression(node)) {
    const moment = isTemporal(type) ? momentScalar(node, names) : null
    const constant = moment === null ? null : momentConstant(moment, type, names)
    if (constant?.type === 'constant') return constant.value
    const number = isNumeric(type) ? (exactInteger(node) ?? foldNumber(node)) : null
    if (number !== null) return number
  }
  throw names.conversionError(
    call,
    'a step of another type',
    isNumeric(type) ? 'numbers' : 'dates',
    node.span,
  )
}

/** Cells as wide as the diameter of a cluster on a map at the given zoom (ODSQL 5.4). */
function cells(call: Call, names: FieldNames): Grouping {
  names.function(call)
  const [first, ...numbers] = call.arguments
  const field = first !== undefined && isExpression(first) ? names.field(first) : undefined
  if (field?.type !== 'geo_point_2d') throw names.unfit(call, first, 'a field of type geo_point_2d')
  const [zoom, radius = RADIUS] = numbers.map((node, index) => {
    const isRadius = node.type === 'named' && node.name.toLowerCase() === 'radius' && index === 1
    const inner = isRadius ? node.value : node
    const value = foldNumber(inner)
    if (value === null) throw names.unfit(call, node, 'a number')
    return value
  })
  if (zoom === undefined || !Number.isInteger(zoom) || zoom < 0 || zoom > 25)
    throw names.conversionError(call, 'other arguments', 'a zoom from 0 to 25', call.span)
  if (radius <= 0 || radius > 1000)
    throw names.conversionError(call, `a radius of ${radius}`, '1 to 1000', call.span)
  return { type: 'cells', field, degrees: (360 * radius) / (TILE * 2 ** zoom) }
}
