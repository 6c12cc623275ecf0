/*
 * Reading JSON as bytes (RFC 8259). Functions take where something begins and give where it ends; for what is not
 * well-formed they give the complement of where that shows, which may be the zero byte behind all that was read.
 */

export const QUOTE = 34
export const COMMA = 44
export const COLON = 58
export const BACKSLASH = 92
export const OPEN = 123
export const CLOSE = 125
export const OPEN_ARRAY = 91
export const CLOSE_ARRAY = 93

const MINUS = 45
const PLUS = 43
const POINT = 46
const ZERO = 48
const U = 117

/** Nesting that is followed here. */
const MAX_NESTED = 500

/** 1 for bytes at which a string ends, or does not go on as it is. */
export const STRING_STOPS: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === QUOTE || byte === BACKSLASH || byte < 32 ? 1 : 0,
)

/** What the letter after a backslash stands for; 0 for none. */
const ESCAPES = new Uint8Array(256)
for (const [letter, character] of Object.entries({
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}))
  ESCAPES[letter.charCodeAt(0)] = character.charCodeAt(0)

/** The value of a hexadecimal digit; 16 for what is none. */
const HEX = Uint8Array.from({ length: 256 }, (_, byte) => {
  const digit = Number.parseInt(String.fromCharCode(byte), 16)
  return Number.isNaN(digit) ? 16 : digit
})

/** Where white space ends. */
export function skipSpace(bytes: Uint8Array, from: number): number {
  let i = from
  for (let byte = bytes[i]; byte === 32 || byte === 10 || byte === 13 || byte === 9; byte = bytes[i]) i++
  return i
}

/** Where a string ends whose opening quote is before `from`: at its closing quote. */
export function stringEnd(bytes: Uint8Array, from: number): number {
  for (let i = from; ; ) {
    while (STRING_STOPS[bytes[i] as number] === 0) i++
    if (bytes[i] === QUOTE) return i
    if (bytes[i] !== BACKSLASH) return ~i
    i = escapeEnd(bytes, i)
    if (i < 0) return i
  }
}

/** Where an escape ends that begins with a backslash. */
export function escapeEnd(bytes: Uint8Array, from: number): number {
  const letter = bytes[from + 1] as number
  if (ESCAPES[letter] !== 0) return from + 2
  if (letter !== U) return ~(from + 1)
  for (let i = from + 2; i < from + 6; i++) if (HEX[bytes[i] as number] === 16) return ~i
  return from + 6
}

/** True for an escaped half of a pair of surrogates that stands alone, which is no character. */
export function isHalf(bytes: Uint8Array, from: number): boolean {
  return bytes[from + 1] === U && isSurrogate(unitAt(bytes, from))
}

/** Where a pair of escaped surrogates ends of which the first begins here; where that is none, its complement. */
export function pairEnd(bytes: Uint8Array, from: number): number {
  const second = from + 6
  if (unitAt(bytes, from) >= 0xdc00 || bytes[second] !== BACKSLASH) return ~second
  const end = escapeEnd(bytes, second)
  if (end < 0) return end
  return isHalf(bytes, second) && unitAt(bytes, second) >= 0xdc00 ? end : ~second
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xe000
}

/** The unit of UTF-16 that `\uXXXX` stands for. */
function unitAt(bytes: Uint8Array, from: number): number {
  let unit = 0
  for (let i = from + 2; i < from + 6; i++) unit = 16 * unit + (HEX[bytes[i] as number] as number)
  return unit
}

/** Writes the characters of a string in the place of its escapes, which are longer; gives where it then ends. */
export function unescapeInPlace(bytes: Uint8Array, from: number, to: number): number {
  let end = from
  for (let i = from; i < to; ) {
    const byte = bytes[i] as number
    if (byte !== BACKSLASH) {
      bytes[end++] = byte
      i++
      continue
    }
    const letter = bytes[i + 1] as number
    if (letter !== U) {
      bytes[end++] = ESCAPES[letter] as number
      i += 2
      continue
    }
    let code = unitAt(bytes, i)
    i += 6
    if (isSurrogate(code)) {
      code = 0x10000 + ((code - 0xd800) << 10) + unitAt(bytes, i) - 0xdc00
      i += 6
    }
    end = writeCharacter(bytes, end, code)
  }
  return end
}

/** In UTF-8. */
function writeCharacter(bytes: Uint8Array, at: number, code: number): number {
  if (code < 0x80) {
    bytes[at] = code
    return at + 1
  }
  const length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  let rest = code
  for (let i = at + length - 1; i > at; i--) {
    bytes[i] = 0x80 | (rest & 0x3f)
    rest >>= 6
  }
  bytes[at] = ((0xf00 >> length) & 0xff) | rest
  return at + length
}

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= 57
}

export function startsNumber(byte: number | undefined): boolean {
  return byte === MINUS || isDigit(byte)
}

function digitsEnd(bytes: Uint8Array, from: number): number {
  let i = from
  while (isDigit(bytes[i])) i++
  return i
}

/** Where a number ends. */
function numberEnd(bytes: Uint8Array, from: number): number {
  let i = bytes[from] === MINUS ? from + 1 : from
  if (!isDigit(bytes[i])) return ~i
  i = bytes[i] === ZERO ? i + 1 : digitsEnd(bytes, i)
  if (bytes[i] === POINT) {
    if (!isDigit(bytes[i + 1])) return ~(i + 1)
    i = digitsEnd(bytes, i + 1)
  }
  if (bytes[i] === 101 || bytes[i] === 69) {
    i++
    if (bytes[i] === PLUS || bytes[i] === MINUS) i++
    if (!isDigit(bytes[i])) return ~i
    i = digitsEnd(bytes, i)
  }
  return i
}

/** Bytes of numbers of which it shows that no other text is shorter: they have 15 digits at most. */
const PLAIN_NUMBER = 16

/** True for numbers that stand as ECMAScript writes them; of others it may be true. */
export function isPlainNumber(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from > PLAIN_NUMBER - 1) return false
  const begin = bytes[from] === MINUS ? from + 1 : from
  const whole = digitsEnd(bytes, begin)
  const isSmall = bytes[begin] === ZERO
  if (whole === to) return !isSmall || begin === from
  // Below 0.000001 they have an exponent.
  return bytes[whole] === POINT && digitsEnd(bytes, whole + 1) === to && bytes[to - 1] !== ZERO
    ? !isSmall || to - whole <= 7
    : false
}

const WORDS: readonly Uint8Array[] = ['true', 'false', 'null'].map(word => Uint8Array.from(Buffer.from(word)))

/** Where `true`, `false` or `null` ends. */
function wordEnd(bytes: Uint8Array, from: number): number {
  const word = WORDS.find(([first]) => first === bytes[from])
  if (word === undefined) return ~from
  for (let i = 1; i < word.length; i++) if (bytes[from + i] !== word[i]) return ~(from + i)
  return from + word.length
}

/** Where a value ends, of any kind. */
export function valueEnd(bytes: Uint8Array, from: number): number {
  const byte = bytes[from]
  if (byte === QUOTE) {
    const end = stringEnd(bytes, from + 1)
    return end < 0 ? end : end + 1
  }
  if (byte === OPEN || byte === OPEN_ARRAY) return nestedEnd(bytes, from)
  return startsNumber(byte) ? numberEnd(bytes, from) : wordEnd(bytes, from)
}

/** Where an array or object ends. */
function nestedEnd(bytes: Uint8Array, from: number): number {
  const closings: number[] = []
  let i = from
  // Each turn reads one value, or the beginning of one, and what follows it.
  for (;;) {
    const byte = bytes[i] as number
    if (byte === OPEN || byte === OPEN_ARRAY) {
      if (closings.push(byte + 2) > MAX_NESTED) return ~i
      i = skipSpace(bytes, i + 1)
      if (bytes[i] !== byte + 2) {
        if (byte === OPEN) i = nameEnd(bytes, i)
        if (i < 0) return i
        continue
      }
      closings.pop()
      i++
    } else {
      i = valueEnd(bytes, i)
      if (i < 0) return i
    }
    for (;;) {
      const closing = closings.at(-1)
      if (closing === undefined) return i
      i = skipSpace(bytes, i)
      if (bytes[i] === closing) {
        closings.pop()
        i++
        continue
      }
      if (bytes[i] !== COMMA) return ~i
      i = skipSpace(bytes, i + 1)
      if (closing === CLOSE) i = nameEnd(bytes, i)
      if (i < 0) return i
      break
    }
  }
}

/** Where the value of a member begins whose name begins here. */
function nameEnd(bytes: Uint8Array, from: number): number {
  if (bytes[from] !== QUOTE) return ~from
  const end = stringEnd(bytes, from + 1)
  return end < 0 ? end : afterColon(bytes, end + 1)
}

/** Where the value of a member begins whose name ended here. */
export function afterColon(bytes: Uint8Array, from: number): number {
  const colon = skipSpace(bytes, from)
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : ~colon
}
