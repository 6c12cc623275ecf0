import type { Literal, Term } from '../../rdf/term.ts'
import { plain } from '../../sparql/cell-writer.ts'
import type { ResultRow, RowWriter } from '../../sparql/results.ts'

/** Rows that determine the column widths of a table; later ones may be wider. */
const ROWS_MEASURED = 100
/** Maximum characters of a cell. */
const WIDEST = 60

/** A readable table: the columns fit the first rows, numbers are right-aligned. */
export function tableRows(): RowWriter {
  let names: readonly string[] = []
  let buffered: ResultRow[] = []
  let widths: readonly number[] | null = null
  let numeric: readonly boolean[] = []
  const line = (cells: readonly string[]) =>
    `${cells
      .map((cell, at) => {
        const pad = ' '.repeat(Math.max(0, (widths?.[at] ?? 0) - widthOf(cell)))
        return numeric[at] === true ? pad + cell : cell + pad
      })
      .join('  ')
      .trimEnd()}\n`
  const begin = () => {
    const shown = buffered.map(row => row.map(shownTerm))
    numeric = names.map(
      (_, at) => buffered.length > 0 && buffered.every(row => row[at] === null || isNumber(row[at])),
    )
    widths = names.map((name, at) => Math.max(widthOf(name), ...shown.map(row => widthOf(row[at] ?? ''))))
    buffered = []
    const rule = widths.map(width => '─'.repeat(width)).join('  ')
    return `${line(names)}${rule}\n${shown.map(line).join('')}`
  }
  return {
    head: variables => {
      names = variables
      return ''
    },
    row: row => {
      if (widths !== null) return line(row.map(shownTerm))
      buffered.push(row)
      return buffered.length < ROWS_MEASURED ? '' : begin()
    },
    end: () => (widths === null ? begin() : ''),
  }
}

function shownTerm(term: Term | null): string {
  if (term === null) return ''
  if (isNumber(term) && /e/i.test(term.value)) return String(Number(term.value))
  const text = plain(term).replace(/\s+/g, ' ')
  const characters = [...text]
  return characters.length > WIDEST && term.type === 'literal'
    ? `${characters.slice(0, WIDEST - 1).join('')}…`
    : text
}

/** Terminal columns of a text: wide characters take two, combining marks none. */
function widthOf(text: string): number {
  let width = 0
  for (const character of text) {
    if (/\p{Mn}|\p{Me}|\p{Cf}/u.test(character)) continue
    width += /[ᄀ-ᅟ⺀-꓏가-힣豈-﫿︰-﹯＀-｠￠-￦]|\p{Emoji_Presentation}/u.test(character) ? 2 : 1
  }
  return width
}

function isNumber(term: Term | null | undefined): term is Literal {
  return term?.type === 'literal' && /#(?:integer|decimal|double|float|int|long)$/.test(term.datatype)
}
