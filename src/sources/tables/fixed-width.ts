import { unreadable } from '../source.ts'
import { fileNameOf, readText, type TextFile } from '../text/text.ts'
import type { Grid, GridRow } from './grid.ts'

/** Maximum characters of a line of a table of aligned columns. */
const MAX_LINE = 10_000

/** A ruler under the header, or between parts; isolated signs are values. */
const RULER = /^(?=.*[-=_+]{3})[\s\-=+|_]+$/

interface Line {
  readonly number: number
  readonly text: string
}

/**
 * The widths in characters of all columns but the last, `7, 14`, of a table whose columns are aligned with blanks: columns are
 * separated where every line has a blank. Null if there is no such position, because columns touch, or if a column has a value
 * only in the first line, as a title has.
 */
export async function alignedWidths(file: TextFile): Promise<string | null> {
  // 1 if only the first line has a value, 2 if a later one has.
  const used = new Uint8Array(MAX_LINE + 1)
  let isFirst = true
  let end = 0
  for await (const lines of readLines(file))
    for (const { text } of lines) {
      if (text.includes('\t')) return null
      for (let at = 0; at < text.length; at++) if (text[at] !== ' ') used[at] = isFirst ? 1 : 2
      end = Math.max(end, text.length)
      isFirst = false
    }
  const starts: number[] = []
  let isFilled = true
  for (let at = 0; at < end; at++) {
    if (used[at] === 0) continue
    if (at === 0 || used[at - 1] === 0) {
      if (!isFilled) return null
      starts.push(at)
      isFilled = false
    }
    if (used[at] === 2) isFilled = true
  }
  if (!isFilled) return null
  starts.shift()
  return starts.length === 0 ? null : starts.map((start, at) => start - (starts[at - 1] ?? 0)).join(', ')
}

/**
 * The rows of a table whose columns have fixed widths. Rulers, for example under a header, are left out. Throws SourceUnreadable,
 * with the position, for a value that extends into the next column.
 *
 * @param widths of all columns but the last: `7, 14`
 */
export function alignedGrid(file: TextFile, widths: string): Grid {
  let from = 0
  const starts = widths.split(',').map(width => (from += Number(width)))
  const cellsOf = ({ number, text }: Line): GridRow => {
    for (const start of starts)
      if (start < text.length && text[start - 1] !== ' ' && text[start] !== ' ')
        throw unreadable(
          `A value reaches from one column into the next at character ${start + 1}: a blank is expected before it.`,
          { file: fileNameOf(file), line: number, column: start },
          'Correct widths, the characters of each column but the last.',
        )
    return {
      line: number,
      cells: [0, ...starts].map((start, at) => text.slice(start, starts[at] ?? text.length).trim()),
    }
  }
  return {
    name: fileNameOf(file),
    textual: true,
    async *rows() {
      for await (const lines of readLines(file)) yield lines.map(cellsOf)
    },
  }
}

async function* readLines(file: TextFile): AsyncGenerator<readonly Line[]> {
  let rest = ''
  let number = 1
  const taken = (texts: readonly string[]): readonly Line[] =>
    texts.flatMap(text => {
      const line = { number: number++, text: text.trimEnd() }
      if (line.text.length > MAX_LINE)
        throw unreadable(
          `The line has more than ${MAX_LINE} characters.`,
          { file: fileNameOf(file), line: line.number, column: 1 },
          'Save it as CSV, with a comma or tab between the columns.',
        )
      return line.text === '' || RULER.test(line.text) ? [] : [line]
    })
  for await (const piece of readText(file)) {
    rest += piece
    // A carriage return at the end may be the first half of a line end.
    const end = rest.endsWith('\r') ? rest.length - 1 : rest.length
    const lines = rest.slice(0, end).split(/\r\n|\r|\n/)
    rest = (lines.pop() ?? '') + rest.slice(end)
    yield taken(lines)
    if (rest.length > 2 * MAX_LINE) yield taken([rest])
  }
  yield taken([rest])
}
