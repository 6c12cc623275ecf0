import { nearest } from '../../model/did-you-mean.ts'
import type { Segment } from '../ir.ts'
import { type Location, type Reading, shownTerm, type TermContext, turtlePlaceOf } from './reading.ts'
import type { Property } from './turtle.ts'

/** A part of a template: text, or the name of a reference with its position in the template. */
type TemplatePart =
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

/** A reference as a segment; null if it is invalid. */
export function referenceSegments(
  { reading, at }: TermContext,
  property: Property,
): readonly Segment[] | null {
  const { object } = property
  if (object.type === 'literal' && object.value.trim() !== '')
    return [{ type: 'field', name: object.value, place: turtlePlaceOf({ ...at, span: property.objectSpan }) }]
  return reading.report(
    'reference-syntax',
    at,
    `${shownTerm(object)} is no reference: it takes the name of a field in quotes`,
  )
}

/** Characters that are not allowed in IRIs. */
const NOT_IN_IRI = /[\s<>"{}|\\^`]/

/** The segments of a template for a term of some type; null if it is invalid. */
export function templateSegments(
  { reading, role, at }: TermContext,
  property: Property,
  type: 'iri' | 'blank' | 'literal',
): readonly Segment[] | null {
  const { object, objectSpan } = property
  if (object.type !== 'literal')
    return reading.report(
      'reference-syntax',
      at,
      `${shownTerm(object)} is no template: it takes a text in quotes`,
    )
  const parts = readTemplate(object.value)
  const inside = (start: number, end: number) => ({ ...at, span: spanInside(property, start, end) })
  if (!Array.isArray(parts)) {
    const { at: index, reason } = parts as Exclude<typeof parts, readonly TemplatePart[]>
    return reading.report(
      'reference-syntax',
      inside(index, index + 1),
      `In the template ${shownTerm(object)}, ${reason}`,
    )
  }
  const bad = type === 'iri' ? (parts as readonly TemplatePart[]).find(hasBadCharacter) : undefined
  if (bad?.type === 'text') {
    const character = JSON.stringify(NOT_IN_IRI.exec(bad.text)?.[0])
    const message = `The template ${shownTerm(object)} of a ${role} has ${character}, which no IRI may have`
    return reading.report('iri-invalid-char', { ...at, span: objectSpan }, message)
  }
  return (parts as readonly TemplatePart[]).map(part =>
    part.type === 'text'
      ? { type: 'constant', text: part.text }
      : { type: 'field', name: part.name, place: turtlePlaceOf(inside(part.start, part.end)) },
  )
}

function hasBadCharacter(part: TemplatePart): boolean {
  return part.type === 'text' && NOT_IN_IRI.test(part.text)
}

/** The position of some characters of a literal; that of the whole literal if escapes shift them. */
function spanInside({ object, objectSpan }: Property, start: number, end: number): Property['objectSpan'] {
  const { line, column, endLine, endColumn } = objectSpan
  if (line !== endLine || endColumn - column !== object.value.length + 2) return objectSpan
  return { line, column: column + 1 + start, endLine, endColumn: column + 1 + end }
}

const SCHEME = /^([a-z][a-z0-9+.-]*):/i
const COMMON: readonly string[] = ['http', 'https', 'ftp']

/** Reports an IRI, or the beginning of a template, with a misspelt web scheme: `htp://`, `http//`. */
export function checkScheme(reading: Reading, at: Location, text: string): void {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase()
  const name = scheme ?? /^([a-z]+)\/\//i.exec(text)?.[1]?.toLowerCase()
  if (name === undefined) return
  const isCommon = COMMON.includes(name)
  if (scheme !== undefined && isCommon && /^[a-z]+:\/\/[^/?#]/i.test(text)) return
  const meant = isCommon ? name : nearest(name, COMMON)
  if (meant === undefined) return
  const message = `${JSON.stringify(text.slice(0, 80))} is hardly an address of the web`
  reading.report('iri-unusual', at, message, `Addresses of the web begin with ${meant}://`)
}

/** True if a text has a scheme, and so needs no base. */
export function hasScheme(text: string): boolean {
  return SCHEME.test(text)
}
