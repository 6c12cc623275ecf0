/** Random graphs with values of every kind, and random SPARQL queries over them. */
import { languageDatatype } from '../../src/rdf/ntriples.ts'
import type { Triple } from '../../src/rdf/ntriples-reader.ts'
import type { BlankNode, Literal, NamedNode } from '../../src/rdf/term.ts'
import { GEO } from '../../src/rdf/vocab.ts'
import { between, chance, pick, times } from './random.ts'
import { pathPlace, withPaths } from './random-paths.ts'

const XSD = 'http://www.w3.org/2001/XMLSchema#'
const typed = (form: string, type: string) => `"${form}"^^<${XSD}${type}>`
const iri = (name: string) => `<http://example.org/${name}>`

const SUBJECTS = times(14, index => (index < 11 ? iri(`s${index}`) : `_:b${index}`))
const NAMES = times(11, index => iri(`s${index}`))

const INTEGERS = ['-3', '0', '1', '2', '3', '7', '12', '100'].map(form => typed(form, 'integer'))
const EXACT = [
  ...INTEGERS,
  ...['0.5', '-1.25', '2', '3.1', '1000000.000001'].map(form => typed(form, 'decimal')),
]
const DOUBLES = ['0.1', '-0', '0', '1.5', '2', '1000000000000000000', '-2.5', 'NaN', 'INF', '-INF'].map(
  form => typed(form, 'double'),
)
const FLOATS = ['0.1', '1.5', 'INF', '16777216'].map(form => typed(form, 'float'))
const HUGE = [
  '9007199254740993',
  '123456789012345',
  '-9007199254740993',
  '9007199254740992',
  '4503599627370497',
].map(form => typed(form, 'integer'))
const TEXTS = [
  '',
  'a',
  'b',
  'A',
  'abc',
  'b\\"c',
  'line\\nbreak',
  'é',
  'é',
  '日本',
  '😀x',
  '\uffee',
  'x y',
  '12',
  'a-b_c',
  'true',
].map(form => `"${form}"`)
const TAGGED = ['"a"@en', '"a"@en-gb', '"abc"@fr', '"b"@en', '"日本"@ja', '"A"@fr', '""@en']
const DATES = [
  '2020-01-01',
  '2019-12-31',
  '2020-02-29',
  '-0044-03-15',
  '12000-01-01',
  '2020-01-01Z',
  '2020-01-01+02:00',
].map(form => typed(form, 'date'))
const TIMES = [
  '2020-01-01T00:00:00Z',
  '2020-01-01T00:00:00+02:00',
  '2020-01-01T12:30:15.25Z',
  '2020-01-01T12:30:15.25',
  '1969-12-31T23:59:59Z',
  '2020-01-01T00:00:00',
  '0001-01-01T00:00:00Z',
].map(form => typed(form, 'dateTime'))
const DURATIONS = [
  ...['P1D', 'PT0.3S', '-PT0.5S', 'PT0S', 'P1DT12H', 'P40D'].map(form => typed(form, 'dayTimeDuration')),
  ...['P1Y', '-P1M', 'P0M', 'P2M'].map(form => typed(form, 'yearMonthDuration')),
  ...['P1Y', 'P366D', 'P367D', 'P1M', 'P30D', 'P1M1D', 'PT0S', 'P1DT12H'].map(form =>
    typed(form, 'duration'),
  ),
]
const BOOLEANS = ['true', 'false'].map(form => typed(form, 'boolean'))
const ODD = [
  typed('x', 'integer'),
  typed('2021-02-30', 'date'),
  typed('maybe', 'boolean'),
  '"x"^^<http://example.org/type>',
  '"1"^^<http://example.org/type>',
  typed('P1D', 'dayTimeDuration'),
  typed('P1Y', 'yearMonthDuration'),
  typed('12:30:00', 'time'),
  typed('2020', 'gYear'),
]

interface Column {
  readonly values: readonly string[]
  /** Share of subjects that have a value, and how many one may have. */
  readonly share: number
  readonly max: number
  /** True where any two values are in an order that the recommendation gives. */
  readonly ordered?: true
}

const COLUMNS: Readonly<Record<string, Column>> = {
  int: { values: INTEGERS, share: 0.9, max: 1, ordered: true },
  exact: { values: EXACT, share: 0.8, max: 2, ordered: true },
  double: { values: DOUBLES, share: 0.7, max: 2 },
  number: { values: [...EXACT, ...DOUBLES, ...FLOATS], share: 0.7, max: 3 },
  huge: { values: [...HUGE, ...INTEGERS], share: 0.5, max: 2, ordered: true },
  text: { values: TEXTS, share: 0.8, max: 2, ordered: true },
  label: { values: [...TEXTS, ...TAGGED], share: 0.7, max: 3 },
  day: { values: DATES.slice(0, 5), share: 0.6, max: 1, ordered: true },
  date: { values: DATES, share: 0.5, max: 2 },
  time: { values: TIMES, share: 0.6, max: 2 },
  flag: { values: BOOLEANS, share: 0.6, max: 1, ordered: true },
  span: { values: DURATIONS, share: 0.5, max: 2 },
  odd: { values: ODD, share: 0.4, max: 2 },
  link: { values: NAMES, share: 0.7, max: 2, ordered: true },
  part: { values: SUBJECTS, share: 0.5, max: 3 },
  /** Names of graphs, which GRAPH may bind as well. */
  source: { values: ['g1', 'g2', 's1'].map(iri), share: 0.5, max: 2, ordered: true },
  type: { values: [iri('A'), iri('B'), iri('C')], share: 0.9, max: 2, ordered: true },
  any: {
    values: [
      ...EXACT,
      ...DOUBLES,
      ...TEXTS,
      ...TAGGED,
      ...DATES,
      ...TIMES,
      ...DURATIONS,
      ...BOOLEANS,
      ...ODD,
      ...SUBJECTS,
    ],
    share: 0.7,
    max: 4,
  },
}

const PREDICATES = Object.keys(COLUMNS)
/** Those with values that have no order: resources, and literals of unknown datatypes or in no form of theirs. */
const UNORDERED = ['link', 'part', 'source', 'type', 'any', 'odd']
const ORDERED = PREDICATES.filter(name => COLUMNS[name]?.ordered === true)

/** The lines of a random graph as N-Triples, each once. */
export function makeGraph(): readonly string[] {
  const lines = new Set<string>()
  const share = pick([0.3, 0.7, 1])
  const columns = PREDICATES.filter(() => chance(0.85))
  for (const subject of SUBJECTS)
    for (const name of columns) {
      const column = COLUMNS[name] as Column
      if (!chance(column.share * share)) continue
      for (let count = between(1, column.max); count > 0; count--)
        lines.add(`${subject} ${iri(name)} ${pick(column.values)} .\n`)
    }
  return [...lines]
}

/** Names of the named graphs of all datasets. */
export const GRAPH_NAMES = ['http://example.org/g1', 'http://example.org/g2'] as const

/** A query and what of its answer is to be compared. */
export interface RandomQuery {
  readonly text: string
  /** Variables whose values have an order that is to be kept; none where the order is free. */
  readonly order: readonly string[]
  /** True where numbers that are equal are compared without their types. */
  readonly byValue?: boolean
  /** True where all solutions are one group, which there is also of none. */
  readonly isOneGroup?: boolean
  /** The text for the engine, with other patterns for paths (see random-paths.ts), and hidden variables in them. */
  readonly engineText?: string
  /** True where no two solutions are equal. */
  readonly isDistinct?: boolean
}

const VARIABLES = ['a', 'b', 'c', 'd', 'x', 'y', 'z'] as const
const variable = () => `?${pick(VARIABLES)}`
/** Variables that are subjects, mostly. */
const subjectVariable = () => `?${pick(['a', 'b'])}`
const valueVariable = () => `?${pick(['c', 'd', 'x', 'y'])}`

const termOf = (name: string) =>
  pick((COLUMNS[name] as Column).values.filter(value => !value.startsWith('_:')))
const anyConstant = () => termOf(pick(PREDICATES))

function triple(): string {
  const subject = chance(0.9) ? subjectVariable() : pick(NAMES)
  if (chance(0.06)) return `${subject} ${variable()} ${chance(0.6) ? variable() : anyConstant()} .`
  const name = pick(PREDICATES)
  const isLink = name === 'link' || name === 'part'
  const object = chance(0.12) ? termOf(name) : isLink && chance(0.7) ? subjectVariable() : valueVariable()
  return `${subject} ${iri(name)} ${object} .`
}

const triples = () => times(pick([1, 1, 2, 2, 3]), triple).join(' ')

/** A path between variables, the same one sometimes, and terms. */
function pathPattern(): string {
  const end = () =>
    chance(0.7) ? subjectVariable() : chance(0.5) ? pick(NAMES) : chance(0.7) ? valueVariable() : '?z'
  const begin = end()
  return pathPlace(begin, begin.startsWith('?') && chance(0.08) ? begin : end())
}

/** Paths that share variables, also with triples beside them. */
const pathPatterns = () =>
  `${times(pick([1, 1, 2, 3]), pathPattern).join(' ')} ${chance(0.4) ? triple() : ''}`

/**
 * True within EXISTS and GRAPH, where Oxigraph has MINUS see what is bound outside and subqueries read all graphs, and within
 * groups in groups, where it has EXISTS see what is bound outside.
 */
let isWithin = false

function within(depth: number): string {
  const before = isWithin
  isWithin = true
  const inner = group(depth)
  isWithin = before
  return inner
}

function group(depth: number): string {
  const parts: string[] = [chance(0.75) ? triples() : chance(0.6) ? pathPatterns() : '']
  for (let count = depth <= 0 ? between(0, 1) : between(0, 3); count > 0; count--) parts.push(part(depth))
  return `{ ${parts.join(' ')} }`
}

function part(depth: number): string {
  const inner = () => within(depth - 1)
  switch (depth <= 0 ? pick([0, 1, 1, 2, 12]) : between(0, 20)) {
    case 0:
      return triples()
    case 1:
    case 2:
      return `FILTER(${condition(depth)})`
    case 3:
      return `OPTIONAL ${inner()}`
    case 4:
      return `OPTIONAL { ${chance(0.8) ? triple() : pathPattern()} ${chance(0.4) ? `FILTER(${condition(0)})` : ''} }`
    case 5:
      return `${inner()} UNION ${inner()}`
    case 6:
      return isWithin ? triples() : `MINUS ${within(depth - 1)}`
    case 7:
      return isWithin ? triples() : `FILTER ${chance(0.5) ? 'NOT ' : ''}EXISTS ${within(depth - 1)}`
    case 8:
      return chance(0.6) ? `BIND(${expression(2)} AS ?n${between(0, 99999)})` : chained()
    case 9:
      return inlineData()
    case 10:
      return isWithin ? triples() : `{ ${subquery(depth - 1)} }`
    case 11:
      return `GRAPH ${chance(0.6) ? '?g' : `<${pick(GRAPH_NAMES)}>`} ${inner()}`
    case 12:
    case 17:
      return pathPatterns()
    case 13:
      return inner()
    case 14:
      return joinedByEquality()
    case 15:
      return isWithin ? triples() : comparedWithOthers()
    case 18:
      return isWithin ? triples() : `{ ${firstOnes()} }`
    case 19:
      return namedWithin()
    default:
      return triples()
  }
}

/** Values of values, and perhaps a condition on the last. */
function chained(): string {
  const names = times(between(2, 3), () => `?n${between(0, 99999)}`)
  const next = (before: string) =>
    pick([
      `${before} + 1`,
      `STR(${before})`,
      `STRLEN(STR(${before}))`,
      `COALESCE(${before}, ${expression(0)})`,
      `IF(BOUND(${before}), ${before}, ${variable()})`,
      `IF(${comparison(before, '=', expression(0))}, ${before}, ${variable()})`,
      `CONCAT(STR(${before}), STR(${variable()}))`,
      `${before} * ${variable()}`,
    ])
  const binds = names.map(
    (name, at) => `BIND(${at === 0 ? expression(1) : next(names[at - 1] as string)} AS ${name})`,
  )
  const last = names.at(-1) as string
  return `${binds.join(' ')} ${chance(0.4) ? `FILTER(${comparison(last, pick(['=', '!=', '<']), expression(0))})` : ''}`
}

/** GRAPH whose name is bound by patterns within, beside or before. */
function namedWithin(): string {
  const named = `${subjectVariable()} ${iri('source')} ?g .`
  const inner = chance(0.6) ? triples() : pathPatterns()
  return pick([
    `GRAPH ?g { ${named} ${inner} }`,
    `GRAPH ?g { ${named} } ${inner}`,
    `${named} GRAPH ?g { ${inner} }`,
    `GRAPH ?g { ${inner} } GRAPH ?g { ${triple()} }`,
    `VALUES ?g { <${GRAPH_NAMES[0]}> ${chance(0.3) ? 'UNDEF' : iri('s1')} } GRAPH ?g { ${inner} }`,
  ])
}

/** Patterns that nothing connects but that something of them is equal. */
function joinedByEquality(): string {
  const names = times(2, () => `?e${between(0, 99999)}`)
  const linked = (value: string) => `${value}s ${iri(pick(PREDICATES))} ${value} .`
  const side = (value: string) =>
    pick([value, value, `STR(${value})`, `LCASE(STR(${value}))`, `${value}s`, `STRLEN(STR(${value}))`])
  const [left, right] = names.map(side) as [string, string]
  const more = chance(0.3) ? `FILTER(${left} != ${pick([right, anyConstant()])} || ${test()})` : ''
  const between3 = chance(0.3) ? `${subjectVariable()} ${iri(pick(PREDICATES))} ${names[0]} .` : ''
  const [first, second] = names.map(linked)
  // What is bound before is looked up, too: inline data, and the rows of EXISTS.
  const begun = chance(0.3) ? `VALUES ${names[0]} { ${times(between(1, 4), anyConstant).join(' ')} }` : first
  const joined = `${second} FILTER(${comparison(left, '=', right)})`
  const inner = chance(0.2) && !isWithin ? `FILTER ${chance(0.5) ? 'NOT ' : ''}EXISTS { ${joined} }` : joined
  return `${begun} ${between3} ${inner} ${inner === joined ? more : ''}`
}

/** Solutions of which there is no other, or another, by an inequality: as EXISTS, or as the absence of an optional group. */
function comparedWithOthers(): string {
  const name = between(0, 99999)
  // Booleans have an order (section 17.3), which Oxigraph does not have.
  const valueName = pick(PREDICATES.filter(each => each !== 'flag'))
  const value = iri(valueName)
  const key = iri(pick(PREDICATES))
  const isKeyed = chance(0.7)
  const linked = (of: string) =>
    `?${of}s${name} ${value} ?${of}v${name} . ${isKeyed ? `?${of}s${name} ${key} ?key${name} .` : ''}`
  const [own, other] = ['o', 'x'].map(of =>
    pick([
      `?${of}v${name}`,
      `?${of}v${name}`,
      `?${of}v${name}`,
      `?${of}s${name}`,
      `STR(?${of}v${name})`,
      `?${of}v${name} + 1`,
    ]),
  ) as [string, string]
  // Others have none, but Oxigraph finds them `<=` themselves.
  const mayBeUnordered = [own, other].every(
    side => side.includes('?os') || side.includes('?xs') || UNORDERED.includes(valueName),
  )
  const compared = `${other} ${pick(mayBeUnordered ? ['<', '>', '!='] : ['<', '<=', '>', '>=', '!='])} ${own}`
  const also = pick([
    '',
    '',
    ` && ?xs${name} != ?os${name}`,
    ` && STR(?xv${name}) = STR(?ov${name})`,
    ` && ?xv${name} = ?ov${name}`,
    ` && (?xv${name} != ?ov${name} || ?xs${name} = ?os${name})`,
    ` && ?xv${name} > ${anyConstant()}`,
  ])
  const filter = `FILTER(${chance(0.7) ? compared : `${own} < ${other}`}${also})`
  const others = `{ ${linked('x')} ${filter} }`
  const test = pick([
    `FILTER EXISTS ${others}`,
    `FILTER NOT EXISTS ${others}`,
    `OPTIONAL ${others} FILTER(!BOUND(?xv${name}))`,
  ])
  return `${linked('o')} ${test}`
}

function inlineData(): string {
  const names = [...new Set([chance(0.5) ? subjectVariable() : valueVariable(), valueVariable()])].slice(
    0,
    between(1, 2),
  )
  const cell = (name: string) =>
    chance(0.15) ? 'UNDEF' : name === '?a' || name === '?b' ? pick(NAMES) : anyConstant()
  const rows = times(between(1, 4), () => `(${names.map(cell).join(' ')})`)
  return `VALUES (${names.join(' ')}) { ${rows.join(' ')} }`
}

/** A subquery whose inner variables have names of their own: Oxigraph has EXISTS outside see them. */
function subquery(depth: number): string {
  const text = selection(depth)
  const head = text.slice(0, text.indexOf('WHERE')).replace(/\(.*$/s, '')
  const hidden = VARIABLES.filter(name => !new RegExp(`\\?${name}\\b`).test(head))
  return hidden.reduce(
    (inner, name) => inner.replace(new RegExp(`\\?${name}\\b`, 'g'), `?inner_${name}`),
    text,
  )
}

/** The first or the last of solutions that have an order, and no two of which are equal. */
function firstOnes(): string {
  const name = pick(ORDERED.filter(each => each !== 'exact'))
  const direction = () => pick(['ASC', 'DESC'])
  const more = chance(0.5) ? `FILTER(${condition(0)})` : ''
  const page = `LIMIT ${between(0, 5)} ${chance(0.4) ? `OFFSET ${between(0, 4)}` : ''}`
  const subject = subjectVariable()
  const value = valueVariable()
  const where = `{ ${subject} ${iri(name)} ${value} FILTER(isIRI(${subject})) ${more.replace(/\?[a-z]\b/g, each => pick([value, subject, each]))} }`
  return `SELECT DISTINCT ${subject} ${value} WHERE ${where} ORDER BY ${direction()}(${value}) ${direction()}(${subject}) ${page}`
}

function selection(depth: number): string {
  if (chance(0.4)) return grouped(depth, 1)
  const names = [...new Set([subjectVariable(), valueVariable()])].join(' ')
  return `SELECT ${chance(0.4) ? 'DISTINCT ' : ''}${names} WHERE ${group(depth)}`
}

/** A condition of a filter. */
function condition(depth: number): string {
  switch (between(0, 9)) {
    case 0:
      return `${condition(depth)} && ${condition(depth)}`
    case 1:
      return `(${condition(depth)} || ${condition(depth)})`
    case 2:
      return `!(${condition(depth)})`
    case 3:
      return depth > 0 && !isWithin
        ? `${chance(0.5) ? 'NOT ' : ''}EXISTS ${within(depth - 1)}`
        : `BOUND(${variable()})`
    case 4:
      return `${expression(1)} ${chance(0.5) ? 'NOT ' : ''}IN (${times(between(1, 3), () => expression(0)).join(', ')})`
    case 5:
      return test()
    case 6:
      return depth > 0 && !isWithin
        ? `IF(EXISTS ${within(depth - 1)}, ${test()}, ${test()})`
        : comparison(expression(1), '=', expression(1))
    default:
      return comparison(expression(1), pick(['=', '!=', '<', '<=', '>', '>=']), expression(1))
  }
}

/** Resources have no order (SPARQL 1.1 Query, section 17.3), but Oxigraph finds one `<=` itself: where both sides may be one it is `<`. */
function comparison(left: string, operator: string, right: string): string {
  const mayBeResource = (text: string) => /<http:\/\/example\.org\/s\d|\?[ab]\b/.test(text)
  const isAvoided = /^[<>]=/.test(operator) && mayBeResource(left) && mayBeResource(right)
  // Booleans have an order (section 17.3), which Oxigraph does not have.
  const isBoolean = (text: string) => /^\(?BOUND\(|boolean>\(/.test(text)
  if (/^[<>]/.test(operator) && isBoolean(left) && isBoolean(right)) return `${left} = ${right}`
  return `${left} ${isAvoided ? operator.charAt(0) : operator} ${right}`
}

function test(): string {
  const text = () => `STR(${valueVariable()})`
  return pick([
    () => `BOUND(${variable()})`,
    () => `${pick(['isIRI', 'isBlank', 'isLiteral', 'isNumeric'])}(${variable()})`,
    () =>
      `${pick(['CONTAINS', 'STRSTARTS', 'STRENDS'])}(${chance(0.5) ? text() : valueVariable()}, ${pick(TEXTS)})`,
    () =>
      `REGEX(${text()}, ${pick(['"^a"', '"[0-9]+"', '"b.c"', '"A"', '"x|y"'])}${chance(0.4) ? ', "i"' : ''})`,
    () => `LANGMATCHES(LANG(${valueVariable()}), ${pick(['"en"', '"*"', '"fr"', '""', '"EN-GB"'])})`,
    () => `sameTerm(${variable()}, ${chance(0.5) ? variable() : anyConstant()})`,
    () => `DATATYPE(${valueVariable()}) = <${XSD}${pick(['integer', 'string', 'double', 'date'])}>`,
    () => valueVariable(),
  ])()
}

/** An expression of any type. */
function expression(depth: number): string {
  if (depth <= 0) return chance(0.65) ? variable() : anyConstant()
  const one = () => expression(depth - 1)
  return pick([
    () => variable(),
    () => anyConstant(),
    () => `(${one()} ${pick(['+', '-', '*', '/'])} ${one()})`,
    () => `-(${one()})`,
    () => `${pick(['ABS', 'CEIL', 'FLOOR'])}(${one()})`,
    () => `ROUND(ABS(${one()}))`,
    () => `${pick(['STR', 'LANG', 'DATATYPE'])}(${one()})`,
    () => `STRLEN(STR(${variable()}))`,
    () => `${pick(['UCASE', 'LCASE'])}(${valueVariable()})`,
    () => `SUBSTR(${valueVariable()}, ${between(1, 3)}${chance(0.5) ? `, ${between(0, 3)}` : ''})`,
    () => `${pick(['STRBEFORE', 'STRAFTER'])}(${valueVariable()}, ${pick(['""', '"b"', '"a"@en', '"-"'])})`,
    () => `CONCAT(${valueVariable()}, ${pick(TEXTS)})`,
    () =>
      `REPLACE(STR(${valueVariable()}), ${pick(['"[ab]"', '"(.)b"', '"x"'])}, ${pick(['"z"', '"<$1>"'])})`,
    () => `${pick(['YEAR', 'MONTH', 'DAY', 'HOURS', 'MINUTES', 'SECONDS', 'TZ'])}(${valueVariable()})`,
    () => `IF(${condition(0)}, ${one()}, ${one()})`,
    () => `COALESCE(${one()}, ${one()})`,
    () => `ENCODE_FOR_URI(STR(${variable()}))`,
    () => `${pick(['MD5', 'SHA1', 'SHA256'])}(STR(${variable()}))`,
    () => `TIMEZONE(${valueVariable()})`,
    // Oxigraph has no casts of durations with months to dayTimeDuration (XPath Functions 3.1, section 19.1.4).
    () => `<${XSD}${pick(['dateTime', 'date', 'float', 'duration'])}>(${valueVariable()})`,
    () => `<${XSD}${pick(['integer', 'double', 'decimal', 'string', 'boolean'])}>(${valueVariable()})`,
    () => `STRDT(STR(${valueVariable()}), <http://example.org/type>)`,
    () => `STRLANG(STR(${valueVariable()}), "en")`,
    () => `IRI(CONCAT("http://example.org/", STRLEN(STR(${variable()}))))`,
    () => `(${condition(0)})`,
  ])()
}

function aggregate(): string {
  const distinct = chance(0.4) ? 'DISTINCT ' : ''
  return pick([
    () => 'COUNT(*)',
    () => `COUNT(${distinct}${variable()})`,
    () => `${pick(['SUM', 'AVG'])}(${distinct}${chance(0.7) ? valueVariable() : `ABS(${expression(1)})`})`,
    () => `COUNT(${distinct}COALESCE(${expression(1)}, 0))`,
    () => `STRLEN(GROUP_CONCAT(${distinct}STR(${variable()}); SEPARATOR="|"))`,
  ])()
}

const HAVING = [
  () => 'COUNT(*) > 1',
  () => `COUNT(${variable()}) < 4`,
  () => `COUNT(DISTINCT ${variable()}) IN (1, 2)`,
  () => `SUM(${valueVariable()}) > ${between(0, 9)} || COUNT(*) = 1`,
  () => `COUNT(${variable()}) < COUNT(*) && COUNT(DISTINCT ${variable()}) != 2`,
]

/** Groups of groups: figures of the figures of others. */
function groupedAgain(): string {
  const name = between(0, 99999)
  const [key, other] = [subjectVariable(), valueVariable()]
  const inner = `SELECT ${key} ${other} (${aggregate()} AS ?i${name}) WHERE ${group(1)} GROUP BY ${key} ${other}`
  const figures = `(${pick(['SUM', 'MIN', 'MAX', 'COUNT'])}(?i${name}) AS ?f${name}) (COUNT(DISTINCT ${pick([key, other])}) AS ?n${name})`
  const more = chance(0.4) ? `OPTIONAL { ${triple()} }` : ''
  const having = chance(0.3) ? `HAVING(COUNT(?i${name}) > ${between(0, 2)})` : ''
  const by = pick(['', key, other])
  return `SELECT ${by} ${figures} WHERE { { ${inner} } ${more} } ${by === '' ? '' : `GROUP BY ${by}`} ${having}`
}

function grouped(depth: number, fewestKeys = 0): string {
  const keys = [
    ...new Set(times(between(fewestKeys, 2), () => (chance(0.7) ? valueVariable() : subjectVariable()))),
  ]
  const computed = chance(0.2) ? `(COALESCE(${expression(1)}, 1) AS ?k${between(0, 99999)})` : ''
  const computedName = /AS (\?k\d+)\)$/.exec(computed)?.[1] ?? ''
  const name = between(0, 99999)
  const figures = times(between(1, 2), index => `(${aggregate()} AS ?f${name}${index})`)
  const by = keys.length + computed.length > 0 ? `GROUP BY ${keys.join(' ')} ${computed}` : ''
  const having = chance(0.3) ? `HAVING(${pick(HAVING)()})` : ''
  return `SELECT ${keys.join(' ')} ${computedName} ${figures.join(' ')} WHERE ${group(depth)} ${by} ${having}`
}

/** A query in whose order nothing is left open but that of equal keys, and a page of its keys. */
function orderedQuery(): RandomQuery {
  const [first, second] = [pick(ORDERED), pick(ORDERED)]
  const direction = () => pick(['ASC', 'DESC'])
  const optional = chance(0.4)
  const more = `?a ${iri(second)} ?d .`
  const where = `{ ?a ${iri(first)} ?c . ${optional ? `OPTIONAL { ${more} }` : more} ${chance(0.3) ? `FILTER(${condition(0)})` : ''} }`
  const page = chance(0.6) ? `LIMIT ${between(0, 12)} ${chance(0.5) ? `OFFSET ${between(0, 6)}` : ''}` : ''
  const distinct = chance(0.2) ? 'DISTINCT ' : ''
  const absent = chance(0.4) ? `${direction()}(${pick(['', '!'])}BOUND(?d))` : ''
  return {
    text: `SELECT ${distinct}?c ?d WHERE ${where} ORDER BY ${direction()}(?c) ${absent} ${direction()}(?d) ${page}`,
    order: ['c', 'd'],
    byValue: true,
  }
}

/** A least or greatest value, of values whose order the recommendation gives. */
function extremes(): RandomQuery {
  const name = pick(ORDERED)
  const key = pick(['type', 'flag', 'int'])
  const figures = `(MIN(?v) AS ?low) (MAX(?v) AS ?high) (COUNT(DISTINCT ?v) AS ?n)`
  const by = chance(0.7) ? `GROUP BY ?k` : ''
  return {
    text: `SELECT ${by === '' ? '' : '?k '}${figures} WHERE { ?a ${iri(name)} ?v ; ${iri(key)} ?k . ${chance(0.4) ? `FILTER(${condition(0)})` : ''} } ${by}`,
    order: [],
    byValue: true,
    isOneGroup: by === '',
  }
}

export function makeQuery(): RandomQuery {
  const query = queryWithPlaces()
  const { text, expanded } = withPaths(query.text)
  return { ...query, text, engineText: expanded }
}

function queryWithPlaces(): RandomQuery {
  const kind = between(0, 10)
  if (kind === 0) return orderedQuery()
  if (kind === 1) return extremes()
  if (kind <= 3) {
    const text = chance(0.8) ? grouped(2) : groupedAgain()
    return { text, order: [], isOneGroup: !/GROUP BY [^{}]*$/.test(text) }
  }
  if (kind === 4) return { text: `ASK ${group(2)}`, order: [] }
  const distinct = pick(['', '', 'DISTINCT '])
  const after = chance(0.15) ? inlineData() : ''
  const where = kind === 5 ? `{ ${pathPatterns()} ${part(1)} }` : group(2)
  const names = distinct === '' || chance(0.4) ? '*' : [...new Set([variable(), valueVariable()])].join(' ')
  return {
    text: `SELECT ${distinct}${names} WHERE ${where} ${after}`,
    order: [],
    isDistinct: distinct !== '',
  }
}

const FORMS: Readonly<Record<string, readonly string[]>> = {
  integer: ['1', '01', '+1', '-0', '0', '9007199254740993', '-18446744073709551616', 'x', '', ' 1', '1.0'],
  int: ['1', '2147483648', '007'],
  nonNegativeInteger: ['0', '-1', '1'],
  decimal: [
    '1',
    '1.0',
    '1.',
    '.5',
    '+0.50',
    '-0.0',
    '0.000000000000000000000000001',
    '123456789012345678901234567890.5',
  ],
  double: [
    '1',
    '1.0E0',
    '1e0',
    '-0',
    '-0.0',
    'NaN',
    'INF',
    '-INF',
    '+INF',
    '1e400',
    '1e-400',
    'nan',
    '4.9E-324',
  ],
  float: ['0.1', '16777217', '1E10', 'NaN'],
  boolean: ['true', 'false', '1', '0', 'TRUE', ''],
  date: [
    '2020-01-01',
    '2020-02-30',
    '2020-01-01Z',
    '2020-01-01+14:00',
    '-0001-01-01',
    '0000-01-01',
    '12345-06-07',
    '20-1-1',
  ],
  dateTime: [
    '2020-01-01T00:00:00',
    '2020-01-01T00:00:00Z',
    '2020-01-01T00:00:00.000Z',
    '2020-01-01T00:00:00.10Z',
    '2020-01-01T24:00:00Z',
    '2020-01-01T23:59:60Z',
    '2020-01-01T00:00:00-00:00',
    '2020-01-01T00:00:00.123456789+05:30',
    '-0044-03-15T12:00:00Z',
    '2020-13-01T00:00:00Z',
  ],
  time: ['00:00:00', '24:00:00Z', '12:30:00.5+01:00'],
  gYear: ['2020', '-0001', '2020Z'],
  duration: ['P1Y2M3DT4H5M6.7S', '-P1D', 'PT0S', 'P'],
  string: [
    '',
    'a',
    'a\nb',
    '\r\n',
    '\t"\\',
    '\u0000\u0001\u007f',
    '\ufffe',
    'é',
    'e\u0301',
    '\u{1f600}',
    '\uffee',
    ' ',
  ],
}

const WKT = [
  'POINT (2.35 48.85)',
  'POINT(2.35 48.85)',
  'POINT (2.350 48.85)',
  'POINT (-0 0)',
  'POINT (1e3 2)',
  'POINT EMPTY',
  'POLYGON ((0 0, 1 0, 1 1, 0 0))',
  '<http://www.opengis.net/def/crs/EPSG/0/4326> POINT (48.85 2.35)',
]

const TAGS = ['en', 'EN', 'en-GB', 'zh-Hant-TW', 'ar--rtl', 'en--ltr', 'de-x-private']

const PLACES = [
  'http://example.org/',
  'http://example.org/a/0123456789abcdef0123456789abcdef01234567',
  'http://example.org/a/0123456789ABCDEF0123456789abcdef01234567',
  'http://example.org/a/fedcba9876543210fedcba9876543210fedcba98',
  'urn:x:é日本\u{1f600}',
  'http://example.org/%C3%A9?q=1&r=2#frag',
  `http://example.org/${'long/'.repeat(300)}`,
]

/** A graph with whatever N-Triples can have, each line once: forms that are no canonical ones, and values that are none. */
export function makeOddGraph(): readonly Triple[] {
  const places = [...PLACES, ...times(between(0, 40), index => `http://example.org/${index * index}`)]
  const node = (): NamedNode | BlankNode =>
    chance(0.2) ? { type: 'blank', value: `b${between(0, 9)}` } : { type: 'iri', value: pick(places) }
  const literal = (): Literal => {
    const kind = between(0, 9)
    if (kind === 0) return { type: 'literal', value: pick(WKT), datatype: GEO.wktLiteral, language: '' }
    if (kind === 1)
      return {
        type: 'literal',
        value: pick(FORMS.string ?? []),
        datatype: 'http://example.org/é',
        language: '',
      }
    if (kind <= 3) {
      const language = pick(TAGS)
      return {
        type: 'literal',
        value: pick(FORMS.string ?? []),
        datatype: languageDatatype(language),
        language,
      }
    }
    const name = pick(Object.keys(FORMS))
    return { type: 'literal', value: pick(FORMS[name] ?? []), datatype: XSD + name, language: '' }
  }
  const predicates = times(between(1, 8), index => `http://example.org/p${index}`)
  return times(between(0, 400), () => ({
    subject: node(),
    predicate: { type: 'iri', value: pick(predicates) },
    object: chance(0.3) ? node() : literal(),
  }))
}
