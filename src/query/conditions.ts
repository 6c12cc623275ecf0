import { Fault } from '../errors/errors.ts'
import { ODATA_ERROR } from '../language/odata/faults.ts'
import { exactJson } from '../model/exact-json.ts'
import type { Field } from '../model/field.ts'
import { oncePerObject } from '../model/memoised.ts'
import { ALWAYS, type Condition, type Constant, NEVER, planParts, type Scalar, scalarType } from './plan.ts'

/** Conjunction without nesting and without trivial conditions; null means "all records". */
export function conjunctionOrNull(conditions: readonly (Condition | null)[]): Condition | null {
  const operands = mergeWords(
    distinct(
      conditions.flatMap(condition => {
        if (condition === null || (condition.type === 'always' && condition.value)) return []
        return condition.type === 'and' ? condition.operands : [condition]
      }),
    ),
  )
  if (operands.some(isNever)) return NEVER
  return operands.length <= 1 ? (operands[0] ?? null) : { type: 'and', operands }
}

/** Disjunction without nesting and without conditions that never hold. */
export function disjunction(conditions: readonly Condition[]): Condition {
  const operands = mergeEqualities(
    distinct(
      conditions
        .flatMap(condition => (condition.type === 'or' ? condition.operands : [condition]))
        .filter(condition => !isNever(condition)),
    ),
  )
  if (operands.some(condition => condition.type === 'always')) return ALWAYS
  return operands.length <= 1 ? (operands[0] ?? NEVER) : { type: 'or', operands }
}

/** Conjunction; of no conditions, the condition that always holds. */
export function conjunction(conditions: readonly (Condition | null)[]): Condition {
  return conjunctionOrNull(conditions) ?? ALWAYS
}

/** Negation, two-valued. */
export function negate(condition: Condition): Condition {
  if (condition.type === 'always') return { type: 'always', value: !condition.value }
  return condition.type === 'not' ? condition.operand : { type: 'not', operand: condition }
}

function distinct(conditions: readonly Condition[]): readonly Condition[] {
  if (conditions.length < 2) return conditions
  return [...new Map(conditions.map(condition => [exactJson(condition), condition])).values()]
}

function isNever(condition: Condition): boolean {
  return condition.type === 'always' && !condition.value
}

/** Several full-text searches that must all hold become one search for all their words. */
function mergeWords(operands: readonly Condition[]): readonly Condition[] {
  const words = operands.flatMap(operand => (operand.type === 'words' ? operand.words : []))
  if (words.length === 0) return operands
  const once = [...new Map(words.map(word => [`${word.mode} ${word.text}`, word])).values()]
  return [...operands.filter(operand => operand.type !== 'words'), { type: 'words', words: once }]
}

/** Equalities of one field in a disjunction become one look-up of several values. */
function mergeEqualities(operands: readonly Condition[]): readonly Condition[] {
  const values = new Map<string, Set<Constant>>()
  const merged: Condition[] = []
  for (const operand of operands) {
    const found = equality(operand)
    if (found === null) {
      merged.push(operand)
      continue
    }
    const { field, constants } = found
    const known = values.get(field.name)
    for (const constant of constants) known?.add(constant)
    if (known !== undefined) continue
    values.set(field.name, new Set(constants))
    merged.push({ type: 'oneOf', field, values: [] })
  }
  return merged.map(operand => {
    if (operand.type !== 'oneOf') return operand
    const list = [...(values.get(operand.field.name) ?? [])]
    const [only] = list
    if (list.length === 1 && only !== undefined)
      return { type: 'compare', field: operand.field, operator: '=', value: only }
    return { type: 'oneOf', field: operand.field, values: list }
  })
}

function equality(
  condition: Condition,
): { readonly field: Field; readonly constants: readonly Constant[] } | null {
  if (condition.type === 'oneOf') return { field: condition.field, constants: condition.values }
  if (condition.type === 'compare' && condition.operator === '=')
    return { field: condition.field, constants: [condition.value] }
  return null
}

/** Maximum number of values that are computed for a record or a group, and of aggregates of a query. */
export const MAX_ROW_VALUES = 100

/** Conditions of one filter after equal ones are merged; and the number of those that each cost a separate pass. */
const MAX_CONDITIONS = 150
const MAX_PASSES = 20

/** What in a filter would occupy a worker of the store for long, in words; null for nothing. */
export function excessOf(filter: Condition | null): string | null {
  if (filter === null) return null
  const { leaves, passes } = sizeOf(filter, new Map())
  if (leaves > MAX_CONDITIONS) return `${leaves} conditions, of which at most ${MAX_CONDITIONS} are served`
  return passes > MAX_PASSES
    ? `${passes} computed or spatial conditions, of which at most ${MAX_PASSES} are served`
    : null
}

/** Refuses filters of OData that would occupy a worker of the store for long. */
export function refuseExcessOfOData(filter: Condition | null): void {
  const excess = excessOf(filter)
  if (excess !== null) throw new Fault(ODATA_ERROR, { reason: `The filter has ${excess}.` })
}

/** Refuses a value with more conditions than a filter may have. */
export function refuseLarge(scalar: Scalar): void {
  const { leaves } = sizeOf(scalar, new Map())
  if (leaves > MAX_CONDITIONS)
    throw new Fault(ODATA_ERROR, {
      reason: `An expression has ${leaves} conditions, of which at most ${MAX_CONDITIONS} are served.`,
    })
}

/** Values and conditions of which one is made; what occurs in several places counts each time. */
export const planSize: (node: Condition | Scalar) => number = oncePerObject(node =>
  planParts(node).reduce((sum, part) => sum + planSize(part), 1),
)

/** Conditions, and those that are computed or spatial; a condition that occurs in several places counts each time. */
interface Size {
  readonly leaves: number
  readonly passes: number
}

/** Sizes are cached, because parts that occur in several places are the same objects. */
function sizeOf(node: Condition | Scalar, known: Map<Condition | Scalar, Size>): Size {
  const before = known.get(node)
  if (before !== undefined) return before
  let { leaves, passes } = ownSize(node)
  const times = castOfText(node)?.times ?? 1
  for (const part of planParts(node)) {
    const size = sizeOf(part, known)
    leaves += times * size.leaves
    passes += size.passes
  }
  known.set(node, { leaves, passes })
  return { leaves, passes }
}

/** The conditions of a cast of a text to another type, and how many times these contain the text; null for any other node. */
function castOfText(node: Condition | Scalar): { readonly leaves: number; readonly times: number } | null {
  const [operand] = node.type === 'function' ? node.arguments : []
  if (node.type !== 'function' || operand === undefined || scalarType(operand) !== 'text') return null
  switch (node.name) {
    case 'date':
      return { leaves: 1, times: 2 }
    case 'boolean':
      return { leaves: 2, times: 2 }
    case 'datetime':
      return { leaves: 2, times: 6 }
    default:
      return null
  }
}

/** The size of a condition or value without its parts. */
function ownSize(node: Condition | Scalar): Size {
  switch (node.type) {
    case 'function':
      return { leaves: castOfText(node)?.leaves ?? 0, passes: 0 }
    case 'some':
      return { leaves: 0, passes: 1 }
    case 'valueCount':
      return node.where === undefined ? { leaves: 0, passes: 0 } : { leaves: 1, passes: 1 }
    case 'relation':
    case 'spatial':
    case 'withinDistance':
      return { leaves: 1, passes: 1 }
    case 'compare':
    case 'between':
    case 'oneOf':
    case 'present':
    case 'words':
    case 'like':
    case 'startsWith':
    case 'always':
      return { leaves: 1, passes: 0 }
    default:
      return { leaves: 0, passes: 0 }
  }
}
