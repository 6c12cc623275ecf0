import type { SearchExpression, Span } from './ast.ts'
import { checkLength, MAX_DEPTH, odataFault, tooDeep, unexpected } from './faults.ts'

interface Token {
  readonly type: 'open' | 'close' | 'phrase' | 'word'
  readonly text: string
  /** Whether white space precedes it. */
  readonly apart: boolean
  readonly span: Span
}

const TOKEN = /([ \t]*)(?:(\()|(\))|"((?:[^"\\]|\\["\\]|\\(?!["\\]))*)"|([^\s()"'][^\s()"]*))/y

/**
 * Parses a search expression (URL Conventions 5.1.7). AND, OR and NOT are operators where they have operands and words elsewhere,
 * as in the ABNF. A text in single quotes is parsed as a phrase that is still being typed.
 *
 * @param option name of the option, for messages
 */
export function parseSearch(text: string, option = '$search'): SearchExpression {
  checkLength(option, text)
  const trimmed = text.slice(0, text.length - blanksAtEnd(text))
  const unfinished = /^[ \t]*'((?:[^']|'')*)'$/.exec(trimmed)
  if (unfinished !== null) {
    const words = (unfinished[1] ?? '').replaceAll("''", "'").replaceAll('"', ' ')
    return { type: 'phrase', text: words.replace(/\s+/g, ' ').trim(), span: { from: 0, to: text.length } }
  }
  const tokens = tokensOf(option, trimmed)
  const reader = searchReader(option, text, tokens)
  const expression = reader.expression(0)
  reader.end()
  return expression
}

/** A regular expression would try each of many blanks within the text. */
function blanksAtEnd(text: string): number {
  let count = 0
  while (/[ \t]/.test(text.charAt(text.length - 1 - count))) count += 1
  return count
}

function tokensOf(option: string, text: string): readonly Token[] {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const start = TOKEN.lastIndex
    const match = TOKEN.exec(text)
    if (match === null) throw notAWord(option, text, start)
    const [, blanks = '', open, close, phrase, word = ''] = match
    const span = { from: start + blanks.length, to: TOKEN.lastIndex }
    const apart = blanks !== ''
    if (open !== undefined || close !== undefined)
      tokens.push({
        type: open === undefined ? 'close' : 'open',
        text: text.slice(span.from, span.to),
        apart,
        span,
      })
    else if (phrase === undefined) tokens.push({ type: 'word', text: word, apart, span })
    else tokens.push({ type: 'phrase', text: phrase.replace(/\\(["\\])/g, '$1'), apart, span })
  }
  return tokens
}

function notAWord(option: string, text: string, position: number): Error {
  const from = position + (/^[ \t]*/.exec(text.slice(position))?.[0].length ?? 0)
  if (text[from] !== '"') return unexpected(option, text, position)
  return odataFault(option, 'a phrase that is not closed, expected a second "', { from, to: text.length })
}

function searchReader(option: string, text: string, tokens: readonly Token[]) {
  let at = 0

  const fail = () => {
    const token = tokens[at]
    if (token === undefined) return unexpected(option, text, text.length)
    return unexpected(option, text, token.span.from)
  }

  /** Whether an operand begins at a token: white space separates it from the previous one. */
  const operandAt = (index: number): boolean => {
    const token = tokens[index]
    return token !== undefined && token.type !== 'close' && token.apart
  }

  const operator = (word: string): boolean => {
    const token = tokens[at]
    return token?.type === 'word' && token.text === word && operandAt(at + 1)
  }

  const expression = (depth: number): SearchExpression => {
    const operands = [conjunction(depth)]
    while (operandAt(at) && operator('OR')) {
      at += 1
      operands.push(conjunction(depth))
    }
    return joined('or', operands)
  }

  const conjunction = (depth: number): SearchExpression => {
    const operands = [negation(depth)]
    while (operandAt(at) && !operator('OR')) {
      if (operator('AND')) at += 1
      operands.push(negation(depth))
    }
    return joined('and', operands)
  }

  const negation = (depth: number): SearchExpression => {
    const token = tokens[at]
    if (!operator('NOT') || token === undefined) return primary(depth)
    if (depth >= MAX_DEPTH) throw tooDeep(option, token.span)
    at += 1
    const operand = negation(depth + 1)
    return { type: 'not', operand, span: { from: token.span.from, to: operand.span.to } }
  }

  const primary = (depth: number): SearchExpression => {
    const token = tokens[at]
    if (token === undefined || token.type === 'close') throw fail()
    if (depth >= MAX_DEPTH) throw tooDeep(option, token.span)
    at += 1
    if (token.type === 'word') return { type: 'term', text: token.text, span: token.span }
    if (token.type === 'phrase') {
      if (token.text === '') throw odataFault(option, 'a phrase without words', token.span)
      return { type: 'phrase', text: token.text, span: token.span }
    }
    const inner = expression(depth + 1)
    if (tokens[at]?.type !== 'close') throw fail()
    at += 1
    return inner
  }

  const end = (): void => {
    if (at < tokens.length) throw fail()
  }

  return { expression, end }
}

/** A single operand stays unchanged. */
function joined(type: 'and' | 'or', operands: readonly SearchExpression[]): SearchExpression {
  const [first, last] = [operands[0], operands.at(-1)]
  if (first === undefined || last === undefined) throw new Error('a search expression without operands')
  if (first === last) return first
  return { type, operands, span: { from: first.span.from, to: last.span.to } }
}
