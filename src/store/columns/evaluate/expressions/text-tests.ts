import type { AlgebraExpression, ExpressionOf } from '../../../../sparql/algebra.ts'
import type {
  BooleanPart,
  DictionarySection,
  PointPart,
  TextPart,
  ValuePart,
} from '../../dictionary-parts.ts'
import type { Texts } from '../../dictionary-texts.ts'
import type { Evaluation } from '../evaluation.ts'
import { allRows } from '../vectors/batch.ts'
import type { ColumnDomain } from '../vectors/domain.ts'
import type { Vector } from '../vectors/vector.ts'
import { isOfKind, valueByKind } from './kinds.ts'
import { codeRangeOf } from './ranges.ts'
import { bothCases, readTextTest, type TextTest } from './read-text-test.ts'
import type { ScalarCompiler } from './scalar.ts'
import { firstAlike, markLengths, readLengthTest } from './text-prefixes.ts'
import { FAILS, HOLDS, truthOf } from './truths.ts'

/**
 * Evaluates a condition for many values of a column at once, where no text needs decoding: searches of texts for a substring,
 * lists of values, and conditions on the language or kind of a term. 0 in the table means not computed.
 */
export function markKnownTruths(
  expression: AlgebraExpression,
  domain: ColumnDomain,
  table: Uint8Array,
  evaluation: Evaluation,
  scalars: ScalarCompiler,
): void {
  if (isOfKind(expression)) {
    const truths = valueByKind(expression, domain, scalars, truthOf)
    for (const { first, count, kind } of domain.dictionary.parts)
      if (kind !== 'other') for (let code = first; code < first + count; code++) table[code] = truths.at(code)
    return
  }
  if (expression.type === 'in' && markListed(expression, domain, table)) return
  if (expression.type === 'in') {
    markUnlisted(expression, domain, table, evaluation)
    return
  }
  const alike = firstAlike(expression, domain)
  if (alike !== null) {
    const codes: Vector = { type: 'ids', domain, ids: allRows(domain.size + 1) }
    const all = new Map([[scalars.soleVariable(expression) ?? '', codes]])
    const scalar = scalars.over(expression, all, domain.size + 1)
    for (const { first, count, kind } of domain.dictionary.parts)
      if (kind === 'text')
        for (let code = first; code < first + count; code++)
          table[code] =
            alike[code] === code ? truthOf(scalar(code)) : (table[alike[code] as number] as number)
    return
  }
  const lengths = readLengthTest(expression)
  if (lengths !== null) {
    for (const part of domain.dictionary.parts) if (part.kind === 'text') markLengths(lengths, part, table)
    return
  }
  const test = readTextTest(expression, evaluation)
  if (test === null) return
  for (const part of domain.dictionary.parts) if (part.kind === 'text') markTexts(test, part, table)
  if (test.ofTerms) markForms(test, domain, table)
}

/** Marks the values in a list of constants, and the others. False where their equality is not one of codes. */
function markListed(
  { operand, items, negated }: ExpressionOf<'in'>,
  domain: ColumnDomain,
  table: Uint8Array,
): boolean {
  const ranges = items.map(item =>
    codeRangeOf({ type: 'binary', operator: '=', left: operand, right: item }, domain),
  )
  if (ranges.length === 0 || !ranges.every(range => range !== null)) return false
  table.fill(negated ? HOLDS : FAILS, 1)
  for (const { from, to } of ranges) table.fill(negated ? FAILS : HOLDS, from, to)
  return true
}

/** Items of a list that are compared with texts one after the other. */
const MAX_ITEMS = 16

/** Marks the texts that no constant of a list can equal, for `LCASE(?x) IN ("…", "…")`. */
function markUnlisted(
  { operand, items, negated }: ExpressionOf<'in'>,
  { dictionary }: ColumnDomain,
  table: Uint8Array,
  evaluation: Evaluation,
): void {
  if (operand.type === 'variable' || items.length > MAX_ITEMS) return
  const tests = items.map(right =>
    readTextTest({ type: 'binary', operator: '=', left: operand, right }, evaluation),
  )
  if (!tests.every(test => test !== null)) return
  const own = new Uint8Array(table.length)
  const failed = new Uint8Array(table.length)
  for (const part of dictionary.parts) {
    if (part.kind !== 'text') continue
    for (const test of tests) {
      markTexts(test, part, own)
      for (let code = part.first; code < part.first + part.count; code++)
        failed[code] = (failed[code] as number) + Number(own[code] === FAILS)
    }
    for (let code = part.first; code < part.first + part.count; code++)
      if (failed[code] === tests.length) table[code] = negated ? HOLDS : FAILS
  }
}

function markTexts(test: TextTest, { texts, first, count }: TextPart, table: Uint8Array): void {
  const found = test.exact ? HOLDS : 0
  table.fill(FAILS, first, first + count)
  if (test.part.length === 0 && test.anchor !== 'whole') table.fill(found, first, first + count)
  else if (!test.folded && (test.anchor === 'start' || test.anchor === 'whole')) {
    const [from, to] = test.anchor === 'start' ? texts.rangeOfPrefix(test.part) : texts.range(test.part)
    table.fill(found, first + from, first + to)
  } else if (test.anchor === 'anywhere') markContaining(test, texts, table.subarray(first), found)
  else markEnds(test, texts, table.subarray(first), found)
  if (test.unsure === 'some') for (const bytes of UNSURE) markHaving(bytes, texts, table.subarray(first), 0)
  if (test.unsure === 'beyond ASCII') markBeyondAscii(texts, table.subarray(first))
}

/** Characters beyond ASCII whose lower case is an ASCII letter, or that match one ignoring case: K, İ, ſ. */
const UNSURE = ['\u212a', '\u0130', '\u017f'].map(character => Buffer.from(character))

/** Substrings of at least this length are searched for in whole buffers: shorter ones occur too often for a call per occurrence. */
const RARE = 3

function markContaining(test: TextTest, texts: Texts, table: Uint8Array, found: number): void {
  if (!test.folded && test.part.length >= RARE) {
    markHaving(test.part, texts, table, found)
    return
  }
  const [lower, upper] = bothCases(test)
  const { bytes, offsets } = texts
  const { length } = lower
  const steps = stepsOf(lower, upper)
  const [last, other] = [lower[length - 1] as number, upper[length - 1] as number]
  const end = (offsets[offsets.length - 1] as number) - 1
  let place = 0
  // `at` is the position where the substring would end.
  for (let at = (offsets[0] as number) + length - 1; at <= end; ) {
    const byte = bytes[at] as number
    if ((byte !== last && byte !== other) || !standsAt(bytes, at - length + 1, lower, upper)) {
      at += steps[byte] as number
      continue
    }
    while ((offsets[place + 1] as number) <= at) place += 1
    const isWithin = (offsets[place] as number) <= at - length + 1
    if (isWithin) table[place] = found
    at = isWithin ? (offsets[place + 1] as number) + length - 1 : at + 1
  }
}

/** The shift to the next possible end of the substring, by the byte at the current end (Horspool). */
function stepsOf(lower: Uint8Array, upper: Uint8Array): Uint8Array {
  const { length } = lower
  const steps = new Uint8Array(256).fill(Math.min(255, length))
  for (let at = 0; at < length - 1; at++) {
    const step = Math.min(255, length - 1 - at)
    steps[lower[at] as number] = step
    steps[upper[at] as number] = step
  }
  return steps
}

/** Marks the texts that contain some bytes. */
function markHaving(part: Buffer, { bytes, offsets }: Texts, table: Uint8Array, found: number): void {
  let place = 0
  for (let at = bytes.indexOf(part, offsets[0]); at >= 0; ) {
    while ((offsets[place + 1] as number) <= at) place += 1
    const next = offsets[place + 1] as number
    const isWithin = at + part.length <= next
    if (isWithin) table[place] = found
    at = bytes.indexOf(part, isWithin ? next : at + 1)
  }
}

/** Marks the texts that begin or end with a substring, or equal it. */
function markEnds(test: TextTest, { bytes, offsets }: Texts, table: Uint8Array, found: number): void {
  const [lower, upper] = bothCases(test)
  for (let place = 0; place + 1 < offsets.length; place++) {
    const [from, to] = [offsets[place] as number, offsets[place + 1] as number]
    if (passes(test.anchor, bytes, from, to, lower, upper)) table[place] = found
  }
}

function markBeyondAscii({ bytes, offsets }: Texts, table: Uint8Array): void {
  for (let place = 0; place + 1 < offsets.length; place++)
    if (!isAscii(bytes, offsets[place] as number, offsets[place + 1] as number)) table[place] = 0
}

/** The characters of the canonical lexical forms of a kind of values. */
const CHARACTERS: Readonly<Record<(ValuePart | BooleanPart | PointPart)['kind'], string>> = {
  number: '0123456789.-INFNaN',
  moment: '0123456789.-:+TZ',
  boolean: 'truefals',
  point: 'POINT(0123456789.- )',
}

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
