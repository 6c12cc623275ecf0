import type { Segment } from '../ir.ts'
import { reportReading, shownTerm, type TermContext, turtlePlaceOf } from './reading.ts'
import { readTemplate, type TemplatePart } from './template.ts'
import type { Property } from './turtle.ts'

/** A reference as a segment; null if it is invalid. */
export function referenceSegments(
  { reading, at }: TermContext,
  property: Property,
): readonly Segment[] | null {
  const { object } = property
  if (object.type === 'literal' && object.value.trim() !== '')
    return [{ type: 'field', name: object.value, place: turtlePlaceOf({ ...at, span: property.objectSpan }) }]
  reportReading(
    reading,
    'reference-syntax',
    at,
    `${shownTerm(object)} is no reference: it takes the name of a field in quotes`,
  )
  return null
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
  if (object.type !== 'literal') {
    reportReading(
      reading,
      'reference-syntax',
      at,
      `${shownTerm(object)} is no template: it takes a text in quotes`,
    )
    return null
  }
  const parts = readTemplate(object.value)
  const inside = (start: number, end: number) => ({ ...at, span: spanInside(property, start, end) })
  if (!Array.isArray(parts)) {
    const { at: index, reason } = parts as Exclude<typeof parts, readonly TemplatePart[]>
    reportReading(
      reading,
      'reference-syntax',
      inside(index, index + 1),
      `In the template ${shownTerm(object)}, ${reason}`,
    )
    return null
  }
  const bad = type === 'iri' ? (parts as readonly TemplatePart[]).find(hasBadCharacter) : undefined
  if (bad?.type === 'text') {
    const character = JSON.stringify(NOT_IN_IRI.exec(bad.text)?.[0])
    const message = `The template ${shownTerm(object)} of a ${role} has ${character}, which no IRI may have`
    reportReading(reading, 'iri-invalid-char', { ...at, span: objectSpan }, message)
    return null
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
