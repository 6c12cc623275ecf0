import type {
  BooleanPart,
  DictionarySection,
  PointPart,
  ResourcePart,
  ValuePart,
} from '../../dictionary-parts.ts'
import { lowerBound, type TermBytes } from '../../dictionary-texts.ts'
import type { Resources } from '../../resources.ts'
import type { Evaluation } from '../evaluation.ts'
import type { ColumnDomain } from '../vectors/domain.ts'
import { bothCases, type TextTest } from './read-text-test.ts'
import { FAILS, HOLDS } from './truths.ts'

/** The characters of the canonical lexical forms of a kind of values. */
const CHARACTERS: Readonly<Record<(ValuePart | BooleanPart | PointPart)['kind'], string>> = {
  number: '0123456789.-INFNaN',
  moment: '0123456789.-:+TZ',
  boolean: 'truefals',
  point: 'POINT(0123456789.- )',
}

/** Maximum number of IRIs per tested row for testing all of them; the second applies where most IRIs need not be read. */
const [RESOURCES_A_ROW, PLACES_A_ROW] = [4, 256]

/**
 * Evaluates a test of the texts of terms for numbers, dates, points and booleans: no value of a kind passes where its forms lack
 * a character of the tested text.
 *
 * @param table truths by code; 0 remains where the truth is not known
 */
export function markForms(test: TextTest, { dictionary }: ColumnDomain, table: Uint8Array): void {
  for (const part of dictionary.parts)
    if (part.kind !== 'text' && part.kind !== 'other' && part.kind !== 'resource')
      markValues(test, part, table)
}

/**
 * Evaluates the test for IRIs, which are compared as bytes. False where too few rows are tested for this to be worthwhile.
 *
 * @param rows the number of rows that have been and are being tested
 */
export function markResources(
  test: TextTest,
  { dictionary, graph }: ColumnDomain,
  rows: number,
  evaluation: Evaluation,
  table: Uint8Array,
): boolean {
  const parts = dictionary.parts.filter(part => part.kind === 'resource')
  const factor = isBeginning(test) ? PLACES_A_ROW : RESOURCES_A_ROW
  if (parts.some(({ count }) => count > factor * rows)) return false
  for (const part of parts) markIris(test, part, graph.resources, evaluation, table)
  return true
}

function markValues(
  test: TextTest,
  part: Exclude<DictionarySection, { kind: 'text' | 'other' | 'resource' }>,
  table: Uint8Array,
): void {
  const [lower, upper] = bothCases(test)
  const characters = Buffer.from(CHARACTERS[part.kind])
  const areAll = lower.every(
    (byte, at) => characters.includes(byte) || characters.includes(upper[at] as number),
  )
  if (areAll) return
  const { first, count } = part
  table.fill(FAILS, first, first + count)
  // Non-canonical forms may contain other characters, such as exponents.
  if (part.kind !== 'point') for (const place of part.forms?.places ?? []) table[first + place] = 0
}

function markIris(
  test: TextTest,
  { first, count, ids }: ResourcePart,
  resources: Resources,
  evaluation: Evaluation,
  table: Uint8Array,
): void {
  const [lower, upper] = bothCases(test)
  const [iris] = resources.rangeOfPrefix('')
  const [begin, end] = isBeginning(test) ? resources.rangeOfPrefix(test.part.toString()) : [iris, Infinity]
  const found: TermBytes = { type: 'iri', bytes: Buffer.alloc(0), from: 0, to: 0, datatype: '', language: '' }
  for (let place = lowerBound(ids, iris); place < count; place++) {
    if (place % 4096 === 0) evaluation.check()
    const id = ids[place] as number
    if (id < begin || id >= end) {
      table[first + place] = FAILS
      continue
    }
    resources.bytes(id, found)
    const { bytes, from, to } = found
    if (test.unsure !== 'none' && !isAscii(bytes, from, to)) continue
    if (!passes(test.anchor, bytes, from, to, lower, upper)) table[first + place] = FAILS
    else if (test.exact) table[first + place] = HOLDS
  }
}

/** True where the sort order of IRIs determines which ones can pass. */
const isBeginning = ({ folded, anchor }: TextTest): boolean =>
  !folded && (anchor === 'start' || anchor === 'whole')

export function isAscii(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if ((bytes[at] as number) > 127) return false
  return true
}

/** True where the bytes of a text pass a test for a part of it. */
export function passes(
  anchor: TextTest['anchor'],
  bytes: Uint8Array,
  from: number,
  to: number,
  lower: Uint8Array,
  upper: Uint8Array,
): boolean {
  const last = to - lower.length
  if (last < from) return false
  switch (anchor) {
    case 'start':
      return standsAt(bytes, from, lower, upper)
    case 'end':
      return standsAt(bytes, last, lower, upper)
    case 'whole':
      return last === from && standsAt(bytes, from, lower, upper)
    case 'anywhere':
      for (let at = from; at <= last; at++) if (standsAt(bytes, at, lower, upper)) return true
      return false
  }
}

/** True where bytes equal those of a text, each in either case. */
export function standsAt(bytes: Uint8Array, at: number, lower: Uint8Array, upper: Uint8Array): boolean {
  for (let next = 0; next < lower.length; next++) {
    const byte = bytes[at + next] as number
    if (byte !== lower[next] && byte !== upper[next]) return false
  }
  return true
}
