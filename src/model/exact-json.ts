import { plainNames } from './member-order.ts'

/** Digits of an integer that a number may not represent exactly: beyond 15 some are rounded. */
const INEXACT_DIGITS = 16

/** A long integer that is not part of another number. */
const LONG_INTEGERS = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g

/** Prefix of the strings that replace integers during parsing: it is random, so that it does not occur in the text. */
const MARK = `\0${crypto.getRandomValues(new Uint32Array(4)).join('-')}:`
const MARKED = new RegExp(`"\\\\u0000${MARK.slice(1)}(-?\\d+)"`, 'g')

/** Parses JSON text as JSON.parse does, except that integers that a number would round become bigints. */
export function parseExactly(text: string): unknown {
  const exact = hasLong(text) ? rewritten(text, markInteger) : text
  if (exact === text) return JSON.parse(text) as unknown
  return JSON.parse(exact, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  ) as unknown
}

/** True where the text has {@link INEXACT_DIGITS} consecutive digits: one of them is then at one of the sampled positions. */
function hasLong(text: string): boolean {
  for (let at = INEXACT_DIGITS - 1; at < text.length; at += INEXACT_DIGITS) {
    if (!isDigit(text, at)) continue
    let from = at
    let to = at + 1
    while (isDigit(text, from - 1)) from--
    while (to - from < INEXACT_DIGITS && isDigit(text, to)) to++
    // The digits of a fraction are not those of an integer.
    if (to - from >= INEXACT_DIGITS && text[from - 1] !== '.') return true
    while (isDigit(text, to)) to++
    at = to
  }
  return false
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0x30 && code <= 0x39
}

/** The text with its long integers written otherwise; the contents of strings stay unchanged. */
function rewritten(text: string, write: (digits: string) => string): string {
  const parts: string[] = []
  let at = 0
  while (at < text.length) {
    const quote = text.indexOf('"', at)
    const outside = text.slice(at, quote < 0 ? text.length : quote)
    parts.push(outside.replace(LONG_INTEGERS, write))
    if (quote < 0) break
    at = stringEnd(text, quote)
    parts.push(text.slice(quote, at))
  }
  return parts.join('')
}

function markInteger(digits: string): string {
  return Number.isSafeInteger(Number(digits)) ? digits : JSON.stringify(MARK + digits)
}

/**
 * Writes JSON as JSON.stringify does, and bigints as integers, which {@link parseExactly} parses again. A number beyond 64 bits has
 * an exponent, because many readers, pandas among them, refuse integers of that size.
 *
 * @param indent blanks of each level of indentation; none for a single line
 */
export function exactJson(value: unknown, indent?: number): string {
  try {
    return finished(JSON.stringify(value, null, indent))
  } catch (error) {
    if (!(error instanceof TypeError) || !/BigInt/.test(error.message)) throw error
    return finished(JSON.stringify(value, markBigInt, indent)).replace(MARKED, '$1')
  }
}

/** A whole number beyond 64 bits as JSON.stringify writes it: 17 of its digits are significant. */
const LARGE_NUMBER = /(?:^|[[:,\s])-?\d{17,19}00(?:[,\]}\s]|$)/

/** The text with exponents where readers need them, and the names without prefixes. */
function finished(text: string): string {
  // JSON.stringify has no text for undefined.
  if (text === undefined) return text
  const plain = plainNames(text)
  return hasLong(plain) && LARGE_NUMBER.test(plain) ? rewritten(plain, exponential) : plain
}

function exponential(digits: string): string {
  const number = Number(digits)
  return Math.abs(number) < 2 ** 63 ? digits : number.toExponential()
}

function markBigInt(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? MARK + value : value
}

/** The range of 64-bit integers, which the store computes with. */
const LEAST = -(2n ** 63n)
const MAX = 2n ** 63n - 1n

/** A whole number as a value: a number where that is exact, else a bigint; undefined beyond 64 bits. */
export function integerValue(value: bigint): number | bigint | undefined {
  const number = Number(value)
  if (Number.isSafeInteger(number)) return number
  return value >= LEAST && value <= MAX ? value : undefined
}

/** The whole number that a text of digits writes, of any size; undefined where its fraction is not 0. */
export function exactWhole(text: string): number | bigint | undefined {
  const digits = /^([+-]?\d+)(?:\.0*)?$/.exec(text)?.[1]
  if (digits === undefined) return undefined
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number + 0 : BigInt(digits.replace('+', ''))
}

/**
 * The largest whole number below that of a text of digits with a fraction, which a double would round to a whole one; undefined for other
 * texts.
 */
export function wholeBelow(text: string): bigint | undefined {
  const [, whole] = /^([+-]?\d*)\.0*[1-9]\d*$/.exec(text) ?? []
  if (whole === undefined || !Number.isInteger(Number(text))) return undefined
  const value = BigInt(whole.replace(/^\+|^-?$/, ''))
  return text.startsWith('-') ? value - 1n : value
}

/** Index after the string that begins at a quote. */
function stringEnd(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return at + 1
    if (code === 0x5c) at++
  }
  return text.length
}
