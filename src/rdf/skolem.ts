import { BLANK_LABEL } from './ntriples.ts'

const LABEL = new RegExp(`_:(${BLANK_LABEL})`, 'uy')
const NEXT = /[<"#]|_:|\n/g

/**
 * Replaces the blank nodes of N-Triples or N-Quads (RDF 1.2 N-Triples, section 2), even in malformed text: IRIs, literals and
 * comments are skipped, everything but blank nodes stays unchanged. Linear time.
 *
 * @param name returns the replacement for the blank node with a label
 */
export function replaceBlankNodes(text: string, name: (label: string) => string): string {
  if (!text.includes('_:')) return text
  let replaced = ''
  let done = 0
  NEXT.lastIndex = 0
  for (let found = NEXT.exec(text); found !== null; found = NEXT.exec(text)) {
    const at = found.index
    switch (found[0]) {
      case '<':
        // The brackets of a triple term have terms within.
        if (text[at + 1] === '<') NEXT.lastIndex = at + 2
        else NEXT.lastIndex = endOf(text, '>', at)
        break
      case '"':
        NEXT.lastIndex = literalEnd(text, at)
        break
      case '#':
        NEXT.lastIndex = endOf(text, '\n', at)
        break
      case '_:': {
        LABEL.lastIndex = at
        const label = LABEL.exec(text)?.[1]
        if (label === undefined) break
        replaced += text.slice(done, at) + name(label)
        done = at + 2 + label.length
        NEXT.lastIndex = done
        break
      }
    }
  }
  return replaced + text.slice(done)
}

/** Position after the next occurrence of a character in the same line, else of the end of the line. */
function endOf(text: string, character: string, at: number): number {
  for (let next = at + 1; next < text.length; next++)
    if (text[next] === character || text[next] === '\n') return next + 1
  return text.length
}

function literalEnd(text: string, at: number): number {
  for (let next = at + 1; next < text.length; next++) {
    const character = text[next]
    if (character === '\\') next++
    else if (character === '"' || character === '\n') return next + 1
  }
  return text.length
}
