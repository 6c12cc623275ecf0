/** Reads CSV (RFC 4180) into rows of texts. */
export function parseCsv(text: string, delimiter: string): readonly (readonly string[])[] {
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (quoted) {
      if (character !== '"') cell += character
      else if (text.charAt(at + 1) === '"') {
        cell += '"'
        at += 1
      } else quoted = false
    } else if (character === '"' && cell === '') quoted = true
    else if (character === delimiter || character === '\r') {
      row.push(cell)
      cell = ''
      if (character === '\r') {
        rows.push(row)
        row = []
        at += 1
      }
    } else cell += character
  }
  return rows
}
