import type { Field } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import type { Condition, Constant, Word } from '../plan.ts'
import { technicalName } from '../technical.ts'
import type { CompileTarget, Scope } from './scope.ts'

/** Parts of all records that conditions are taken to keep where statistics say nothing. */
const USUAL = { words: 0.01, computed: 0.2, near: 0.02 } as const

/**
 * How many records a condition keeps, as far as the statistics of the version tell: a guess that chooses between ways
 * to the same answer and never changes it.
 */
export function estimate(condition: Condition, scope: Scope): number {
  const { records } = scope.target.statistics
  switch (condition.type) {
    case 'and':
      return Math.min(records, ...condition.operands.map(operand => estimate(operand, scope)))
    case 'or':
      return Math.min(
        records,
        condition.operands.reduce((sum, operand) => sum + estimate(operand, scope), 0),
      )
    case 'not':
      return records - Math.min(records, estimate(condition.operand, scope))
    case 'always':
      return condition.value ? records : 0
    case 'words':
    case 'like':
      return records * (condition.words.every(isShort) ? USUAL.computed : USUAL.words)
    case 'startsWith':
      return records * USUAL.words
    case 'near':
    case 'spatial':
      return records * USUAL.near
    case 'relation':
    case 'some':
      return records * USUAL.computed
    case 'present':
      return scope.statistics(condition.field)?.present ?? records
    case 'oneOf':
      return condition.values.length * same(condition, scope)
    case 'compare': {
      if (condition.operator === '=') return recordsWith(condition, scope.target) ?? same(condition, scope)
      if (condition.operator === '!=') return records
      const below = part(condition, condition.value, scope)
      return records * (condition.operator.startsWith('<') ? below : 1 - below)
    }
    case 'between': {
      const lower = condition.lower === null ? 0 : part(condition, condition.lower.value, scope)
      const upper = condition.upper === null ? 1 : part(condition, condition.upper.value, scope)
      return records * Math.max(0, upper - lower)
    }
    default:
      return condition satisfies never
  }
}

/** A beginning of so few letters that very many words have it. */
function isShort({ text, mode }: Word): boolean {
  return mode !== 'word' && text.length <= 2
}

/** How many records have a value of a field, where the statistics have that exactly; null where they do not. */
export function recordsWith(
  { field, value }: { readonly field: Field; readonly value: Constant },
  { statistics }: Pick<CompileTarget, 'statistics'>,
): number | null {
  const counts =
    technicalName(field) === undefined ? lookup(statistics.fields, field.name)?.counts : undefined
  const [known] = counts ?? []
  if (counts === undefined || (known !== undefined && typeof known[0] !== typeof value)) return null
  return counts.find(([each]) => each === value)?.[1] ?? 0
}

type OfField = Extract<Condition, { readonly field: unknown }>

/** Records that share one value of a field. */
function same({ field }: OfField, scope: Scope): number {
  const statistics = scope.statistics(field)
  return (statistics?.present ?? 1) / Math.max(1, statistics?.distinct ?? 10_000)
}

/** The part of the values of a field that lie below a constant. */
function part({ field }: OfField, value: Constant, scope: Scope): number {
  const quantiles = scope.statistics(field)?.quantiles
  if (quantiles === undefined || quantiles.length === 0) return 0.5
  const below = quantiles.filter(quantile => quantile < value).length
  return below / quantiles.length
}
