import { DataFactory, type Term as N3Term, Parser } from 'n3'
import {
  TokenTracker,
  type TurtleSpan,
  type TurtleToken,
  turtleSpanOf,
  UnsupportedToken,
} from './token-tracker.ts'

/** A term of the document. `written` is an IRI before prefix and base are applied, for messages. */
export type DocumentTerm =
  | { readonly type: 'iri'; readonly value: string; readonly written: string }
  | { readonly type: 'blank'; readonly value: string }
  | { readonly type: 'literal'; readonly value: string; readonly datatype: string; readonly language: string }

/** One property of a node of the document: predicate and object, each with its position. */
export interface Property {
  readonly iri: string
  /** The predicate as written in the text: `rml:template`. */
  readonly written: string
  readonly object: DocumentTerm
  readonly span: TurtleSpan
  readonly objectSpan: TurtleSpan
}

/** A subject with its properties, in document order. */
export interface DocumentNode {
  readonly id: string
  readonly term: DocumentTerm
  readonly span: TurtleSpan
  readonly properties: readonly Property[]
}

/** A Turtle document as nodes with positions. */
export interface TurtleDocument {
  /** By {@link nodeId}. */
  readonly nodes: ReadonlyMap<string, DocumentNode>
  readonly prefixes: ReadonlyMap<string, { readonly iri: string; readonly span: TurtleSpan }>
  /** The first base that the document declares. */
  readonly base: { readonly iri: string; readonly span: TurtleSpan } | undefined
}

/** The syntax error of a text that is not Turtle. */
export interface TurtleError {
  readonly span: TurtleSpan
  readonly reason: string
  /** The undeclared prefix, if that is the reason. */
  readonly prefix?: string
  /** True if the text is Turtle with a feature that no mapping has. */
  readonly isUnsupported?: boolean
  /** The prefixes that were declared before. */
  readonly declared: TurtleDocument['prefixes']
}

/** The key of a node in {@link TurtleDocument.nodes}; literals have none. */
export function nodeId(term: DocumentTerm): string {
  return term.type === 'blank' ? `_:${term.value}` : term.value
}

/**
 * Reads Turtle (RDF 1.1 Turtle) with the position of each subject, predicate and object, which the parser does not report: a
 * {@link TokenTracker} follows its tokens.
 */
export function readTurtle(text: string): TurtleDocument | TurtleError {
  const tracker = new TokenTracker()
  const nodes = new Map<string, { readonly node: DocumentNode; readonly properties: Property[] }>()
  const factory = {
    ...DataFactory,
    quad: (subject: N3Term, predicate: N3Term, object: N3Term) => {
      const at = tracker.statement()
      const term = documentTerm(subject, at.subject)
      const id = nodeId(term)
      let known = nodes.get(id)
      if (known === undefined) {
        const properties: Property[] = []
        known = { node: { id, term, span: turtleSpanOf(at.subject), properties }, properties }
        nodes.set(id, known)
      }
      known.properties.push({
        iri: predicate.value,
        written: written(at.predicate),
        object: documentTerm(object, at.object),
        span: turtleSpanOf(at.predicate),
        objectSpan: turtleSpanOf(at.object),
      })
      return null
    },
  }
  const options = { format: 'text/turtle', factory: factory as unknown as typeof DataFactory }
  const observers = {
    onToken: (token: TurtleToken) => tracker.before(token),
    onTokenEnd: (token: TurtleToken) => tracker.after(token),
  }
  try {
    // Without a callback for quads the parser is synchronous; its type declarations lack the token observers.
    new Parser(options).parse(text, observers as unknown as null)
  } catch (error) {
    return turtleError(error, tracker, text)
  }
  return {
    nodes: new Map([...nodes].map(([id, { node }]) => [id, node])),
    prefixes: tracker.prefixes,
    base: tracker.base,
  }
}

function documentTerm(term: N3Term, token: TurtleToken): DocumentTerm {
  if (term.termType === 'BlankNode') return { type: 'blank', value: term.value }
  if (term.termType === 'Literal')
    return { type: 'literal', value: term.value, datatype: term.datatype.value, language: term.language }
  return { type: 'iri', value: term.value, written: written(token) }
}

/** A name as written in the text. */
export function written(token: TurtleToken): string {
  if (token.type === 'IRI') return `<${token.value ?? ''}>`
  if (token.type === 'prefixed') return `${token.prefix ?? ''}:${token.value ?? ''}`
  return token.value ?? token.type
}

/** Finds a name that a missing < has turned into a comment, in the line of an error or the one before. */
function swallowedName(
  text: string,
  line: number,
): { readonly span: TurtleSpan; readonly reason: string } | null {
  const lines = text.split(/\r\n|\n|\r/)
  for (const at of [line, line - 1]) {
    const found = /(?:^|[\s,;])(#[\w.-]{1,200}>)/.exec(lines[at - 1] ?? '')
    if (found === null) continue
    const column = found.index + found[0].length - (found[1] as string).length + 1
    const span = { line: at, column, endLine: at, endColumn: column + (found[1] as string).length }
    return { span, reason: `a < is missing before ${found[1]}` }
  }
  return null
}

/** The position of text that the lexer cannot read in its line; the whole line if it is not found there. */
function unreadable(text: string, line: number, reason: string): TurtleSpan {
  const content = text.split(/\r\n|\n|\r/)[line - 1] ?? ''
  const issue = /^Unexpected "(.*)"$/s.exec(reason)?.[1] ?? ''
  const start = issue === '' ? -1 : content.indexOf(issue)
  const column = start < 0 ? 1 : start + 1
  return { line, column, endLine: line, endColumn: start < 0 ? content.length + 1 : column + issue.length }
}

const UNDEFINED_PREFIX = /^Undefined prefix "([^"]*):"/

function turtleError(error: unknown, tracker: TokenTracker, text: string): TurtleError {
  if (error instanceof UnsupportedToken)
    return { span: error.span, reason: error.message, isUnsupported: true, declared: tracker.prefixes }
  const message = error instanceof Error ? error.message : String(error)
  const context = (error as { context?: { line?: number; token?: TurtleToken } }).context
  const reason = message.replace(/ on line \d+\.$/, '').slice(0, 200)
  const declared = tracker.prefixes
  const { token } = context ?? {}
  if (token === undefined) {
    const line = context?.line ?? 1
    return { span: unreadable(text, line, reason), reason: reason || 'unreadable text', declared }
  }
  const prefix = UNDEFINED_PREFIX.exec(message)?.[1]
  if (prefix !== undefined) return { span: turtleSpanOf(token), reason, declared, prefix }
  const swallowed = swallowedName(text, token.line)
  if (swallowed !== null) return { ...swallowed, declared }
  const open = tracker.open()
  if (open !== undefined && (token.type === '.' || token.type === 'eof')) {
    const reason = `the bracket ${open.type} of line ${open.line} is not closed`
    return {
      span: turtleSpanOf(tracker.outdented ?? (token.type === 'eof' ? open : token)),
      reason,
      declared,
    }
  }
  const { previous } = tracker
  const { predicate, object } = tracker.statement()
  if (reason.startsWith('Expected punctuation') && object === previous && predicate.line < object.line)
    return {
      span: turtleSpanOf(predicate),
      reason: `a [ is missing after ${written(predicate)}, or a ; after its value`,
      declared,
    }
  if (/^Expected (punctuation|declaration to end)/.test(reason) && previous !== undefined)
    return { span: turtleSpanOf(previous), reason: 'a ; or . is missing after this', declared }
  if (token.type === 'eof' && previous !== undefined)
    return { span: turtleSpanOf(previous), reason: 'the text ends in the middle of a statement', declared }
  return { span: turtleSpanOf(token), reason, declared }
}
