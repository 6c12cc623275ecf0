import { Fault } from '../errors.ts'
import type { DatasetRecord } from '../model/value.ts'
import { type Column, columnReader, RECORD_ID, valuesOf } from './columns.ts'
import type { Segment } from './ir.ts'

/** Most texts that one template makes of one record: several multivalued references multiply. */
export const MAX_EXPANSION = 1000

/** The texts of a template for a record; null where a reference has no value. */
export type Expander = (record: DatasetRecord) => string | readonly string[] | null

/** How a template is expanded. */
export interface ExpandOptions {
  /** What becomes of the values, not of what is constant. */
  readonly encode: (text: string) => string
  /** True where an empty value is no value: it would make one IRI of unrelated records. */
  readonly emptyIsNull: boolean
}

/** Reads one value of a template's reference; an array for several, null for none. */
type Reader = Expander

/**
 * Compiles a template to a function of a record (R2RML, section 7.3). Segments are joined, nothing is substituted, so
 * that no value is ever read as a template. Throws MappingInvalid for a reference that names no column.
 */
export function compileTemplate(
  segments: readonly Segment[],
  columns: readonly Column[],
  options: ExpandOptions,
): Expander {
  const [head, only, tail] = inner(segments)
  if (only === undefined) return () => head
  const read = segmentReader(only, columns, options)
  if (tail !== null) return single(head, read, tail)
  const parts = segments.map(segment =>
    segment.type === 'constant' ? segment.text : segmentReader(segment, columns, options),
  )
  return record => product(parts, record)
}

/** A template with one reference: what stands before it, the reference, what stands after it (null where there are more). */
function inner(segments: readonly Segment[]): [string, Segment | undefined, string | null] {
  const at = segments.findIndex(({ type }) => type !== 'constant')
  const constant = (part: readonly Segment[]) =>
    part.map(segment => (segment.type === 'constant' ? segment.text : '')).join('')
  if (at < 0) return [constant(segments), undefined, '']
  const rest = segments.slice(at + 1)
  const isLast = rest.every(({ type }) => type === 'constant')
  return [constant(segments.slice(0, at)), segments[at], isLast ? constant(rest) : null]
}

function single(head: string, read: Reader, tail: string): Expander {
  if (head === '' && tail === '') return read
  return record => {
    const value = read(record)
    if (value === null) return null
    return typeof value === 'string' ? head + value + tail : value.map(text => head + text + tail)
  }
}

function product(
  parts: readonly (string | Reader)[],
  record: DatasetRecord,
): string | readonly string[] | null {
  let made: string | readonly string[] = ''
  for (const part of parts) {
    const next: string | readonly string[] | null = typeof part === 'string' ? part : part(record)
    if (next === null) return null
    if (typeof made === 'string' && typeof next === 'string') made += next
    else made = joined(made, next)
  }
  return made
}

function joined(heads: string | readonly string[], tails: string | readonly string[]): readonly string[] {
  const made: string[] = []
  for (const head of typeof heads === 'string' ? [heads] : heads)
    for (const tail of typeof tails === 'string' ? [tails] : tails) {
      if (made.length === MAX_EXPANSION) return made
      made.push(head + tail)
    }
  return made
}

function segmentReader(segment: Segment, columns: readonly Column[], options: ExpandOptions): Reader {
  switch (segment.type) {
    case 'constant':
      return () => segment.text
    case 'recordId':
      return record => record.id
    case 'field':
      return fieldReader(segment.name, columns, options)
    default:
      return segment satisfies never
  }
}

function fieldReader(
  name: string,
  columns: readonly Column[],
  { encode, emptyIsNull }: ExpandOptions,
): Reader {
  const column = columnReader(columns, name)
  if (column === null) {
    if (name === RECORD_ID) return record => record.id
    throw new Fault('MappingInvalid', { reason: `$(${name}) names no field` })
  }
  const { index, several, text } = column
  const textOf = (value: Parameters<typeof text>[0]) => {
    const plain = text(value)
    return plain === null || (emptyIsNull && plain === '') ? null : encode(plain)
  }
  if (!several)
    return ({ values }) => {
      const value = values[index]
      return value === null || value === undefined ? null : textOf(value as Parameters<typeof text>[0])
    }
  return record => {
    const texts = valuesOf(column, record)
      .map(textOf)
      .filter(value => value !== null)
    return texts.length === 0 ? null : texts.length === 1 ? (texts[0] as string) : texts
  }
}
