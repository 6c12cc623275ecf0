import { BAD_REQUEST, Fault } from '../../errors/errors.ts'

/** Maximum characters of a line in an error. */
const SHOWN = 100

/**
 * The fault of a syntax error: the reason, line and column, the line and a caret under the position.
 *
 * @param at character offset into the text
 */
export function syntaxFault(text: string, at: number, reason: string): Fault {
  const { line, column, shown, caret } = placeOf(text, at)
  return new Fault(
    BAD_REQUEST,
    { reason: `Line ${line}, column ${column}: ${reason}\n${shown}\n${caret}^` },
    { place: { line, column, from: at, to: at + 1 } },
  )
}

/** The offset of a position that is given by line and column, both from 1. */
export function offsetOf(text: string, line: number, column: number): number {
  let start = 0
  for (let number = 1; number < line; number++) {
    const end = text.indexOf('\n', start)
    if (end < 0) break
    start = end + 1
  }
  // Columns count code points, which beyond the BMP are two UTF-16 units.
  const characters = [...text.slice(start, start + 2 * column)].slice(0, column - 1)
  return Math.min(text.length, start + characters.join('').length)
}

function placeOf(text: string, at: number) {
  const start = text.lastIndexOf('\n', at - 1) + 1
  const end = text.indexOf('\n', at)
  const line = text.slice(0, start).split('\n').length
  const before = text.slice(start, at)
  const from = Math.max(start, at - SHOWN / 2)
  const shown = text.slice(from, Math.min(end < 0 ? text.length : end, from + SHOWN)).replace(/\r$/, '')
  return {
    line,
    column: [...before].length + 1,
    shown: shown.replaceAll('\t', ' '),
    caret: ' '.repeat([...text.slice(from, at)].length),
  }
}
