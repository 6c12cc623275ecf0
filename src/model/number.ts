/**
 * A finite number in plain decimal notation, never with an exponent: `1000000000000000000000`, `0.0000001`, `48.8566`. The store
 * represents an xsd:double in this form, so a number written this way is returned unchanged.
 */
export function numberText(value: number | bigint): string {
  if (typeof value === 'bigint') return String(value)
  const text = String(value)
  const plain = text.includes('e') ? expand(text) : text
  return text.length < 17 && plain === text ? text : roundTieUp(value, plain)
}

function expand(text: string): string {
  const [mantissa = '', exponent] = text.split('e')
  const sign = mantissa.startsWith('-') ? '-' : ''
  const [whole = '', fraction = ''] = mantissa.slice(sign.length).split('.')
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  if (point >= digits.length) return sign + digits.padEnd(point, '0')
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

/**
 * Where a number is exactly half-way between two shortest forms, ECMAScript selects the even digit and the store the upper one:
 * 2^-15 + 123 is 123.00003051757812 here and 123.00003051757813 there.
 */
function roundTieUp(value: number, text: string): string {
  const last = lastDigit(text)
  const isTie = text.includes('.')
    ? isFractionTie(value, text)
    : isIntegerTie(value, text, text.length - 1 - last)
  return isTie ? `${text.slice(0, last)}${Number(text[last]) + 1}${text.slice(last + 1)}` : text
}

/** Position of the last digit that is not a padding zero. */
function lastDigit(text: string): number {
  let place = text.length - 1
  while (text[place] === '0' && place > 0) place--
  return place
}

function isFractionTie(value: number, text: string): boolean {
  const decimals = text.length - 1 - text.indexOf('.')
  // The smallest bit of a double determines its decimals: only where these are one more than those of the text can it be a tie.
  return (
    decimals <= 90 &&
    Number.isInteger(value * 2 ** (decimals + 1)) &&
    value.toFixed(decimals + 10) === `${text}5${'0'.repeat(9)}`
  )
}

function isIntegerTie(value: number, text: string, zeros: number): boolean {
  if (zeros === 0) return false
  const rest = BigInt(value) - BigInt(text)
  return (rest < 0n ? -rest : rest) === 5n * 10n ** BigInt(zeros - 1) && rest > 0n === value > 0
}

/**
 * The digits of a number on a page: at most `max` decimals, but of a number that would become 0 or a single digit by that its
 * first significant ones.
 */
export function shownDigits(value: number | bigint, max: number): Intl.NumberFormatOptions {
  const size = Math.abs(Number(value))
  if (size === 0 || size >= 10 ** (1 - max)) return { maximumFractionDigits: max }
  const maximumSignificantDigits = Math.max(max, 3)
  return size < 1e-9 ? { maximumSignificantDigits, notation: 'scientific' } : { maximumSignificantDigits }
}

/** The number with the fewest digits that is equal in single precision. */
export function shortestSingle(value: number): number {
  if (!Number.isFinite(value)) return value
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return Number(value.toPrecision(9))
}

/** Arithmetic of two values: null where one is not a number, and for a division by 0. */
export function calculated(operator: '+' | '-' | '*' | '/', first: unknown, second: unknown): number | null {
  const [left, right] = [first, second].map(value => (typeof value === 'bigint' ? Number(value) : value))
  if (typeof left !== 'number' || typeof right !== 'number') return null
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return right === 0 ? null : left / right
  }
}
