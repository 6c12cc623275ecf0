import type { Token as N3Token } from 'n3'
import { lookup } from '../../model/lookup.ts'

/** A range of the document: lines and columns from 1, columns in UTF-16 units, the end exclusive. */
export interface TurtleSpan {
  readonly line: number
  readonly column: number
  readonly endLine: number
  readonly endColumn: number
}

/** A token of the lexer: lines from 1, columns from 0. */
export interface TurtleToken extends N3Token {
  readonly start: number
  readonly end: number
  readonly endLine?: number
}

/** The range of a token's characters. */
export function turtleSpanOf({ line, start, end, endLine }: TurtleToken): TurtleSpan {
  return { line, column: start + 1, endLine: endLine ?? line, endColumn: end + 1 }
}

/** The tokens of the current statement at one nesting level of brackets. */
interface Level {
  readonly bracket: TurtleToken | undefined
  /** Column of the first token of the line with its bracket. */
  readonly indentation: number
  subject: TurtleToken | undefined
  predicate: TurtleToken | undefined
  object: TurtleToken | undefined
  expects: 'subject' | 'predicate' | 'object' | 'end' | 'prefix' | 'prefix-iri' | 'base'
}

/** Subject, predicate and object of a statement as tokens. */
export interface StatementTokens {
  readonly subject: TurtleToken
  readonly predicate: TurtleToken
  readonly object: TurtleToken
}

const PLACES: Readonly<Record<string, Level['expects']>> = {
  '@prefix': 'prefix',
  PREFIX: 'prefix',
  '@base': 'base',
  BASE: 'base',
  ';': 'predicate',
  ',': 'object',
  '.': 'subject',
}

const TERMS = new Set(['IRI', 'prefixed', 'blank', 'literal', 'abbreviation'])

/** Tokens of RDF 1.2 that no mapping has, with the name of what they write. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  '<<': 'Reified triples (RDF 1.2)',
  '<<(': 'Triple terms (RDF 1.2)',
  '{|': 'Annotations of triples (RDF 1.2)',
  '~': 'Reifiers of triples (RDF 1.2)',
  dircode: 'Languages with a direction (RDF 1.2)',
}

/** Thrown at a token that is valid Turtle and not supported. */
export class UnsupportedToken extends Error {
  readonly span: TurtleSpan

  constructor(token: TurtleToken, feature: string) {
    super(`${feature} are not supported`)
    this.span = turtleSpanOf(token)
  }
}

/** Follows the tokens of a Turtle document alongside its parser and records which of them the current statement consists of. */
export class TokenTracker {
  readonly prefixes = new Map<string, { readonly iri: string; readonly span: TurtleSpan }>()
  base: { readonly iri: string; readonly span: TurtleSpan } | undefined
  /** The previous token. */
  previous: TurtleToken | undefined
  /** The last token before the first line that is indented less than the open bracket requires: that bracket is probably not closed. */
  outdented: TurtleToken | undefined
  private current: TurtleToken | undefined
  private prefix = ''
  /** Column of the first token of the current line. */
  private indentation = 0
  private levels: Level[] = [level(undefined, 0)]

  /** Observes a token before the parser consumes it; throws an UnsupportedToken. */
  before(token: TurtleToken): void {
    const feature = lookup(UNSUPPORTED, token.type)
    if (feature !== undefined) throw new UnsupportedToken(token, feature)
    this.previous = this.current
    this.current = token
    const last = this.previous
    if (last !== undefined && token.line === (last.endLine ?? last.line)) return
    this.indentation = token.start
    const { bracket, indentation } = this.top()
    const isClosing = token.type === ']' || token.type === ')'
    if (bracket !== undefined && (isClosing ? token.start < indentation : token.start <= indentation))
      this.outdented ??= last
  }

  /** Observes a token after the parser has consumed it. */
  after(token: TurtleToken): void {
    const top = this.top()
    if (token.type === '[' || token.type === '(') {
      this.fill(top, token)
      this.levels.push(level(token, this.indentation))
    } else if (token.type === ']' || token.type === ')') {
      if (this.levels.length > 1) this.levels.pop()
    } else if (Object.hasOwn(PLACES, token.type)) top.expects = lookup(PLACES, token.type) ?? 'end'
    else if (top.expects === 'prefix') {
      this.prefix = token.value ?? ''
      top.expects = 'prefix-iri'
    } else if (top.expects === 'prefix-iri') {
      this.prefixes.set(this.prefix, { iri: token.value ?? '', span: turtleSpanOf(token) })
      top.expects = 'subject'
    } else if (top.expects === 'base') {
      this.base ??= { iri: token.value ?? '', span: turtleSpanOf(token) }
      top.expects = 'subject'
    } else if (TERMS.has(token.type)) this.fill(top, token)
  }

  /** The tokens of the statement that the parser has just completed. */
  statement(): StatementTokens {
    const top = this.top()
    const fallback = this.current ?? { type: '', line: 1, start: 0, end: 0 }
    return {
      subject: top.subject ?? fallback,
      predicate: top.predicate ?? fallback,
      object: top.object ?? fallback,
    }
  }

  /** The innermost open bracket. */
  open(): TurtleToken | undefined {
    return this.top().bracket
  }

  private top(): Level {
    return this.levels[this.levels.length - 1] as Level
  }

  private fill(at: Level, token: TurtleToken): void {
    if (at.expects === 'subject') {
      at.subject = token
      at.expects = 'predicate'
    } else if (at.expects === 'predicate') {
      at.predicate = token
      at.expects = 'object'
    } else if (at.expects === 'object') {
      at.object = token
      if (at.bracket?.type !== '(') at.expects = 'end'
    }
  }
}

/** The level that a bracket opens: the first token of a node is its bracket, the members of a list are objects. */
function level(bracket: TurtleToken | undefined, indentation: number): Level {
  return {
    bracket,
    indentation,
    subject: bracket,
    predicate: bracket?.type === '(' ? bracket : undefined,
    object: undefined,
    expects: bracket === undefined ? 'subject' : bracket.type === '(' ? 'object' : 'predicate',
  }
}
