import type { Segment } from '../ir.ts'
import type { Context } from './context.ts'
import { quoted, within, type YamlText } from './node.ts'
import { parseTemplate, type YarrrmlTemplatePart } from './template.ts'

const MAX_CHARACTERS = 10_000
const MAX_REFERENCES = 64

export interface Segments {
  readonly segments: readonly Segment[]
  readonly plainColon: boolean
}

/** The segments of a template, with external values inserted; null if it cannot be read, which is reported. */
export function segmentsOf(context: Context, node: YamlText, path: string): Segments | null {
  if (node.text.length > MAX_CHARACTERS) {
    const found = `the text has ${node.text.length} characters, at most ${MAX_CHARACTERS} are allowed`
    context.diagnostics.report('limits', node.span, path, found)
    return null
  }
  const { parts, plainColon, problem } = parseTemplate(node.text)
  if (problem !== undefined) {
    const { from, to, message, hint } = problem
    context.diagnostics.report('reference-syntax', within(node, from, to), path, message, hint)
    return null
  }
  if (!node.quoted && /^["']|["']$/.test(node.text)) {
    const found = `${quoted(node.text)} begins or ends with a quote that is part of the text`
    context.diagnostics.report(
      'stray-quote',
      node.span,
      path,
      found,
      'Put the whole text in quotes, or none of it.',
    )
  }
  if (parts.filter(({ type }) => type === 'reference').length > MAX_REFERENCES) {
    const found = `the text has more than ${MAX_REFERENCES} references`
    context.diagnostics.report('limits', node.span, path, found)
    return null
  }
  reportBraces(context, node, path, parts)
  const segments: Segment[] = []
  for (const part of parts) {
    const segment = segmentOf(context, node, path, part)
    const last = segments.at(-1)
    if (segment.type === 'constant' && last?.type === 'constant')
      segments[segments.length - 1] = { type: 'constant', text: last.text + segment.text }
    else segments.push(segment)
  }
  return { segments, plainColon }
}

function segmentOf(context: Context, node: YamlText, path: string, part: YarrrmlTemplatePart): Segment {
  if (part.type === 'constant') {
    reportForgotten(context, node, path, part)
    return { type: 'constant', text: part.text }
  }
  if (part.name.startsWith('_')) {
    const value = context.external.get(part.name.slice(1))
    if (value !== undefined) return { type: 'constant', text: value }
  }
  const name = part.name.replace(/^\\_/, '_')
  return { type: 'field', name, place: context.diagnostics.place(within(node, part.from, part.to), path) }
}

/** `$name`, `$[name]`, `$name)` and `(name)` alone: probably references with a missing character. */
const FORGOTTEN = /\$[\p{L}_]|\$\[|^[([<]?[\p{L}_][\p{L}\p{N}_]*[)\]>]$|^[([][\p{L}_][\p{L}\p{N}_]*$/u

function reportForgotten(
  context: Context,
  node: YamlText,
  path: string,
  part: YarrrmlTemplatePart & { type: 'constant' },
): void {
  const found = FORGOTTEN.exec(part.text)
  const at = found?.index ?? unmatched(part.text)
  if (at < 0) return
  context.diagnostics.report(
    'looks-like-reference',
    within(node, part.from, part.to),
    path,
    `${quoted(part.text)} looks like a reference and is taken as text`,
    'The value of a field is written $(field).',
  )
}

const BRACES = /\$?(?<!\\)\{([\p{L}_][\p{L}\p{N}_.-]{0,100})\}/gu

/** Reports constants in the form of references of other languages: `{name}` (RML, R2RML), `${name}`. */
function reportBraces(
  context: Context,
  node: YamlText,
  path: string,
  parts: readonly YarrrmlTemplatePart[],
): void {
  for (const { 0: found, 1: name, index } of node.text.matchAll(BRACES)) {
    const isConstant = parts.some(({ type, from, to }) => type === 'constant' && from <= index && index < to)
    if (!isConstant) continue
    context.diagnostics.report(
      'looks-like-reference',
      within(node, index, index + found.length),
      path,
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
