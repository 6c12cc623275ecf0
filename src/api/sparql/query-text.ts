import { Fault } from '../../errors/errors.ts'
import { lookup } from '../../model/lookup.ts'
import { syntaxFault } from './faults.ts'
import { type Resolve, readPrologue, type TextRange } from './prologue.ts'
import { isMark, isWord, type SparqlToken, sparqlTokens } from './tokens.ts'

/** A graph that a query names: an IRI, resolved, or a variable. */
export type GraphName =
  | { readonly type: 'iri'; readonly value: string }
  | { readonly type: 'variable'; readonly value: string }

/** `GRAPH name { … }` as offsets into the text. */
export interface GraphClause {
  readonly name: GraphName
  readonly from: number
  readonly nameFrom: number
  readonly nameTo: number
  /** After the bracket that closes it. */
  readonly to: number
}

/** `SERVICE SILENT name { … }` as offsets into the text; one within another is a part of the other. */
export interface ServiceClause {
  readonly name: GraphName
  readonly isSilent: boolean
  readonly from: number
  /** Where its group begins. */
  readonly groupFrom: number
  /** After the bracket that closes it. */
  readonly to: number
}

/** `FROM <graph>` or `FROM NAMED <graph>`. */
export interface FromClause {
  readonly isNamed: boolean
  readonly graph: string
  readonly from: number
  readonly to: number
}

/** What the endpoint has to know of a query before the store reads it. */
export interface QueryText {
  readonly text: string
  readonly form: 'select' | 'ask' | 'construct' | 'describe'
  readonly tokens: readonly SparqlToken[]
  readonly prefixes: Readonly<Record<string, string>>
  /** Declarations of versions. */
  readonly versions: readonly TextRange[]
  readonly from: readonly FromClause[]
  readonly graphs: readonly GraphClause[]
  readonly services: readonly ServiceClause[]
  /** Where the query begins, after its declarations. */
  readonly start: number
  /** True where the same query has another answer a moment later. */
  readonly isVolatile: boolean
}

/** Characters of a query, brackets inside brackets, and parts of a query: the store's parser calls itself for each. */
const MAX = { characters: 100_000, depth: 100, parts: 500 } as const

const FORMS = { SELECT: 'select', ASK: 'ask', CONSTRUCT: 'construct', DESCRIBE: 'describe' } as const

const UPDATES = ['INSERT', 'DELETE', 'LOAD', 'CLEAR', 'DROP', 'CREATE', 'ADD', 'MOVE', 'COPY', 'WITH']

const VOLATILE = ['NOW', 'RAND', 'UUID', 'STRUUID', 'BNODE']

/** Parts that weigh double: the store needs twice the room for each. */
const HEAVY = ['OPTIONAL', 'MINUS', 'BIND', 'AS', 'FILTER', 'UNION', 'GRAPH', 'SELECT', 'EXISTS', 'LATERAL']

const JOINTS: ReadonlySet<string> = new Set(['||', '&&', '+', '-', '*', '/', '|', '.', ';', ',', '!', '^'])

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']' }

/**
 * Reads what a query is, from its tokens alone: the store checks its grammar. Linear in the length of the text.
 *
 * Faults: BadRequest for an update, undeclared prefixes, brackets that do not match, and queries beyond the limits.
 *
 * @param base what relative IRIs are resolved against
 */
export function readQueryText(text: string, base: string): QueryText {
  if (text.length > MAX.characters)
    throw new Fault('BadRequest', {
      reason: `The query has ${text.length} characters; the limit is ${MAX.characters}.`,
    })
  const tokens = sparqlTokens(text)
  const prologue = readPrologue(text, tokens, base)
  const { prefixes, versions, resolve } = prologue
  const first = tokens[prologue.end]
  const form = readForm(text, first)
  const from: FromClause[] = []
  const graphs: GraphClause[] = []
  const services: ServiceClause[] = []
  const closes = matchBrackets(text, tokens)
  checkParts(tokens, closes)
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'name') checkPrefix(text, token, tokens[index - 1], prefixes)
    else if (isMark(token, '\\'))
      throw syntaxFault(text, token.from, 'an escape outside of strings and IRIs is not served.')
    else if (isWord(token, 'SERVICE')) {
      const service = serviceAt(tokens, index, closes, resolve)
      if (service !== null && token.from >= (services.at(-1)?.to ?? 0)) services.push(service)
    } else if (isWord(token, 'FROM')) from.push(readFrom(text, tokens, index, resolve))
    else if (isWord(token, 'GRAPH')) {
      const name = tokens[index + 1]
      const close = closes.get(index + 2)
      const graph = name === undefined ? null : graphName(name, resolve)
      // What is not followed by a name and a group is for the store to refuse.
      if (name === undefined || graph === null || close === undefined) continue
      const to = tokens[close]?.to ?? text.length
      graphs.push({ name: graph, from: token.from, nameFrom: name.from, nameTo: name.to, to })
    }
  }
  // What other services answer is not known here.
  const isVolatile =
    services.length > 0 ||
    tokens.some(
      (token, index) =>
        (isWord(token, ...VOLATILE) && isMark(tokens[index + 1], '(')) ||
        (form === 'construct' && (token.type === 'blank' || isMark(token, '[') || isReifier(tokens, index))),
    )
  return {
    text,
    form,
    tokens,
    prefixes,
    versions,
    from,
    graphs,
    services,
    start: first?.from ?? 0,
    isVolatile,
  }
}

/** `<< s p o >>`, `~` and `{| p o |}`, which make a blank node for each solution (SPARQL 1.2 Query, section 4.2). */
function isReifier(tokens: readonly SparqlToken[], index: number): boolean {
  const [token, next, third] = tokens.slice(index, index + 3)
  if (isMark(token, '<')) return isMark(next, '<') && !isMark(third, '(')
  return isMark(token, '~') || (isMark(token, '{') && isMark(next, '|'))
}

function readForm(text: string, first: SparqlToken | undefined): QueryText['form'] {
  if (first === undefined)
    throw syntaxFault(
      text,
      text.trimEnd().length,
      'the query is empty: SELECT, ASK, CONSTRUCT or DESCRIBE is expected.',
    )
  if (isWord(first, ...UPDATES))
    throw syntaxFault(text, first.from, 'this endpoint is read-only: it takes queries and no updates.')
  const form = first.type === 'word' ? first.value.toUpperCase() : ''
  const known = lookup(FORMS, form)
  if (known !== undefined) return known
  throw syntaxFault(
    text,
    first.from,
    `${text.slice(first.from, first.to).slice(0, 60)} was found but a query begins with SELECT, ASK, CONSTRUCT or DESCRIBE.`,
  )
}

function readFrom(text: string, tokens: readonly SparqlToken[], index: number, resolve: Resolve): FromClause {
  const isNamed = isWord(tokens[index + 1], 'NAMED')
  const [start, name] = [tokens[index], tokens[index + (isNamed ? 2 : 1)]]
  const graph = name === undefined ? null : resolve(name)
  if (start === undefined || name === undefined || graph === null)
    throw syntaxFault(text, start?.to ?? text.length, 'FROM is followed by the IRI of a graph.')
  return { isNamed, graph, from: start.from, to: name.to }
}

/** What is not followed by a name and a group is for the store to refuse. */
function serviceAt(
  tokens: readonly SparqlToken[],
  index: number,
  closes: ReadonlyMap<number, number>,
  resolve: Resolve,
): ServiceClause | null {
  const isSilent = isWord(tokens[index + 1], 'SILENT')
  const at = index + (isSilent ? 2 : 1)
  const [start, nameToken, open] = [tokens[index], tokens[at], tokens[at + 1]]
  const close = tokens[closes.get(at + 1) ?? -1]
  const name = nameToken === undefined ? null : graphName(nameToken, resolve)
  if (start === undefined || name === null || !isMark(open, '{') || close === undefined) return null
  return { name, isSilent, from: start.from, groupFrom: open?.from ?? start.to, to: close.to }
}

function graphName(token: SparqlToken, resolve: Resolve): GraphName | null {
  if (token.type === 'variable') return { type: 'variable', value: token.value }
  const value = resolve(token)
  return value === null ? null : { type: 'iri', value }
}

function checkPrefix(
  text: string,
  token: SparqlToken,
  previous: SparqlToken | undefined,
  prefixes: Readonly<Record<string, string>>,
): void {
  const prefix = token.value.slice(0, token.value.indexOf(':') + 1)
  if (lookup(prefixes, prefix.slice(0, -1)) !== undefined) return
  // Where what stands in angle brackets is no IRI, its parts are tokens.
  const isIri = isMark(previous, '<') && previous?.to === token.from && text.startsWith('//', token.to)
  throw isIri
    ? syntaxFault(
        text,
        previous.from,
        'what stands in angle brackets is no IRI: it has characters that no IRI has.',
      )
    : syntaxFault(
        text,
        token.from,
        `the prefix ${prefix} is not declared: PREFIX ${prefix} <…> is expected before the query.`,
      )
}

/** Each bracket that opens with the one that closes it, as indexes of tokens. */
function matchBrackets(text: string, tokens: readonly SparqlToken[]): ReadonlyMap<number, number> {
  const closes = new Map<number, number>()
  const open: number[] = []
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'mark') continue
    if (Object.hasOwn(CLOSING, token.value)) {
      open.push(index)
      if (open.length > MAX.depth)
        throw syntaxFault(text, token.from, `the query has more than ${MAX.depth} brackets inside brackets.`)
    } else if (token.value === '}' || token.value === ')' || token.value === ']') {
      const last = open.pop()
      const opening = last === undefined ? undefined : tokens[last]
      if (last === undefined || opening === undefined)
        throw syntaxFault(
          text,
          token.from,
          `${token.value} closes nothing: the bracket that opens is expected before it.`,
        )
      const required = lookup(CLOSING, opening.value)
      if (required !== token.value)
        throw syntaxFault(text, token.from, `${token.value} was found but ${required} is expected.`)
      closes.set(last, index)
    }
  }
  const last = tokens[open.pop() ?? -1]
  if (last !== undefined)
    throw syntaxFault(
      text,
      last.from,
      `${last.value} is never closed: ${lookup(CLOSING, last.value)} is expected.`,
    )
  return closes
}

/** Refuses queries of so many parts that the store's parser would not come to an end; the rows of VALUES are free. */
function checkParts(tokens: readonly SparqlToken[], closes: ReadonlyMap<number, number>): void {
  let [parts, terms] = [0, 0]
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]
    if (token === undefined) break
    if (isWord(token, 'VALUES')) {
      let at = index + 1
      if (tokens[at]?.type === 'variable') at += 1
      else if (isMark(tokens[at], '(')) at = (closes.get(at) ?? at) + 1
      index = Math.max(index, closes.get(at) ?? index)
      continue
    }
    const joins = token.type === 'mark' && JOINTS.has(token.value)
    const isTerm = token.type !== 'mark' && token.type !== 'word' && token.type !== 'language'
    terms = isTerm ? terms + 1 : 0
    // A run of more than three terms is a collection, whose members are triples.
    parts += isWord(token, ...HEAVY) ? 2 : joins || terms > 3 ? 1 : 0
  }
  if (parts <= MAX.parts) return
  throw new Fault('BadRequest', {
    reason: `The query has ${parts} parts (triples, operators, clauses); the limit is ${MAX.parts}. Put long lists into VALUES.`,
  })
}
