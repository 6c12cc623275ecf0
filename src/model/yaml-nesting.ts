/** Maximum nesting of YAML: documents of publishers have ten levels or fewer. */
export const MAX_NESTED = 60

/**
 * Offset at which brackets, dashes or indentation of a YAML text nest too deep; null where they do not. Check before parsing: the
 * stacks of the parser and of its regular expressions overflow at some thousand levels, which ends the process.
 */
export function nestedTooDeep(text: string): number | null {
  let brackets = 0
  let lineStart = 0
  let indents: number[] = []
  let dashes = 0
  let begun = false
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '\n') {
      lineStart = at + 1
      dashes = 0
      begun = false
    } else if (!begun && character !== ' ' && character !== '\t') {
      if ((character === '-' || character === '?') && /\s/.test(text.charAt(at + 1))) dashes++
      else begun = true
      if (begun || dashes === 1) {
        const indent = at - lineStart
        indents = indents.filter(known => known < indent)
        indents.push(indent)
      }
    }
    if (character === '[' || character === '{') brackets++
    else if (character === ']' || character === '}') brackets = Math.max(0, brackets - 1)
    if (brackets > MAX_NESTED || dashes > MAX_NESTED || indents.length > MAX_NESTED) return at
  }
  return null
}
