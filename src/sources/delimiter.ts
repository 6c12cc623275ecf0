/** Delimiters that are looked for, the likeliest first. */
export const DELIMITERS: readonly string[] = [',', ';', '\t', '|']

/** Lines that are enough to tell the delimiter. */
const LINES = 20

/** Characters that are enough where lines are very long. */
export const SNIFFED_CHARACTERS = 65_536

/**
 * Tells the delimiter of a CSV text from its first lines, outside quotes: the one that the header has and that most
 * lines have equally often; between equals the more frequent one. A comma where none fits.
 */
export function sniffDelimiter(head: string): string {
  const lines = countByLine(head)
  const header = lines[0]
  let best: { readonly delimiter: string; readonly equal: number; readonly count: number } | undefined
  for (const [index, delimiter] of DELIMITERS.entries()) {
    const count = header?.[index] ?? 0
    const counts = lines.map(line => line[index] ?? 0)
    if (count === 0 || counts.some(other => other > count)) continue
    const equal = counts.filter(other => other === count).length
    if (best === undefined || equal > best.equal || (equal === best.equal && count > best.count))
      best = { delimiter, equal, count }
  }
  return best?.delimiter ?? ','
}

/** True where a text has lines enough to tell its delimiter. */
export function isEnoughToSniff(head: string): boolean {
  return head.length >= SNIFFED_CHARACTERS || countByLine(head).length > LINES
}

/** How often each delimiter stands outside quotes, line by line; the last line only where it is complete or alone. */
function countByLine(head: string): number[][] {
  const lines: number[][] = []
  let counts = DELIMITERS.map(() => 0)
  let quoted = false
  let atCellStart = true
  let blank = true
  for (let i = 0; i < head.length && lines.length <= LINES; i++) {
    const character = head.charAt(i)
    if (quoted) {
      if (character !== '"') continue
      if (head[i + 1] === '"') i++
      else quoted = false
      continue
    }
    if (character === '\n' || character === '\r') {
      if (!blank) lines.push(counts)
      counts = DELIMITERS.map(() => 0)
      atCellStart = blank = true
      continue
    }
    blank = false
    const delimiter = DELIMITERS.indexOf(character)
    if (delimiter >= 0) counts[delimiter] = (counts[delimiter] ?? 0) + 1
    quoted = character === '"' && atCellStart
    atCellStart = delimiter >= 0
  }
  if (lines.length === 0 && !blank) lines.push(counts)
  return lines
}
