import type { Segment } from '../ir.ts'
import type { Context } from './context.ts'
import { quoted, within, type YamlText } from './node.ts'

/** A part of a template with its position in the original text. */
type YarrrmlTemplatePart =
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
 * or are escaped, or only closing ones are: `$((a\))`. `$(\_x)` is the field `_x`, where `$(_x)` is an external value.
 */
function parseTemplate(text: string): Template {
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

function readReference(
  text: string,
  start: number,
  inPairs = true,
): Reference | { message: string; hint: string } {
  let name = ''
  let open = 0
  let hasEscapedEnd = false
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at)
    const next = text.charAt(at + 1)
    if (character === NO_BREAK_SPACE && at === start) name += '\\_'
    else if (character === '\\' && (next === '(' || next === ')' || (next === '_' && at === start))) {
      // The backslash is preserved if it makes an underscore part of the name: `$(_x)` has another meaning.
      name += next === '_' ? '\\_' : next
      hasEscapedEnd ||= next === ')'
      at += 1
    } else if (character === '$' && next === '(') {
      break
    } else if (character === ')' && open === 0) {
      return { name, end: at + 1 }
    } else {
      if (inPairs) open += character === '(' ? 1 : character === ')' ? -1 : 0
      name += character
    }
  }
  if (inPairs && hasEscapedEnd) return readReference(text, start, false)
  return {
    message: 'the reference that begins with $( is never closed',
    hint: 'A reference is written $(field). In a list between brackets a comma ends the text: put it in quotes.',
  }
}

const MAX_CHARACTERS = 10_000
const MAX_REFERENCES = 64

export interface Segments {
  readonly segments: readonly Segment[]
  readonly plainColon: boolean
}

/** The segments of a template, with external values inserted; null if it cannot be read, which is reported. */
export function segmentsOf(context: Context, node: YamlText): Segments | null {
  if (node.text.length > MAX_CHARACTERS) {
    const found = `the text has ${node.text.length} characters, at most ${MAX_CHARACTERS} are allowed`
    return context.report('limits', node, found)
  }
  const { parts, plainColon, problem } = parseTemplate(node.text)
  if (problem !== undefined) {
    const { from, to, message, hint } = problem
    return context.report('reference-syntax', within(node, from, to), message, hint)
  }
  if (!node.quoted && /^["']|["']$/.test(node.text)) {
    const found = `${quoted(node.text)} begins or ends with a quote that is part of the text`
    context.report('stray-quote', node, found, 'Put the whole text in quotes, or none of it.')
  }
  if (parts.filter(({ type }) => type === 'reference').length > MAX_REFERENCES)
    return context.report('limits', node, `the text has more than ${MAX_REFERENCES} references`)
  reportBraces(context, node, parts)
  const segments: Segment[] = []
  for (const part of parts) {
    const segment = segmentOf(context, node, part)
    const last = segments.at(-1)
    if (segment.type === 'constant' && last?.type === 'constant')
      segments[segments.length - 1] = { type: 'constant', text: last.text + segment.text }
    else segments.push(segment)
  }
  return { segments, plainColon }
}

function segmentOf(context: Context, node: YamlText, part: YarrrmlTemplatePart): Segment {
  if (part.type === 'constant') {
    reportForgotten(context, node, part)
    return { type: 'constant', text: part.text }
  }
  if (part.name.startsWith('_')) {
    const value = context.external.get(part.name.slice(1))
    if (value !== undefined) return { type: 'constant', text: value }
  }
  const name = part.name.replace(/^\\_/, '_')
  return { type: 'field', name, place: context.place(within(node, part.from, part.to)) }
}

/** `$name`, `$[name]`, `$name)` and `(name)` alone: probably references with a missing character. */
const FORGOTTEN = /\$[\p{L}_]|\$\[|^[([<]?[\p{L}_][\p{L}\p{N}_]*[)\]>]$|^[([][\p{L}_][\p{L}\p{N}_]*$/u

function reportForgotten(
  context: Context,
  node: YamlText,
  part: YarrrmlTemplatePart & { type: 'constant' },
): void {
  const found = FORGOTTEN.exec(part.text)
  const at = found?.index ?? unmatched(part.text)
  if (at < 0) return
  context.report(
    'looks-like-reference',
    within(node, part.from, part.to),
    `${quoted(part.text)} looks like a reference and is taken as text`,
    'The value of a field is written $(field).',
  )
}

const BRACES = /\$?(?<!\\)\{([\p{L}_][\p{L}\p{N}_.-]{0,100})\}/gu

/** Reports constants in the form of references of other languages: `{name}` (RML, R2RML), `${name}`. */
function reportBraces(context: Context, node: YamlText, parts: readonly YarrrmlTemplatePart[]): void {
  for (const { 0: found, 1: name, index } of node.text.matchAll(BRACES)) {
    const isConstant = parts.some(({ type, from, to }) => type === 'constant' && from <= index && index < to)
    if (!isConstant) continue
    context.report(
      'looks-like-reference',
      within(node, index, index + found.length),
      `${quoted(found)} looks like a reference and is taken as text`,
      `Write $(${name}) for the value of the field ${name}, or \\{ for a brace.`,
    )
  }
}

/** The position of a closing parenthesis without an opening one in a text without spaces. */
function unmatched(text: string): number {
  if (!/^\S*$/.test(text)) return -1
  let open = 0
  for (let at = 0; at < text.length; at++) {
    if (text.charAt(at) === '(') open++
    else if (text.charAt(at) === ')' && --open < 0) return /[\p{L}_]/u.test(text.charAt(at - 1)) ? at : -1
  }
  return -1
}
