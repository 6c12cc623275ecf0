/** A part of a template with its position in the original text. */
export type YarrrmlTemplatePart =
  | { readonly type: 'constant'; readonly text: string; readonly from: number; readonly to: number }
  | { readonly type: 'reference'; readonly name: string; readonly from: number; readonly to: number }

export interface TemplateProblem {
  readonly message: string
  readonly hint?: string
  readonly from: number
  readonly to: number
}

export interface Template {
  readonly parts: readonly YarrrmlTemplatePart[]
  /** True if the first colon is escaped, so that no prefix precedes it. */
  readonly plainColon: boolean
  readonly problem?: TemplateProblem
}

/** Characters that a backslash escapes (YARRRML, "Template"); before any other it is a literal backslash. */
export const ESCAPABLE = '$(){}:~'

/**
 * Reads a template: constant text and references `$(field)`, in one pass. Parentheses inside a reference come in pairs
 * or are escaped; `$(\_x)` is the field `_x`, where `$(_x)` is an external value.
 */
export function parseTemplate(text: string): Template {
  const parts: YarrrmlTemplatePart[] = []
  let constant = ''
  let from = 0
  let plainColon = false
  let hasColon = false
  const close = (to: number) => {
    if (constant !== '') parts.push({ type: 'constant', text: constant, from, to })
    constant = ''
  }
  for (let at = 0; at < text.length; ) {
    const character = text.charAt(at)
    const next = text.charAt(at + 1)
    if (character === '\\' && next !== '' && ESCAPABLE.includes(next)) {
      if (next === ':' && !hasColon) plainColon = true
      constant += next
      at += 2
    } else if (character === '$' && next === '(') {
      close(at)
      const reference = readReference(text, at + 2)
      if ('message' in reference)
        return { parts, plainColon, problem: { ...reference, from: at, to: text.length } }
      if (reference.name === '')
        return {
          parts,
          plainColon,
          problem: {
            message: 'the reference $() names no field',
            hint: 'Write the field between the parentheses: $(name).',
            from: at,
            to: reference.end,
          },
        }
      parts.push({ type: 'reference', name: reference.name, from: at, to: reference.end })
      at = reference.end
      from = at
    } else {
      if (character === ':') hasColon = true
      constant += character
      at += 1
    }
  }
  close(text.length)
  return { parts, plainColon }
}

interface Reference {
  readonly name: string
  readonly end: number
}

/** The YAML value of `\_` in double quotes. */
const NO_BREAK_SPACE = '\u00a0'

function readReference(text: string, start: number): Reference | { message: string; hint: string } {
  let name = ''
  let open = 0
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at)
    const next = text.charAt(at + 1)
    if (character === NO_BREAK_SPACE && at === start) name += '\\_'
    else if (character === '\\' && (next === '(' || next === ')' || (next === '_' && at === start))) {
      // The backslash is preserved if it makes an underscore part of the name: `$(_x)` has another meaning.
      name += next === '_' ? '\\_' : next
      at += 1
    } else if (character === '$' && next === '(') {
      break
    } else if (character === ')' && open === 0) {
      return { name, end: at + 1 }
    } else {
      open += character === '(' ? 1 : character === ')' ? -1 : 0
      name += character
    }
  }
  return {
    message: 'the reference that begins with $( is never closed',
    hint: 'A reference is written $(field). In a list between brackets a comma ends the text: put it in quotes.',
  }
}
