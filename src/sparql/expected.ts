import { lookup } from '../model/lookup.ts'

/** The versions that a query may announce (RDF 1.2 Concepts, "Versions of RDF"). */
export const VERSIONS: readonly string[] = ['1.1', '1.2', '1.2-basic']

/**
 * Values that can occur at a position of a query, in words, by the parser's names of tokens. Tokens that are usually alternatives
 * of one another share one name, so that a list stays short.
 */

const VALUES: Readonly<Record<string, string>> = Object.fromEntries(
  (
    [
      ['a variable', 'Var1 Var2'],
      ['an IRI', 'IriRef PNameLn PNameNs'],
      ['a string', 'StringLiteral1 StringLiteral2 StringLiteralLong1 StringLiteralLong2'],
      ['a number', 'Integer Decimal Double IntegerPositive DecimalPositive DoublePositive'],
      ['a number', 'IntegerNegative DecimalNegative DoubleNegative'],
      ['true or false', 'True False'],
      ['a blank node', 'BlankNodeLabel Anon'],
      ['a language tag', 'LANG_DIR'],
    ] as const
  ).flatMap(([word, names]) => names.split(' ').map(name => [name, word])),
)

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

/** Rare forms: listed only where no other token is possible. */
const RARE = ['Nil', 'TripleTermOpen', 'ReificationOpen', 'AnnotationOpen', 'Tilde']

/** A token: its name in the parser, and its text in the grammar. */
export interface TokenName {
  readonly name: string
  readonly LABEL?: string
}

/** Describes tokens in words, without duplicates. */
export function tokenWords(tokens: Iterable<TokenName>): readonly string[] {
  const labels = new Map(Array.from(tokens, ({ name, LABEL }) => [name, LABEL ?? name]))
  const words: string[] = []
  /** Replaces a group of tokens by one word where all its indicating tokens are present. */
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
 * What else is possible at the position of the single token that the parser expected after it had tried the alternatives.
 *
 * @param rule the rule of the grammar that was being parsed
 * @param previous the token before the position
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

const END = 'the end of the query'

/** The clauses after the WHERE group of a query by their tokens, in their order: LIMIT and OFFSET are in any. */
const CLAUSES: readonly (readonly [token: string, rank: number, word: string])[] = [
  ['GroupByGroup', 0, 'GROUP BY'],
  ['Having', 1, 'HAVING'],
  ['Order', 2, 'ORDER BY'],
  ['Limit', 3, 'LIMIT'],
  ['Offset', 3, 'OFFSET'],
  ['Values', 4, 'VALUES'],
]

/** What may follow the WHERE group of a query. */
export const AFTER_QUERY: readonly string[] = [...CLAUSES.map(([, , word]) => word), END]

/** What may follow tokens that are a query up to one of the clauses after its WHERE group. */
export function afterClauses(tokens: readonly string[]): readonly string[] {
  const found = new Set<string>()
  let depth = 0
  for (const name of tokens) {
    if (name === 'LCurly') depth++
    else if (name === 'RCurly') depth--
    else if (depth === 0) found.add(name)
  }
  const last = Math.max(-1, ...CLAUSES.flatMap(([token, rank]) => (found.has(token) ? [rank] : [])))
  const isPossible = (token: string, rank: number) =>
    rank === 3 ? !found.has(token) && last <= 3 : rank > last
  return [...CLAUSES.flatMap(([token, rank, word]) => (isPossible(token, rank) ? [word] : [])), END]
}
