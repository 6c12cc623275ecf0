import { LODESTONE, RDF } from '../../../../rdf/vocab.ts'
import { orderOf } from '../compare.ts'
import { double, integerTerm, type TermValue } from '../value.ts'
import type { ExtensionFunction } from './extension.ts'

/** Functions of numbers that SPARQL lacks. */
export const NUMBER_FUNCTIONS: readonly (readonly [string, ExtensionFunction])[] = [
  [LODESTONE.truncate, { apply: ([value]) => mapped(value, Math.trunc) }],
  [LODESTONE.roundAway, { apply: ([value]) => mapped(value, roundAway) }],
  [
    LODESTONE.quotient,
    { apply: ([left, right]) => divided(left, right, (a, b) => (b === 0 ? null : Math.trunc(a / b))) },
  ],
  [
    LODESTONE.modulo,
    {
      apply: ([left, right]) => divided(left, right, (a, b) => (b === 0 ? null : a - b * Math.trunc(a / b))),
    },
  ],
  [
    LODESTONE.remainder,
    { apply: ([left, right]) => divided(left, right, (a, b) => a - b * Math.trunc(a / b)) },
  ],
  [LODESTONE.step, { apply: ([value, ...edges]) => stepOf(value, edges) }],
  [LODESTONE.random, { apply: ([position, seed]) => chance(position, seed) }],
]

/** The index, from 0, of the half-open step between two edges that contains a value; rdf:nil is an open end. */
function stepOf(value: TermValue | undefined, edges: readonly TermValue[]): TermValue | null {
  if (value === undefined) return null
  const isOpen = (edge: TermValue) => edge.type === 'iri' && edge.value === RDF.nil
  for (let at = 0; at + 1 < edges.length; at++) {
    const [low, high] = [edges[at] as TermValue, edges[at + 1] as TermValue]
    const isAbove = isOpen(low) || (orderOf(value, low) ?? -1) >= 0
    if (isAbove && (isOpen(high) || (orderOf(value, high) ?? 0) < 0)) return integerTerm(at)
  }
  return null
}

/** Rounds halves away from zero. */
function roundAway(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value)
}

/** Integers stay unchanged. */
function mapped(value: TermValue | undefined, map: (value: number) => number): TermValue | null {
  if (value?.type !== 'number') return null
  if (value.kind === 'integer') return value
  return double(map(value.value))
}

/** In doubles, whatever the kinds. */
function divided(
  left: TermValue | undefined,
  right: TermValue | undefined,
  divide: (left: number, right: number) => number | null,
): TermValue | null {
  if (left?.type !== 'number' || right?.type !== 'number') return null
  const result = divide(left.value, right.value)
  return result === null ? null : double(result)
}

const MODULUS = 2_147_483_647

/** A pseudo-random number from a position and a seed; all products are whole numbers that a double represents exactly. */
function chance(position: TermValue | undefined, seed: TermValue | undefined): TermValue | null {
  if (position?.type !== 'number' || seed?.type !== 'number') return null
  const start = (((seed.value % MODULUS) + MODULUS) * 7919) % MODULUS
  const first = ((position.value + start) * 48_271) % MODULUS
  return integerTerm((first * ((first % 9973) + 1)) % MODULUS)
}
