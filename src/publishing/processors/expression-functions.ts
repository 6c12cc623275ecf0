import type { Argument, Expression, Span } from '../../language/odsql/ast.ts'
import { DATE_PARTS } from '../../language/odsql/vocabulary.ts'
import { fold, isLastCharacter, tokens } from '../../model/search.ts'
import { parsePattern } from '../../query/date-pattern.ts'
import { type ExpressionScope, type ProcessorValue, refused, type Test } from './expression-scope.ts'
import { formatted, partOf } from './moments.ts'
import { processorText } from './values.ts'

type Call = Extract<Expression, { type: 'call' }>

const KNOWN = `length, lower, ifnull, date_format, ${DATE_PARTS.join(', ')}`

/** Compiles a function call whose value depends on the row alone. */
export function compileCall(call: Call, scope: ExpressionScope): ProcessorValue {
  const { name, span } = call
  const operand = (at: number) => scope.compile(expressionAt(call, at, scope))
  const [least, max] = name === 'ifnull' || name === 'date_format' ? [2, 2] : [1, 1]
  const isKnown = KNOWN.split(', ').includes(name)
  if (!isKnown) throw refused(scope, `${name} is no function of a step; known are ${KNOWN}`, span)
  if (call.arguments.length < least || call.arguments.length > max)
    throw refused(scope, `${name} takes ${least} argument${least === 1 ? '' : 's'}`, span)
  const first = operand(0)
  switch (name) {
    case 'length':
      return row => {
        const text = processorText(first(row))
        return text === null ? null : [...text].length
      }
    case 'lower':
      return row => processorText(first(row))?.toLowerCase() ?? null
    case 'ifnull': {
      const second = operand(1)
      return row => first(row) ?? second(row)
    }
    case 'date_format': {
      const pattern = expressionAt(call, 1, scope)
      if (pattern.type !== 'string') throw refused(scope, 'a pattern in quotes is expected', pattern.span)
      const parts = parsePattern(pattern.value)
      if ('unknown' in parts) throw refused(scope, `date_format has no symbol ${parts.unknown}`, pattern.span)
      return row => formatted(first(row), parts)
    }
    default:
      return row => partOf(first(row), name)
  }
}

function expressionAt(call: Call, at: number, scope: ExpressionScope): Expression {
  const argument = call.arguments[at]
  if (
    argument === undefined ||
    ['star', 'distinct', 'wildcard', 'quantity', 'named', 'steps'].includes(argument.type)
  )
    throw refused(scope, `${call.name} takes a value`, argument?.span ?? call.span)
  return argument as Expression
}

/** True for the functions that search in a text. */
export function isTextTest(name: string): name is 'search' | 'suggest' | 'startswith' {
  return name === 'search' || name === 'suggest' || name === 'startswith'
}

/** Compiles `like`, `search`, `suggest` and `startswith` of one column; words are compared without accents and letter case. */
export function compileTextTest(
  kind: 'like' | 'search' | 'suggest' | 'startswith',
  operand: Expression,
  pattern: Argument,
  scope: ExpressionScope,
  span: Span,
): Test {
  if (pattern.type !== 'string') throw refused(scope, 'a text in quotes is expected', span)
  const read = scope.compile(operand)
  const { value } = pattern
  if (kind === 'startswith') return row => processorText(read(row))?.startsWith(value) === true
  const words = value.split(/\s+/).flatMap(chunk =>
    tokens(chunk).map((word, at, all) => ({
      word,
      isPrefix: kind === 'suggest' || (chunk.endsWith('*') && at === all.length - 1) || isLastCharacter(word),
    })),
  )
  return row => {
    const text = processorText(read(row))
    if (text === null) return false
    const found = new Set(tokens(fold(text)))
    return words.every(({ word, isPrefix }) =>
      isPrefix ? [...found].some(other => other.startsWith(word)) : found.has(word),
    )
  }
}
