import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import { lookup } from '../../model/lookup.ts'
import type { SparqlTokens } from '../../sparql/lexer.ts'

/**
 * Maximum characters, depth of brackets and number of parts of a query: parsers recurse for each. The maximum of tokens is far above
 * what a query of so many parts has; it refuses, before they are parsed, texts such as `aaa…`, in which each letter is a token.
 */
const MAX = { characters: 100_000, depth: 100, parts: 500, tokens: 20_000 } as const

/** Parts that count twice: the store needs twice the stack for each. */
const HEAVY: ReadonlySet<string> = new Set(
  'Optional Minus Bind As Filter Union Graph Select BuiltInExists BuiltInNotexists'.split(' '),
)

const JOINTS: ReadonlySet<string> = new Set([
  ...'LogicOr LogicAnd OpPlus OpMinus Star Slash Pipe Dot Comma Semi Exclamation Hat'.split(' '),
  ...['AnnotationOpen', 'AnnotationClose'],
])

const TERM =
  /^(?:IriRef|PName..|BlankNodeLabel|Var\d|(?:Integer|Decimal|Double)(?:Positive|Negative)?|StringLiteral.*)$/
const SIGNED = /(?:Positive|Negative)$/

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']', '{|': '|}', '<<(': ')>>' }
const CLOSES: ReadonlySet<string> = new Set(Object.values(CLOSING))

/** Faults: BadRequest. */
export function checkQueryLength(text: string): void {
  if (text.length > MAX.characters)
    throw new Fault(BAD_REQUEST, {
      reason: `The query has ${text.length} characters; the limit is ${MAX.characters}.`,
    })
}

/**
 * Refuses queries that exceed the stack of a recursive parser, before parsing. Linear in the length of the text. Faults:
 * BadRequest, also for unbalanced brackets.
 */
export function checkQuerySize(text: string, { tokens, unread }: SparqlTokens): void {
  const open = checkBrackets(text, tokens)
  // After text that is no token, the rest is unknown.
  if (open !== undefined && unread === null) {
    const required = lookup(CLOSING, open.image)
    throw syntaxFault(text, open.startOffset, `${open.image} is never closed: ${required} is expected.`)
  }
  checkParts(tokens)
}

type Tokens = SparqlTokens['tokens']

/** The last bracket that is not closed. */
function checkBrackets(text: string, tokens: Tokens): Tokens[number] | undefined {
  const open: Tokens = []
  let reified = 0
  for (const token of tokens) {
    const { image, startOffset: from } = token
    if (Object.hasOwn(CLOSING, image)) open.push(token)
    else if (image === '<<') reified += 1
    else if (image === '>>') reified = Math.max(0, reified - 1)
    else if (CLOSES.has(image)) {
      const last = open.pop()
      if (last === undefined)
        throw syntaxFault(
          text,
          from,
          `${image} closes nothing: the bracket that opens is expected before it.`,
        )
      const required = lookup(CLOSING, last.image)
      if (required !== image) throw syntaxFault(text, from, `${image} was found but ${required} is expected.`)
    }
    if (open.length + reified > MAX.depth)
      throw syntaxFault(text, from, `the query has more than ${MAX.depth} brackets inside brackets.`)
  }
  return open.at(-1)
}

/** Refuses queries with too many parts or tokens for the store's parser; the rows of VALUES do not count. */
function checkParts(tokens: Tokens): void {
  let [parts, terms, others, isData] = [0, 0, 0, false]
  for (const { tokenType, image } of tokens) {
    const { name } = tokenType
    if (name === 'Values') isData = true
    else if (isData && image === '}') isData = false
    if (isData) continue
    others += 1
    const isTerm = TERM.test(name)
    terms = isTerm ? terms + 1 : 0
    // A run of more than three terms is a collection, whose members are triples.
    parts += HEAVY.has(name) ? 2 : JOINTS.has(name) || SIGNED.test(name) || terms > 3 ? 1 : 0
  }
  const excess =
    parts > MAX.parts
      ? `${parts} parts (triples, operators, clauses); the limit is ${MAX.parts}`
      : others > MAX.tokens
        ? `${others} words and signs; the limit is ${MAX.tokens}`
        : null
  if (excess === null) return
  throw new Fault(BAD_REQUEST, { reason: `The query has ${excess}. Put long lists into VALUES.` })
}

/** Maximum characters of a line in an error. */
const SHOWN = 100

/**
 * The fault of a syntax error: the reason, line and column, the line and a caret under the position.
 *
 * @param at character offset into the text
 */
export function syntaxFault(text: string, at: number, reason: string): Fault {
  const { line, column, shown, caret } = placeOf(text, at)
  return new Fault(
    BAD_REQUEST,
    { reason: `Line ${line}, column ${column}: ${reason}\n${shown}\n${caret}^` },
    { place: { line, column, from: at, to: at + 1 } },
  )
}

/** The offset of a position that is given by line and column, both from 1. */
export function offsetOf(text: string, line: number, column: number): number {
  let start = 0
  for (let number = 1; number < line; number++) {
    const end = text.indexOf('\n', start)
    if (end < 0) break
    start = end + 1
  }
  // Columns count code points, which beyond the BMP are two UTF-16 units.
  const characters = [...text.slice(start, start + 2 * column)].slice(0, column - 1)
  return Math.min(text.length, start + characters.join('').length)
}

function placeOf(text: string, at: number) {
  const start = text.lastIndexOf('\n', at - 1) + 1
  const end = text.indexOf('\n', at)
  const line = text.slice(0, start).split('\n').length
  const before = text.slice(start, at)
  const from = Math.max(start, at - SHOWN / 2)
  const shown = text.slice(from, Math.min(end < 0 ? text.length : end, from + SHOWN)).replace(/\r$/, '')
  return {
    line,
    column: [...before].length + 1,
    shown: shown.replaceAll('\t', ' '),
    caret: ' '.repeat([...text.slice(from, at)].length),
  }
}
