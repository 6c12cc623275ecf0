/** A part of a template: text, or the name of a reference with its position in the template. */
export type TemplatePart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reference'; readonly name: string; readonly start: number; readonly end: number }

/** An error of a template, with its character position. */
export interface TemplateError {
  readonly at: number
  readonly reason: string
}

/**
 * Reads a template: references in braces; a backslash escapes a brace or a backslash, also within a reference (R2RML, section
 * 7.3; RML-Core, "Templates").
 *
 * @returns its parts, without adjacent texts, or the first error
 */
export function readTemplate(template: string): readonly TemplatePart[] | TemplateError {
  const parts: TemplatePart[] = []
  let text = ''
  let open = -1
  for (let at = 0; at < template.length; at++) {
    const character = template[at] as string
    if (character === '\\') {
      const escaped = template[at + 1]
      if (escaped === undefined || !'\\{}'.includes(escaped))
        return { at, reason: 'a backslash is allowed only before {, } or another backslash' }
      text += escaped
      at += 1
    } else if (character === '{') {
      if (open >= 0) return { at, reason: 'a { was found within a reference; write \\{ for a brace' }
      if (text !== '') parts.push({ type: 'text', text })
      text = ''
      open = at
    } else if (character === '}') {
      if (open < 0) return { at, reason: 'a } closes no reference; write \\} for a brace' }
      if (text.trim() === '') return { at: open, reason: 'a reference is empty' }
      parts.push({ type: 'reference', name: text, start: open + 1, end: at })
      text = ''
      open = -1
    } else text += character
  }
  if (open >= 0) return { at: open, reason: 'a reference is not closed by }' }
  if (text !== '') parts.push({ type: 'text', text })
  return parts
}

/** Escapes text for a template, outside of references or within one. */
export function escapeTemplate(text: string): string {
  return text.replace(/[\\{}]/g, '\\$&')
}
