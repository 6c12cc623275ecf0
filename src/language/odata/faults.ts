import { type DeclaredFault, declareFault, Fault, shortened } from '../../errors/errors.ts'
import type { Span } from './ast.ts'

/** A URL of OData, or one of its options, that cannot be parsed or does not fit the types (OData 4.0 Protocol 9.3). */
export const ODATA_ERROR = declareFault('ODataError', 400, '{reason}')
/** A request that can be parsed but is not supported (OData 4.0 Protocol 9.3.1). */
export const ODATA_UNSUPPORTED = declareFault('ODataUnsupported', 501, '{reason}')
/** A segment that names nothing (OData service 1.4). */
export const ODATA_SEGMENT = declareFault(
  'ODataSegment',
  404,
  "Resource not found for the segment '{segment}'",
)

/**
 * The fault of an option of OData: the error in plain words, and its position in the decoded text of the option.
 *
 * @param option with its `$`, or `path`
 * @param span character offsets into that text
 */
export function odataFault(
  option: string,
  reason: string,
  span: Span,
  declared: DeclaredFault<'{reason}'> = ODATA_ERROR,
): Fault {
  const short = shortened(reason)
  const described = `${option}, position ${span.from + 1}: ${short}.`
  return new Fault(declared, { reason: described }, { place: { from: span.from, to: span.to } })
}

/** Maximum length of an option, in characters. */
export const MAX_LENGTH = 20_000

/** Maximum depth of nesting: parentheses, chains of arithmetic, calls, lambda expressions. */
export const MAX_DEPTH = 200

/** Refuses an option that is too long. */
export function checkLength(option: string, text: string): void {
  if (text.length <= MAX_LENGTH) return
  const reason = `${text.length} characters are too many, at most ${MAX_LENGTH} are read`
  throw odataFault(option, reason, { from: MAX_LENGTH, to: text.length })
}

/** The fault of nesting deeper than {@link MAX_DEPTH}. */
export function tooDeep(option: string, span: Span): Fault {
  return odataFault(option, `the expression is nested deeper than ${MAX_DEPTH} levels`, span)
}

const OPERATORS = 'or|and|not|eq|ne|gt|ge|lt|le|add|sub|mul|div|divby|mod|in|has|as|with|from'

/** Text after which a value or a name is missing. */
const BEFORE_OPERAND = new RegExp(`(?:^|[(,:=/[{-]|(?:^|[ \\t])(?:${OPERATORS}))[ \\t]*$`, 'i')

/** An operator at the end of the text. */
const LAST = new RegExp(`^[ \\t]+(${OPERATORS})[ \\t]*$`, 'i')

/** Number of characters around a position that are examined. */
const AROUND = 64

/** The fault of a syntax error: what was found where parsing failed, and what is expected there. */
export function unexpected(option: string, text: string, position: number): Fault {
  const deep = deepest(text.slice(0, position))
  if (deep !== undefined) return tooDeep(option, { from: deep, to: deep + 1 })
  const rest = text.slice(position, position + AROUND)
  const last = position + AROUND < text.length ? null : LAST.exec(rest)
  if (last !== null) {
    const place = { from: text.length, to: text.length }
    return odataFault(option, `unexpected end, expected a value or a name after ${last[1]}`, place)
  }
  const blanks = /^[ \t]*/.exec(text.slice(position))?.[0].length ?? 0
  if (blanks > 0 && (position === 0 || position + blanks === text.length)) {
    const place = { from: position, to: position + blanks }
    return odataFault(option, 'unexpected blank, expected none at the beginning and the end', place)
  }
  const from = position + blanks
  const found = /^(?:[\p{L}\p{N}_]+|.)/su.exec(text.slice(from, from + AROUND))?.[0] ?? ''
  const reason = `unexpected ${named(found)}, expected ${expected(option, text, position, from)}`
  return odataFault(option, reason, { from, to: from + found.length })
}

/** The position of the parenthesis, bracket or brace that exceeds {@link MAX_DEPTH}: the parser itself stops at some depth. */
function deepest(text: string): number | undefined {
  let depth = 0
  for (const { 0: found, index } of text.matchAll(/'[^']*'|[([{]|[)\]}]/g)) {
    if (found.startsWith("'")) continue
    depth += /[([{]/.test(found) ? 1 : -1
    if (depth > MAX_DEPTH) return index
  }
  return undefined
}

function named(found: string): string {
  if (found === '') return 'end'
  return /^\p{C}$/u.test(found) ? 'control character' : found
}

function expected(option: string, text: string, position: number, from: number): string {
  const rest = text.slice(from, from + AROUND)
  if (rest.startsWith("'") && text.indexOf("'", from + 1) < 0) return 'a quote that closes the string'
  if (rest.startsWith('"')) return 'a string between single quotes'
  if (/^(?:==?|!=|<|>|&|\|)/.test(rest)) return 'an operator by its name, such as eq, ne, gt, and, or'
  if (rest.startsWith('(') && from > position) return 'the parenthesis directly after the name'
  if (BEFORE_OPERAND.test(text.slice(Math.max(0, from - AROUND), from))) return operand(option)
  if (rest === '') return 'more, such as a closing parenthesis'
  return option === '$search' ? 'white space between words' : 'an operator, a comma or the end'
}

function operand(option: string): string {
  if (option === '$search') return 'a word or a phrase'
  return option === '$select' || option === '$expand' ? 'a name' : 'a value or a name'
}
