import { literalEnd } from '../../rdf/ntriples.ts'
import { XSD } from '../../rdf/vocab.ts'
import { MAX_CELL_LENGTH } from './row.ts'
import { type Around, type ByteTerm, copyEscaped } from './terms.ts'

const QUOTE = 34
const MINUS = 45
const POINT = 46
const ZERO = 48
const E = 69
const T = 116
const F = 102

/** Bytes that a double may need beyond its digits: `.0`, `E` and an exponent. */
const ROOM = 8

/**
 * Compiles the literal of a value as JSON has it: text as it is, booleans and integers with their datatype, other numbers as
 * doubles in canonical form (RML-IO registry, "JSON": natural datatypes).
 *
 * @param cell of the token: a string from its opening quote to before the closing one, a word, or a number in plain decimal notation
 * @param around what is written before and after the literal
 */
export function compileToken(cell: number, around: Around): ByteTerm {
  const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))
  const head = bytesOf(`${around.before}"`)
  const tails = {
    text: bytesOf(`"${around.after}`),
    boolean: bytesOf(literalEnd(XSD.boolean) + around.after),
    integer: bytesOf(literalEnd(XSD.integer) + around.after),
    double: bytesOf(literalEnd(XSD.double) + around.after),
  }
  const fixed = head.length + ROOM + Math.max(...Object.values(tails).map(({ length }) => length))
  return {
    cells: [cell],
    max: ({ starts, ends }) =>
      fixed + 2 * Math.min((ends[cell] as number) - (starts[cell] as number), MAX_CELL_LENGTH),
    write: ({ bytes, starts, ends }, target, at) => {
      const from = starts[cell] as number
      const to = ends[cell] as number
      if (from < 0 || to - from > MAX_CELL_LENGTH) return -1
      target.set(head, at)
      const begin = at + head.length
      const first = bytes[from]
      let tail = tails.integer
      let end: number
      if (first === QUOTE) {
        tail = tails.text
        end = copyEscaped(bytes, from + 1, to, target, begin)
        if (end < 0) return -1
      } else {
        const point = first === T || first === F ? -1 : pointIn(bytes, from, to)
        if (point >= 0) {
          tail = tails.double
          end = writeDouble(bytes, from, to, point, target, begin)
        } else {
          if (first === T || first === F) tail = tails.boolean
          end = begin
          for (let i = from; i < to; i++) target[end++] = bytes[i] as number
        }
      }
      target.set(tail, end)
      return end + tail.length
    },
  }
}

function pointIn(bytes: Uint8Array, from: number, to: number): number {
  for (let i = from; i < to; i++) if (bytes[i] === POINT) return i
  return -1
}

/** `12.5` as `1.25E1`: the first digit that is not zero, a point, and the other ones. */
function writeDouble(
  bytes: Uint8Array,
  from: number,
  to: number,
  point: number,
  target: Uint8Array,
  at: number,
): number {
  let end = at
  let i = from
  if (bytes[i] === MINUS) target[end++] = bytes[i++] as number
  while (bytes[i] === ZERO || bytes[i] === POINT) i++
  const exponent = i < point ? point - i - 1 : point - i
  target[end++] = bytes[i++] as number
  target[end++] = POINT
  const fraction = end
  for (; i < to; i++) if (bytes[i] !== POINT) target[end++] = bytes[i] as number
  if (end === fraction) target[end++] = ZERO
  target[end++] = E
  if (exponent < 0) target[end++] = MINUS
  const size = Math.abs(exponent)
  if (size >= 100) target[end++] = ZERO + Math.floor(size / 100)
  if (size >= 10) target[end++] = ZERO + (Math.floor(size / 10) % 10)
  target[end++] = ZERO + (size % 10)
  return end
}
