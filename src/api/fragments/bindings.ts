import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { tripleTerm, withLowerCaseTags } from '../../rdf/ntriples.ts'
import { parseTerm } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import { XSD } from '../../rdf/vocab.ts'

/** Rows of bindings that restrict a fragment (brTPF): a term for each variable, undefined for UNDEF. */
export interface Bindings {
  /** Names without their question marks. */
  readonly variables: readonly string[]
  readonly rows: readonly (readonly (Term | undefined)[])[]
}

const MAX_ROWS = 500
/** A pattern has at most three variables, but clients send those of all their bindings. */
const MAX_VARIABLES = 64
/** Maximum triple terms within one another: writing them takes the square of their number. */
const MAX_NESTED = 50
/** What Comunica sends in the only row of a request without bindings. */
const NO_BINDINGS = 'ex:comunica:unknown'

/**
 * Reads the `values` of a request: SPARQL's inline data without the word VALUES (SPARQL 1.1 Query, section 10.2.2), for
 * example `(?s ?o) { (<http://a> "x"@en) (UNDEF 5) }`. There are no prefixes. A row with too few terms
 * is no fault: clients write nothing for the default graph, so that it is unknown which terms are missing, and the row
 * restricts nothing. Throws BadRequest with the position.
 */
export function parseBindings(text: string): Bindings {
  const reader = new Reader(text)
  const isSingle = !reader.takes('(')
  const variables: string[] = []
  while (isSingle ? variables.length === 0 : !reader.takes(')')) {
    const name = reader.match(VARIABLE)
    if (name === null) throw reader.refuse(isSingle ? '( or a variable' : 'a variable or )')
    variables.push(name.slice(1))
    if (variables.length > MAX_VARIABLES) throw reader.refuse(`at most ${MAX_VARIABLES} variables`)
  }
  if (!reader.takes('{')) throw reader.refuse('{')
  const rows: (readonly (Term | undefined)[])[] = []
  for (let read = 0; !reader.takes('}'); ) {
    const row = isSingle ? [reader.value('a term, UNDEF or }')] : readRow(reader, variables.length)
    if (++read > MAX_ROWS) throw reader.refuse(`at most ${MAX_ROWS} rows`)
    if (row.length === variables.length) rows.push(row)
    else if (row[0]?.value !== NO_BINDINGS) rows.push(variables.map(() => undefined))
  }
  if (!reader.isAtEnd()) throw reader.refuse('the end')
  return { variables, rows }
}

function readRow(reader: Reader, width: number): readonly (Term | undefined)[] {
  if (!reader.takes('(')) throw reader.refuse('( or }')
  const row: (Term | undefined)[] = []
  while (!reader.takes(')')) {
    if (row.length === width) throw reader.refuse(`) after ${width} terms`)
    row.push(reader.value('a term, UNDEF or )'))
  }
  return row
}

const SPACE = /[ \t\r\n]*/y
const VARIABLE = /[?$][\p{L}\p{N}_][\p{L}\p{N}\p{M}_\u00b7]*/uy
const UNDEF = /UNDEF(?![\p{L}\p{N}_])/iuy
const IRI = /<[^<>"{}|^`\s]*>/y
const QUOTED = /"[^"\\\n\r]*(?:\\.[^"\\\n\r]*)*"|'[^'\\\n\r]*(?:\\.[^'\\\n\r]*)*'/y
/** A string in three quotes, which may have line breaks and quotes (SPARQL 1.1 Query, section 19.8). */
const LONG = /"""(?:"{0,2}(?:[^"\\]|\\.))*"""|'''(?:'{0,2}(?:[^'\\]|\\.))*'''/y
const LANGUAGE = /@[A-Za-z]+(?:-[A-Za-z0-9]+)*(?:--(?:ltr|rtl))?/y
const DATATYPE = /\^\^<[^<>"{}|^`\s]*>/y
const NUMBER = /[+-]?(?:\d+(?:\.\d*[eE][+-]?\d+|[eE][+-]?\d+|\.\d+)?|\.\d+(?:[eE][+-]?\d+)?)/y
const BOOLEAN = /(?:true|false)(?![\p{L}\p{N}_])/uy
/** Around a triple term of SPARQL 1.2, and of Comunica. */
const OPENING = /<<\(?/y
const CLOSING = /\)>>/y
const OLD_CLOSING = />>/y
const BLANK = /_:[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_\u00b7-]|\.(?=[\p{L}\p{N}\p{M}_\u00b7-]))*/uy

/** A position in the text that only advances, so that a text is read in linear time. */
class Reader {
  private readonly text: string
  private at = 0

  constructor(text: string) {
    this.text = text
    this.match(SPACE)
  }

  isAtEnd(): boolean {
    return this.at >= this.text.length
  }

  takes(character: string): boolean {
    if (this.text[this.at] !== character) return false
    this.at++
    this.skip()
    return true
  }

  /** The text that a sticky expression finds here, and what follows it; null if it finds none. */
  match(expression: RegExp, isLast = true): string | null {
    expression.lastIndex = this.at
    const found = expression.exec(this.text)?.[0] ?? null
    if (found === null) return null
    this.at += found.length
    if (isLast) this.skip()
    return found
  }

  value(expected: string): Term | undefined {
    return this.match(UNDEF) === null ? this.constant(expected, 0) : undefined
  }

  private constant(expected: string, depth: number): Term {
    const start = this.at
    const opening = this.match(OPENING)
    if (opening !== null) return this.triple(opening === '<<' ? OLD_CLOSING : CLOSING, depth + 1)
    const term = this.term()
    if (term === null) throw this.refuse(expected)
    const iri = term.type === 'iri' ? term.value : term.type === 'literal' ? term.datatype : null
    if (iri === null || isIri(iri)) return withLowerCaseTags(term)
    this.at = start
    throw this.refuse('an absolute IRI')
  }

  refuse(expected: string): Fault {
    const rest = this.text.slice(this.at, this.at + 40)
    const found = rest === '' ? 'the end' : rest
    const reason = `values: ${found} was found at character ${this.at + 1} but ${expected} is expected.`
    return new Fault(BAD_REQUEST, { reason })
  }

  private triple(closing: RegExp, depth: number): Term {
    if (depth > MAX_NESTED) throw this.refuse(`at most ${MAX_NESTED} nested triple terms`)
    const subject = this.constant('an IRI', depth)
    const predicate = this.constant('an IRI', depth)
    const object = this.constant('a term', depth)
    if (this.match(closing) === null) throw this.refuse('the end of a triple term')
    if ((subject.type === 'iri' || subject.type === 'blank') && predicate.type === 'iri')
      return tripleTerm(subject, predicate, object)
    throw this.refuse('a triple term with an IRI as subject and predicate before it')
  }

  private term(): Term | null {
    const start = this.at
    const inner = this.match(LONG, false)?.slice(3, -3) ?? this.match(QUOTED, false)?.slice(1, -1)
    if (inner !== undefined) {
      const end = this.match(LANGUAGE) ?? this.match(DATATYPE) ?? ''
      this.skip()
      return this.unescaped(`"${inner.replace(/\\.|["\n\r]/g, escaped)}"${end}`, start)
    }
    const iri = this.match(IRI)
    if (iri !== null) return this.unescaped(iri, start)
    const blank = this.match(BLANK)
    if (blank !== null) return { type: 'blank', value: blank.slice(2) }
    const value = this.match(BOOLEAN)
    if (value !== null) return { type: 'literal', value, datatype: XSD.boolean, language: '' }
    const number = this.match(NUMBER)
    if (number === null) return null
    const datatype = /[eE]/.test(number) ? XSD.double : number.includes('.') ? XSD.decimal : XSD.integer
    return { type: 'literal', value: number, datatype, language: '' }
  }

  private unescaped(text: string, start: number): Term {
    try {
      return parseTerm(text)
    } catch {
      this.at = start
      throw this.refuse('a term with known escapes')
    }
  }

  private skip(): void {
    SPACE.lastIndex = this.at
    this.at += SPACE.exec(this.text)?.[0].length ?? 0
  }
}

/** A character of a string as N-Triples writes it between double quotes. */
function escaped(piece: string): string {
  return piece === '"' ? '\\"' : piece === '\n' ? '\\n' : piece === '\r' ? '\\r' : piece
}
