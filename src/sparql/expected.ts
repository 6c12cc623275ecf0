import { lookup } from '../model/lookup.ts'

/** The versions that a query may announce (RDF 1.2 Concepts, "Versions of RDF"). */
export const VERSIONS: readonly string[] = ['1.1', '1.2', '1.2-basic']

/**
 * What a place of a query can hold, in words: from the names that the parser has for tokens. Tokens that are usually meant
 * together have one name, so that a list stays short.
 */

const VALUES: Readonly<Record<string, string>> = {
  Var1: 'a variable',
  Var2: 'a variable',
  IriRef: 'an IRI',
  PNameLn: 'an IRI',
  PNameNs: 'an IRI',
  StringLiteral1: 'a string',
  StringLiteral2: 'a string',
  StringLiteralLong1: 'a string',
  StringLiteralLong2: 'a string',
  Integer: 'a number',
  Decimal: 'a number',
  Double: 'a number',
  IntegerPositive: 'a number',
  DecimalPositive: 'a number',
  DoublePositive: 'a number',
  IntegerNegative: 'a number',
  DecimalNegative: 'a number',
  DoubleNegative: 'a number',
  True: 'true or false',
  False: 'true or false',
  BlankNodeLabel: 'a blank node',
  Anon: 'a blank node',
  LANG_DIR: 'a language tag',
}

const PUNCTUATION: Readonly<Record<string, string>> = {
  Dot: 'a full stop',
  Comma: 'a comma',
  Semi: 'a semicolon',
  Nil: '()',
  Order: 'ORDER BY',
  GroupByGroup: 'GROUP BY',
  a: 'a',
}

const PREDICATE = ['IriRef', 'PNameLn', 'PNameNs', 'a', 'Exclamation', 'LParen', 'Hat', 'Var1', 'Var2']

const OPERATORS = [
  ...['Star', 'Slash', 'OpPlus', 'OpMinus', 'Equal', 'NotEqual', 'LessThan', 'GreaterThan', 'LessThanEqual'],
  ...['GreaterThanEqual', 'In', 'NotIn', 'LogicAnd', 'LogicOr'],
  ...['IntegerPositive', 'DecimalPositive', 'DoublePositive'],
  ...['IntegerNegative', 'DecimalNegative', 'DoubleNegative'],
]

const PATTERNS = ['Optional', 'Minus', 'Graph', 'Service', 'Filter', 'Bind', 'Values', 'LCurly']

const UPDATES = [
  ...['Load', 'Clear', 'Drop', 'Add', 'Move', 'Copy', 'Create', 'ModifyWith'],
  ...['InsertDataClause', 'DeleteDataClause', 'DeleteWhereClause', 'DeleteClause', 'InsertClause'],
]

/** Forms that few queries have: listed where nothing else can stand. */
const RARE = ['Nil', 'TripleTermOpen', 'ReificationOpen', 'AnnotationOpen', 'Tilde']

/** A token as the parser names it, and as its grammar writes it. */
export interface TokenName {
  readonly name: string
  readonly LABEL?: string
}

/** In words, each once, what these tokens are. */
export function tokenWords(tokens: Iterable<TokenName>): readonly string[] {
  const labels = new Map(Array.from(tokens, ({ name, LABEL }) => [name, LABEL ?? name]))
  const words: string[] = []
  /** Takes tokens out where all the signs of a group are there, for one word. */
  const fold = (group: readonly string[], signs: readonly string[], word: string | null) => {
    if (!signs.every(name => labels.has(name))) return
    for (const name of group) labels.delete(name)
    if (word !== null) words.push(word)
  }
  fold(UPDATES, ['Load', 'Select'], null)
  fold(PREDICATE, ['IriRef', 'a', 'Hat'], 'a predicate')
  fold(OPERATORS, ['Equal', 'OpPlus'], 'an operator')
  fold(PATTERNS, ['Optional', 'Filter'], 'FILTER, OPTIONAL or another pattern')
  const functions = [...labels.keys()].filter(name => name.startsWith('BuiltIn'))
  fold(functions, ['BuiltInStr', 'BuiltInRegex'], 'a function')
  const others = [...labels].filter(([name]) => !RARE.includes(name))
  for (const [name, label] of others.length === 0 ? labels : others) words.push(wordOf(name, label, labels))
  return [...new Set(words)]
}

function wordOf(name: string, label: string, others: ReadonlyMap<string, string>): string {
  if (name === 'PNameNs' && !others.has('IriRef')) return 'a prefix with its colon'
  if (name === 'IriRef' && !others.has('PNameLn')) return 'an IRI in angle brackets'
  if (/^StringLiteral\d/.test(name) && !others.has('StringLiteralLong1'))
    return `one of ${VERSIONS.map(version => `"${version}"`).join(', ')}`
  return lookup(VALUES, name) ?? lookup(PUNCTUATION, name) ?? label
}

/** Tokens with which a term ends. */
const TERM_ENDS: ReadonlySet<string> = new Set([
  ...Object.keys(VALUES),
  'RSquare',
  'Nil',
  'TripleTermClose',
  'ReificationClose',
])

/**
 * What else could have stood in the place of the one token that the parser asked for last, when it had tried the rest.
 *
 * @param rule the rule of the grammar that was read
 * @param previous the token before the place
 */
export function closingWords(expected: TokenName, rule: string, previous: string | null): readonly string[] {
  const isAfterTerm = previous !== null && TERM_ENDS.has(previous)
  const closing = tokenWords([expected])
  switch (expected.name) {
    case 'RCurly':
      if (/^inlineData/.test(rule)) return ['a value', ...closing]
      return [
        ...(isAfterTerm ? ['a full stop', 'a semicolon', 'a comma'] : []),
        ...(rule === 'groupGraphPattern' || !isAfterTerm ? ['another pattern'] : []),
        ...closing,
      ]
    case 'RParen':
      if (/^inlineData/.test(rule)) return ['a value', ...closing]
      if (/^(?:path|collection)/.test(rule)) return closing
      return ['an operator', ...(/^(?:argList|expressionList)/.test(rule) ? ['a comma'] : []), ...closing]
    default:
      return closing
  }
}

/** What may follow the group of a query. */
export const AFTER_QUERY: readonly string[] = [
  ...['GROUP BY', 'HAVING', 'ORDER BY', 'LIMIT', 'OFFSET', 'VALUES'],
  'the end of the query',
]
