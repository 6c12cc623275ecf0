import { LODESTONE } from '../../../../rdf/vocab.ts'
import type { AggregateCall, Formula } from '../../../../sparql/operation.ts'
import type { Aggregator, AggregatorContext, AggregatorMaker } from '../aggregates.ts'
import type { Batch } from '../batch.ts'
import { double, integer, type NumberValue, type Value, valueOf } from '../value.ts'
import { type Vector, valueAt } from '../vector.ts'
import type { ExtensionFunction } from './extensions.ts'

/** Functions of numbers that SPARQL has none for. */
export const NUMBER_FUNCTIONS: readonly (readonly [string, ExtensionFunction])[] = [
  [LODESTONE.truncate, { apply: ([value]) => mapped(value, Math.trunc) }],
  [LODESTONE.roundAway, { apply: ([value]) => mapped(value, roundAway) }],
  [LODESTONE.quotient, { apply: ([left, right]) => divided(left, right, (a, b) => (b === 0 ? null : Math.trunc(a / b))) }],
  [
    LODESTONE.modulo,
    { apply: ([left, right]) => divided(left, right, (a, b) => (b === 0 ? null : a - b * Math.trunc(a / b))) },
  ],
  [LODESTONE.remainder, { apply: ([left, right]) => divided(left, right, (a, b) => a - b * Math.trunc(a / b)) }],
  [LODESTONE.random, { apply: ([position, seed]) => chance(position, seed) }],
]

/** Halves away from zero. */
function roundAway(value: number): number {
  return value < 0 ? -Math.floor(0.5 - value) : Math.floor(value + 0.5)
}

/** Integers stay integers. */
function mapped(value: Value | undefined, map: (value: number) => number): Value | null {
  if (value?.type !== 'number') return null
  if (value.kind === 'integer') return value
  return double(map(value.value))
}

/** In doubles, whatever the kinds. */
function divided(
  left: Value | undefined,
  right: Value | undefined,
  divide: (left: number, right: number) => number | null,
): Value | null {
  if (left?.type !== 'number' || right?.type !== 'number') return null
  const result = divide(left.value, right.value)
  return result === null ? null : double(result)
}

const MODULUS = 2_147_483_647

/** A number that looks like chance, made from a position and a seed; all products stay whole in a double. */
function chance(position: Value | undefined, seed: Value | undefined): Value | null {
  if (position?.type !== 'number' || seed?.type !== 'number') return null
  const start = (((seed.value % MODULUS) + MODULUS) * 7919) % MODULUS
  const first = ((position.value + start) * 48_271) % MODULUS
  return integer((first * ((first % 9973) + 1)) % MODULUS)
}

/** Aggregates of numbers that SPARQL has none for. */
export const NUMBER_AGGREGATES: readonly (readonly [string, AggregatorMaker])[] = [
  [LODESTONE.percentile, (call, operand, context) => new Percentile(call, operand, context)],
]

/** The value below which a part of the values of a group lies, between the two nearest by linear interpolation. */
class Percentile implements Aggregator {
  private readonly values = new Map<number, number[]>()
  private readonly operand: Formula
  private readonly context: AggregatorContext
  /** 0 to 100. */
  private readonly rank: number

  constructor({ parameters }: AggregateCall, operand: Formula, context: AggregatorContext) {
    const [rank] = parameters ?? []
    const value = rank === undefined ? null : valueOf(rank)
    this.rank = value?.type === 'number' ? value.value : 50
    this.operand = operand
    this.context = context
  }

  add(batch: Batch, groups: Uint32Array): void {
    const vector = this.context.vectorOf(this.operand, batch)
    this.context.evaluation.allocate(8 * groups.length)
    for (let row = 0; row < groups.length; row++) {
      const value = numberAt(vector, row)
      if (value === null) continue
      const group = groups[row] as number
      const list = this.values.get(group)
      if (list === undefined) this.values.set(group, [value])
      else list.push(value)
    }
  }

  result(count: number): Vector {
    const results = new Float64Array(count)
    const bound = new Uint8Array(count)
    for (const [group, values] of this.values) {
      const sorted = Float64Array.from(values).sort()
      const place = (this.rank / 100) * (sorted.length - 1)
      const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
      if (low === undefined || high === undefined) continue
      results[group] = low + (high - low) * (place - Math.floor(place))
      bound[group] = 1
    }
    return { type: 'numbers', kind: 'double', values: results, bound }
  }
}

function numberAt(vector: Vector, row: number): number | null {
  if (vector.type === 'numbers') return vector.bound === null || vector.bound[row] === 1 ? (vector.values[row] as number) : null
  const value = valueAt(vector, row)
  return isNumber(value) ? value.value : null
}

function isNumber(value: Value | null): value is NumberValue {
  return value?.type === 'number'
}
