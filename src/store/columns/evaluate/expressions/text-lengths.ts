import { type ComparisonOperator, FLIPPED, isOrdered } from '../../../../model/comparison.ts'
import type { AlgebraExpression } from '../../../../sparql/algebra.ts'
import type { TextPart } from '../../dictionary-parts.ts'
import type { Texts } from '../../dictionary-texts.ts'
import type { ColumnDomain } from '../vectors/domain.ts'
import { termValue } from '../vectors/value.ts'
import { isComparison } from './ranges.ts'
import { isText } from './text-prefixes.ts'
import { FAILS, HOLDS } from './truths.ts'

/** A comparison of the number of a text's characters with a constant. */
export interface LengthTest {
  readonly operator: ComparisonOperator
  readonly length: number
}

/** Parses an expression as such a comparison; null for any other. */
export function readLengthTest(expression: AlgebraExpression): LengthTest | null {
  if (expression.type !== 'binary' || !isComparison(expression.operator)) return null
  const { left, right, operator } = expression
  const isLeft = left.type === 'builtin'
  const [called, constant] = isLeft ? [left, right] : [right, left]
  if (called.type !== 'builtin' || called.name !== 'STRLEN' || constant.type !== 'literal') return null
  const [operand] = called.arguments
  const value = termValue(constant)
  if (operand === undefined || !isText(operand) || value.type !== 'number') return null
  return { operator: isLeft ? operator : FLIPPED[operator], length: value.value }
}

/** Evaluates such a comparison for all texts of a part. */
export function markLengths(
  { operator, length }: LengthTest,
  { texts, first, count }: TextPart,
  table: Uint8Array,
): void {
  for (let place = 0; place < count; place++)
    table[first + place] = isOrdered(operator, charactersAt(texts, place) - length) ? HOLDS : FAILS
}

function charactersAt({ bytes, offsets }: Texts, place: number): number {
  const to = offsets[place + 1] as number
  let characters = 0
  // A continuation byte of UTF-8 is 10xxxxxx.
  for (let at = offsets[place] as number; at < to; at++)
    characters += ((bytes[at] as number) & 0xc0) === 0x80 ? 0 : 1
  return characters
}

/** STRLEN of the values of a column of texts, by code, NaN for no value; null for an expression other than STRLEN of the variable. */
export function lengthReader(
  expression: AlgebraExpression,
  { dictionary }: ColumnDomain,
): ((code: number) => number) | null {
  if (expression.type !== 'builtin' || expression.name !== 'STRLEN') return null
  const [operand] = expression.arguments
  const part = dictionary.onlyPart()
  if (operand === undefined || !isText(operand) || part?.kind !== 'text') return null
  const { texts, first } = part
  return code => (code < first ? Number.NaN : charactersAt(texts, code - first))
}
