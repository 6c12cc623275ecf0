/** State of a reader within a number of JSON (RFC 8259, section 6), named after the part that was read last. */
export type NumberState =
  | 'minus'
  | 'zero'
  | 'integer'
  | 'dot'
  | 'fraction'
  | 'e'
  | 'exponent sign'
  | 'exponent'

const MINUS = 45
const PLUS = 43
const DOT = 46
const ZERO = 48

/** The state after one more character; undefined if it is no part of the number. */
export function afterNumeral(state: NumberState, code: number): NumberState | undefined {
  const digit = isDigitByte(code)
  switch (state) {
    case 'minus':
      return code === ZERO ? 'zero' : digit ? 'integer' : undefined
    case 'integer':
      return digit ? 'integer' : afterInteger(code)
    case 'zero':
      return afterInteger(code)
    case 'dot':
    case 'fraction':
      return digit ? 'fraction' : state === 'fraction' && isE(code) ? 'e' : undefined
    case 'e':
      return digit ? 'exponent' : code === MINUS || code === PLUS ? 'exponent sign' : undefined
    case 'exponent sign':
    case 'exponent':
      return digit ? 'exponent' : undefined
    default:
      return state satisfies never
  }
}

/** True for a state in which a number may end. */
export function isWholeNumber(state: string): boolean {
  return state === 'zero' || state === 'integer' || state === 'fraction' || state === 'exponent'
}

/** True if a state of a JSON reader is within a number. */
export function isNumberState(state: string): state is NumberState {
  return isWholeNumber(state) || UNFINISHED.includes(state)
}

/** True for the code of a digit, 0 to 9. */
export function isDigitByte(code: number): boolean {
  return code >= ZERO && code <= 57
}

const UNFINISHED: readonly string[] = ['minus', 'dot', 'e', 'exponent sign']

function afterInteger(code: number): NumberState | undefined {
  return code === DOT ? 'dot' : isE(code) ? 'e' : undefined
}

function isE(code: number): boolean {
  return code === 101 || code === 69
}
