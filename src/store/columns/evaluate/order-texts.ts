import type { TextPart } from '../dictionary-parts.ts'
import { type Batch, deferredSource } from './batch.ts'
import { ColumnDomain, onlyPartOf } from './domain.ts'
import { scratchFloat64 } from './scratch.ts'
import type { SortKey } from './sort-keys.ts'
import { isText } from './text-prefixes.ts'

/** Bytes of a text that fit into a number. */
const BYTES = 6

/** Texts unchanged, or in upper or lower case. */
interface CaseMapping {
  readonly map: (text: string) => string
  /** The first and the last ASCII letter that it changes, and the difference of their codes. */
  readonly first: number
  readonly last: number
  readonly shift: number
}

const MAPPINGS: ReadonlyMap<string, CaseMapping> = new Map([
  ['LCASE', { map: text => text.toLowerCase(), first: 0x41, last: 0x5a, shift: 32 }],
  ['UCASE', { map: text => text.toUpperCase(), first: 0x61, last: 0x7a, shift: -32 }],
  ['STR', { map: text => text, first: 0, last: 0, shift: 0 }],
])

/**
 * For `LCASE(?text)`, `UCASE(?text)` and `STR(?text)` of a column of texts: numbers by row in the order of the texts, equal for
 * texts with equal beginnings, negative where the key descends. They separate the first rows of an order from others before any
 * string is created. Null for other keys.
 */
export function textNumbers(key: SortKey, batch: Batch): Float64Array | null {
  const { expression, input } = deferredSource(key.expression, batch)
  const mapping = expression.type === 'builtin' ? MAPPINGS.get(expression.name) : undefined
  if (expression.type !== 'builtin' || mapping === undefined) return null
  const [operand] = expression.arguments
  const variable = operand?.type === 'builtin' ? operand.arguments[0] : operand
  if (operand === undefined || !isText(operand) || variable?.type !== 'variable') return null
  const vector = input.get(variable.name)
  if (vector?.type !== 'ids' || !(vector.domain instanceof ColumnDomain)) return null
  const part = onlyPartOf(vector.domain)
  if (part?.kind !== 'text') return null
  const sign = key.descending ? -1 : 1
  const absent = key.isAbsentHighest ? Number.POSITIVE_INFINITY : -1
  const numbers = scratchFloat64(vector.ids.length)
  for (let row = 0; row < numbers.length; row++) {
    const id = vector.ids[row] as number
    numbers[row] = sign * (id === 0 ? absent : beginning(part, id - part.first, mapping))
  }
  return numbers
}

/** The first bytes of a text of a part, after case mapping, as a number. */
function beginning({ texts }: TextPart, place: number, { map, first, last, shift }: CaseMapping): number {
  const { bytes, offsets } = texts
  const [from, to] = [offsets[place] as number, offsets[place + 1] as number]
  let number = 0
  for (let at = 0; at < BYTES; at++) {
    const byte = from + at < to ? (bytes[from + at] as number) : 0
    if (byte >= 0x80) return beginningOf(map(texts.get(place)))
    number = 256 * number + (byte >= first && byte <= last ? byte + shift : byte)
  }
  return number
}

function beginningOf(text: string): number {
  const bytes = Buffer.from(text.slice(0, BYTES + 1))
  let number = 0
  for (let at = 0; at < BYTES; at++) number = 256 * number + (bytes[at] ?? 0)
  return number
}
