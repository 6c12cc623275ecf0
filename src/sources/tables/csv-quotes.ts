/** What separates and quotes the cells of a line. */
export interface CellSigns {
  readonly delimiter: number
  readonly quote: string
  /** True if quotes may follow blanks, as in `a, "b"`. */
  readonly isSpaced: boolean
}

/**
 * Ends a quoted cell where text follows one of its quotes: at the quote that closes it on the same line, else at the delimiter,
 * where the text after the quote belongs to the cell.
 *
 * @param cell its text up to the quote
 * @param rest the line after the quote
 */
export function strayEnd(
  cell: string,
  rest: string,
  signs: CellSigns,
): { readonly text: string; readonly end: number; readonly isClosed: boolean } {
  const { quote, delimiter } = signs
  const closed = closingQuote(rest, signs, isOpening(cell.at(-1), rest.charAt(0)))
  if (closed >= 0) {
    const text = cell + quote + undoubled(rest.slice(0, closed - 1), quote)
    return { text, end: afterBlanks(rest, closed, delimiter), isClosed: true }
  }
  const found = rest.indexOf(String.fromCharCode(delimiter))
  const end = found < 0 ? rest.length : found
  return { text: cell + rest.slice(0, end), end, isClosed: false }
}

/**
 * Finds the end of a quoted cell whose quotes are not doubled, as in `"Le "Grand" Hotel",1`: the offset after the quote that closes
 * it, which is the first one before a delimiter or the line end unless it closes a quotation within the cell. -1 if there is none
 * before the quote of another cell.
 *
 * @param rest the line after the first quote that text follows
 * @param isQuotation whether that quote opens a quotation
 */
export function closingQuote(rest: string, signs: CellSigns, isQuotation: boolean): number {
  const { quote } = signs
  let depth = isQuotation ? 1 : 0
  let first = -1
  for (let at = rest.indexOf(quote); at >= 0; ) {
    let end = at + 1
    while (rest.charAt(end) === quote) end++
    if (at > 0 && opensCell(rest, at, signs)) break
    if (endsCell(rest, end, signs)) {
      // Of two quotes the first closes the quotation, the second the cell.
      if (depth === 0 || (end - at) % 2 === 0) return end
      if (first < 0) first = end
      depth--
    } else if (isOpening(rest.charAt(at - 1), rest.charAt(end))) depth++
    else if (depth > 0) depth--
    at = rest.indexOf(quote, end)
  }
  return first
}

/** True if a quote at a position is the first character of a cell. */
export function opensCell(text: string, at: number, { delimiter, isSpaced }: CellSigns): boolean {
  let i = at - 1
  while (isSpaced && text.charCodeAt(i) === 32) i--
  const code = text.charCodeAt(i)
  return code === delimiter || code === 10 || code === 13
}

function endsCell(text: string, at: number, { delimiter }: CellSigns): boolean {
  const end = afterBlanks(text, at, delimiter)
  return end === text.length || text.charCodeAt(end) === delimiter
}

/** True if a quote between two characters opens a quotation, unlike one that closes it and one for inches. */
function isOpening(before: string | undefined, after: string): boolean {
  return /^[^\p{L}\p{N}\p{P}]?$|^[([{<\-/'\u2019\u00ab]$/u.test(before ?? '') && /\S/.test(after)
}

/** The offset of the first quote that is not doubled; -1 if there is none. */
export function singleQuote(text: string, from: number, quote: string): number {
  let found = text.indexOf(quote, from)
  while (found >= 0 && text.startsWith(quote, found + 1)) found = text.indexOf(quote, found + 2)
  return found
}

/** A text in which doubled quotes are single ones, joined at once: a string that grows by each needs many times its memory. */
export function undoubled(text: string, quote: string): string {
  const pair = quote + quote
  return text.includes(pair) ? text.split(pair).join(quote) : text
}

/** The offset of the next line end, at most a given one. */
export function lineEnd(text: string, from: number, limit: number): number {
  const end = Math.min(text.length, limit)
  for (let i = from; i < end; i++) {
    const code = text.charCodeAt(i)
    if (code === 10 || code === 13) return i
  }
  return end
}

/** Finds line ends as {@link lineEnd}, from increasing positions of a text: what was searched is not searched again. */
export class LineEnds {
  /** No line end is in this text from one position up to the other. */
  private searched = { text: '', from: 0, to: 0 }

  next(text: string, from: number, limit: number): number {
    const { searched } = this
    const isKnown = searched.text === text && searched.from <= from && from <= searched.to
    const to = lineEnd(text, isKnown ? searched.to : from, limit)
    this.searched = { text, from: isKnown ? searched.from : from, to }
    return to
  }
}

/** The offset of the first character from a position on that is no blank, or the delimiter. */
export function afterBlanks(text: string, from: number, delimiter: number): number {
  let i = from
  while (delimiter !== 32 && text.charCodeAt(i) === 32) i++
  return i
}
