import { lookup } from '../model/lookup.ts'
import { BLANK_LABEL, languageDatatype, tripleTerm } from './ntriples.ts'
import type { BlankNode, Literal, NamedNode, Term, TripleTerm } from './term.ts'
import { XSD } from './vocab.ts'

/** A parsed triple. */
export interface Triple {
  readonly subject: NamedNode | BlankNode
  readonly predicate: NamedNode
  readonly object: Term
}

/** A triple whose terms are still text, exactly as in the line. */
export interface TripleText {
  readonly subject: string
  readonly predicate: string
  readonly object: string
}

/** Parses N-Triples (RDF 1.2 N-Triples, section 2). Throws on the first invalid line. */
export function* parseTriples(text: string): Generator<Triple> {
  let subjectText = ''
  let subject: NamedNode | BlankNode = { type: 'iri', value: '' }
  const predicates = new Map<string, NamedNode>()
  for (const triple of splitTriples(text)) {
    if (triple.subject !== subjectText) {
      subjectText = triple.subject
      subject = resource(subjectText)
    }
    let predicate = predicates.get(triple.predicate)
    if (predicate === undefined) {
      predicate = { type: 'iri', value: unescapeText(triple.predicate.slice(1, -1)) }
      predicates.set(triple.predicate, predicate)
    }
    yield { subject, predicate, object: parseTerm(triple.object) }
  }
}

/** A triple and the triple terms in it. */
export function* withTripleTerms(triple: Triple): Generator<Triple> {
  yield triple
  if (triple.object.type === 'triple') yield* withTripleTerms(triple.object)
}

/** Splits N-Triples into the texts of their terms, for writers of formats that use these texts unchanged. */
export function* splitTriples(text: string): Generator<TripleText> {
  let at = 0
  while (at < text.length) {
    const start = skipBlanks(text, at)
    const first = text.charCodeAt(start)
    if (first === LINE_FEED || first === CARRIAGE_RETURN) {
      at = start + 1
      continue
    }
    if (start >= text.length) return
    if (first === HASH) {
      at = lineEnd(text, start)
      continue
    }
    const subjectEnd = first === LESS ? iriEnd(text, start) : blankEnd(text, start)
    const predicateStart = skipBlanks(text, subjectEnd)
    const predicateEnd = iriEnd(text, predicateStart)
    const objectStart = skipBlanks(text, predicateEnd)
    const objectEnd = termEnd(text, objectStart)
    const dot = skipBlanks(text, objectEnd)
    if (text.charCodeAt(dot) !== DOT) throw refuse(text, start)
    at = skipBlanks(text, dot + 1)
    const last = text.charCodeAt(at)
    if (at < text.length && last !== LINE_FEED && last !== CARRIAGE_RETURN && last !== HASH)
      throw refuse(text, start)
    yield {
      subject: text.slice(start, subjectEnd),
      predicate: text.slice(predicateStart, predicateEnd),
      object: text.slice(objectStart, objectEnd),
    }
  }
}

/** True for the text of a term that is a triple (RDF 1.2 N-Triples, section 2.2). */
export function isTripleTerm(text: string): boolean {
  return text.startsWith('<<(')
}

/** True for N-Triples in which an object is a triple term. */
export function hasTripleTerms(text: string): boolean {
  return text.includes('<<(') && [...splitTriples(text)].some(({ object }) => isTripleTerm(object))
}

/** The lines of N-Triples without triple terms: for formats that cannot represent those. */
export function withoutTripleTerms(text: string): string {
  if (!text.includes('<<(')) return text
  let lines = ''
  for (const { subject, predicate, object } of splitTriples(text))
    if (!isTripleTerm(object)) lines += `${subject} ${predicate} ${object} .\n`
  return lines
}

/** Parses one term. */
export function parseTerm(text: string): Term {
  if (isTripleTerm(text)) return parseTripleTerm(text)
  if (!text.startsWith('"')) return resource(text)
  const close = quoteEnd(text, 0)
  const value = unescapeText(text.slice(1, close))
  const rest = text.slice(close + 1)
  if (rest === '') return literal(value, XSD.string, '')
  if (rest.startsWith('@')) return literal(value, languageDatatype(rest), rest.slice(1))
  return literal(value, unescapeText(rest.slice(3, -1)), '')
}

function parseTripleTerm(text: string): TripleTerm {
  const subject = skipBlanks(text, 3)
  const subjectEnd = text.charCodeAt(subject) === LESS ? iriEnd(text, subject) : blankEnd(text, subject)
  const predicate = skipBlanks(text, subjectEnd)
  const predicateEnd = iriEnd(text, predicate)
  const object = skipBlanks(text, predicateEnd)
  return tripleTerm(
    resource(text.slice(subject, subjectEnd)),
    { type: 'iri', value: unescapeText(text.slice(predicate + 1, predicateEnd - 1)) },
    parseTerm(text.slice(object, termEnd(text, object))),
  )
}

function literal(value: string, datatype: string, language: string): Literal {
  return { type: 'literal', value, datatype, language }
}

function resource(text: string): NamedNode | BlankNode {
  return text.startsWith('_:')
    ? { type: 'blank', value: text.slice(2) }
    : { type: 'iri', value: unescapeText(text.slice(1, -1)) }
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const HASH = 0x23
const DOT = 0x2e
const LESS = 0x3c
const QUOTE = 0x22
const BACKSLASH = 0x5c

function skipBlanks(text: string, at: number): number {
  let next = at
  while (text.charCodeAt(next) === 0x20 || text.charCodeAt(next) === 0x09) next++
  return next
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

const IRI_BODY = /^<[^\s<>"{}|^`]*>$/

function iriEnd(text: string, at: number): number {
  const end = text.indexOf('>', at) + 1
  if (text.charCodeAt(at) !== LESS || end === 0 || !IRI_BODY.test(text.slice(at, end))) throw refuse(text, at)
  return end
}

const BLANK = new RegExp(`_:${BLANK_LABEL}`, 'uy')

function blankEnd(text: string, at: number): number {
  BLANK.lastIndex = at
  if (!BLANK.test(text)) throw refuse(text, at)
  return BLANK.lastIndex
}

const LANGUAGE = /@[A-Za-z]+(?:-[A-Za-z0-9]+)*(?:--(?:ltr|rtl))?/y

function termEnd(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === LESS) return text.startsWith('<<(', at) ? tripleTermEnd(text, at) : iriEnd(text, at)
  if (first !== QUOTE) return blankEnd(text, at)
  const after = quoteEnd(text, at) + 1
  if (text.startsWith('^^', after)) return iriEnd(text, after + 2)
  if (text.charCodeAt(after) !== 0x40) return after
  LANGUAGE.lastIndex = after
  if (!LANGUAGE.test(text)) throw refuse(text, at)
  return LANGUAGE.lastIndex
}

function tripleTermEnd(text: string, at: number): number {
  const subject = skipBlanks(text, at + 3)
  const subjectEnd = text.charCodeAt(subject) === LESS ? iriEnd(text, subject) : blankEnd(text, subject)
  const predicateEnd = iriEnd(text, skipBlanks(text, subjectEnd))
  const close = skipBlanks(text, termEnd(text, skipBlanks(text, predicateEnd)))
  if (!text.startsWith(')>>', close)) throw refuse(text, at)
  return close + 3
}

/** Position of the quote that closes the one at a position: the first with an even number of backslashes before it. */
function quoteEnd(text: string, at: number): number {
  let end = text.indexOf('"', at + 1)
  while (end > 0) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return end
    end = text.indexOf('"', end + 1)
  }
  throw refuse(text, at)
}

const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([\s\S])?)/g
const CHARACTERS: Readonly<Record<string, string>> = {
  t: '\t',
  b: '\b',
  n: '\n',
  r: '\r',
  f: '\f',
  '"': '"',
  "'": "'",
  '\\': '\\',
}

function unescapeText(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(ESCAPE, (sequence: string, short?: string, long?: string, character = '') => {
    const digits = short ?? long
    if (digits !== undefined) return String.fromCodePoint(Number.parseInt(digits, 16))
    const plain = lookup(CHARACTERS, character)
    if (plain === undefined) throw new SyntaxError(`Not N-Triples: unknown escape ${sequence}`)
    return plain
  })
}

function refuse(text: string, at: number): SyntaxError {
  const line = text.slice(0, at).split('\n').length
  return new SyntaxError(`Not N-Triples: line ${line}: ${text.slice(at, at + 80)}`)
}
