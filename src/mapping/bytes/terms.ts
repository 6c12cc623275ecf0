import { literalType } from '../../rdf/literals.ts'
import { isDirectedTag, literalEnd } from '../../rdf/ntriples.ts'
import { XSD } from '../../rdf/vocab.ts'
import type { Segment, TermMap } from '../ir.ts'
import { alwaysValid } from '../terms.ts'
import { type LexicalTest, lexicalTest } from './lexical.ts'
import { type ByteRow, MAX_CELL_LENGTH } from './row.ts'

/** Writes a term of N-Triples from the bytes of cells. */
export interface ByteTerm {
  /** Most bytes that the term of a row has. */
  readonly max: (row: ByteRow) => number
  /** Writes it and gives where it ends; -1 where it cannot: a value is absent, or not as simple as nearly all are. */
  readonly write: (row: ByteRow, target: Uint8Array, at: number) => number
  /** The cells that it is made of. */
  readonly cells: readonly number[]
}

/**
 * Compiles a term map that copies cells; null for one that does more. What it writes is what the term map's own writer
 * would write, literals with their text as it is.
 *
 * @param cellOf index of the cell of a reference; null for a reference that is no column
 * @param around what is written before and after the term
 */
export function compileByteTerm(
  term: TermMap,
  cellOf: (name: string) => number | null,
  around: Around = NOTHING,
): ByteTerm | null {
  const literal = (segments: readonly Segment[], end: string, test: LexicalTest | null) => {
    // A constant of a literal would have to be escaped as well; those of IRIs hold nothing to escape.
    if (segments.length !== 1 || segments[0]?.type === 'constant') return null
    return template(`${around.before}"`, segments, end + around.after, copyTested(test), cellOf)
  }
  switch (term.type) {
    case 'natural':
      return literal([{ type: 'field', name: term.field }], '"', null)
    case 'iri': {
      const isReference = term.segments.length === 1
      if (isReference || term.encode === 'none' || !alwaysValid(term.segments)) return null
      const { before, after } = around
      return template(`${before}<`, term.segments, `>${after}`, copyUnreserved, cellOf)
    }
    case 'blank':
      return null
    case 'literal': {
      const { segments, datatype, language } = term
      if (language !== undefined) {
        if (typeof language !== 'string' || !isDirectedTag(language)) return null
        return literal(segments, literalEnd(XSD.string, language), null)
      }
      if (datatype === undefined) return literal(segments, '"', null)
      if (typeof datatype !== 'string') return null
      const isChecked = literalType(datatype) !== null
      const test = isChecked ? lexicalTest(datatype) : null
      if (isChecked && (test === null || segments.length !== 1)) return null
      return literal(segments, literalEnd(datatype), test)
    }
    default:
      return term satisfies never
  }
}

/** Text of N-Triples around a term. */
export interface Around {
  readonly before: string
  readonly after: string
}

const NOTHING: Around = { before: '', after: '' }

type Copy = (source: Uint8Array, from: number, to: number, target: Uint8Array, at: number) => number

function copyTested(test: LexicalTest | null): Copy {
  if (test === null) return copyEscaped
  return (source, from, to, target, at) =>
    test(source, from, to) ? copyEscaped(source, from, to, target, at) : -1
}

/** Most bytes that one byte of a cell becomes. */
const MAX_ESCAPED = 2

function template(
  begin: string,
  segments: readonly Segment[],
  end: string,
  copy: Copy,
  cellOf: (name: string) => number | null,
): ByteTerm | null {
  const cells: number[] = []
  const constants: string[] = [begin]
  for (const segment of segments) {
    if (segment.type === 'constant') constants.push((constants.pop() ?? '') + segment.text)
    else {
      const cell = segment.type === 'field' ? cellOf(segment.name) : null
      if (cell === null) return null
      cells.push(cell)
      constants.push('')
    }
  }
  constants.push(`${constants.pop() ?? ''}${end}`)
  const [head = new Uint8Array(), ...tails] = constants.map(text => new Uint8Array(Buffer.from(text)))
  const fixed = head.length + tails.reduce((sum, tail) => sum + tail.length, 0)
  const [only, ...others] = cells
  const [tail] = tails
  if (only !== undefined && tail !== undefined && others.length === 0)
    return ofOneCell(head, only, tail, copy)
  const max = ({ starts, ends }: ByteRow) => {
    let sum = fixed
    for (const cell of cells)
      sum += MAX_ESCAPED * Math.min((ends[cell] as number) - (starts[cell] as number), MAX_CELL_LENGTH)
    return sum
  }
  const write = ({ bytes, starts, ends }: ByteRow, target: Uint8Array, at: number) => {
    target.set(head, at)
    let end = at + head.length
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i] as number
      const from = starts[cell] as number
      const to = ends[cell] as number
      if (from < 0 || to - from > MAX_CELL_LENGTH) return -1
      end = copy(bytes, from, to, target, end)
      if (end < 0) return -1
      const tail = tails[i] as Uint8Array
      target.set(tail, end)
      end += tail.length
    }
    return end
  }
  return { max, write, cells }
}

/** Nearly every term is of one cell. */
function ofOneCell(head: Uint8Array, cell: number, tail: Uint8Array, copy: Copy): ByteTerm {
  const fixed = head.length + tail.length
  return {
    cells: [cell],
    max: ({ starts, ends }) =>
      fixed + MAX_ESCAPED * Math.min((ends[cell] as number) - (starts[cell] as number), MAX_CELL_LENGTH),
    write: ({ bytes, starts, ends }, target, at) => {
      const from = starts[cell] as number
      const to = ends[cell] as number
      if (from < 0 || to - from > MAX_CELL_LENGTH) return -1
      target.set(head, at)
      const end = copy(bytes, from, to, target, at + head.length)
      if (end < 0) return -1
      target.set(tail, end)
      return end + tail.length
    },
  }
}

const QUOTE = 34
const BACKSLASH = 92

/** 0 for bytes of text that stand for themselves in a literal, a letter for those with a name, 1 for all others. */
const LITERAL_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const named: Readonly<Record<number, string>> = {
    [QUOTE]: '"',
    [BACKSLASH]: '\\',
    9: 't',
    10: 'n',
    13: 'r',
  }
  const name = named[byte]
  if (name !== undefined) return name.charCodeAt(0)
  // 0xEF begins U+FFFE and U+FFFF, among others.
  return byte < 32 || byte === 127 || byte === 0xef ? 1 : 0
})

/** Copies the text of a literal; -1 for what it takes more for than a backslash. */
export function copyEscaped(
  source: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
): number {
  let end = at
  for (let i = from; i < to; i++) {
    const byte = source[i] as number
    const letter = LITERAL_BYTES[byte] as number
    if (letter === 0) target[end++] = byte
    else if (letter === 1) return -1
    else {
      target[end++] = BACKSLASH
      target[end++] = letter
    }
  }
  return end
}

/** The unreserved characters of URIs (RFC 3986, section 2.3). */
const UNRESERVED_BYTES = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9\-._~]/.test(String.fromCharCode(byte)) && byte < 128 ? 1 : 0,
)

/** An empty value makes no IRI. */
function copyUnreserved(
  source: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
): number {
  let end = at
  for (let i = from; i < to; i++) {
    const byte = source[i] as number
    if (UNRESERVED_BYTES[byte] !== 1) return -1
    target[end++] = byte
  }
  return to === from ? -1 : end
}
