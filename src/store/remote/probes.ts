import { lookup } from '../../model/lookup.ts'
import { termText } from '../../rdf/ntriples.ts'
import type { Literal } from '../../rdf/term.ts'
import { GEO, GEOF, RDF, UOM, XSD } from '../../rdf/vocab.ts'
import type { Expression, Pattern, SelectQuery, Variable } from '../../sparql/algebra.ts'
import {
  apply,
  binary,
  bind,
  call,
  conditional,
  exists,
  filter,
  inGraph,
  integer,
  iri,
  literal,
  minus,
  not,
  optional,
  subquery,
  triple,
  variable,
} from '../../sparql/build.ts'
import type { Solution } from '../store.ts'
import { ANY, type Feature } from './features.ts'

/**
 * A question whose answer tells whether an engine has a feature as Lodestone needs it (features.ts). `stored`, `equal` and
 * `patterns` are what nothing works without.
 */
export interface Probe {
  readonly feature: Feature
  readonly query: SelectQuery
  /** Whether the rows have an order. */
  readonly isOrdered?: boolean
}

const SPACE = 'urn:lodestone:probe:'
const CLASS = `${SPACE}thing`
const geometry = (text: string) => literal(text, GEO.wktLiteral)

/** What is computed from: by predicate, the values of as many subjects, all plain (plain.ts). */
const VALUES: Readonly<Record<string, readonly Literal[]>> = {
  text: [
    ...[
      '',
      ' ',
      'a',
      'A',
      'b',
      'Zürich',
      'zurich',
      'ÉCOLE',
      'école',
      'e\u0301cole',
      'ß',
      'İstanbul',
      'ὈΔΥΣΣΕΎΣ',
    ],
    ...[
      '日本語 テスト',
      'a\tb\nc',
      'quote " and \\ back',
      'x.y*z',
      'one two  three',
      ' in blanks ',
      'ﬁn',
      'true',
      '\ufffd',
    ],
    ...[
      '12',
      ' 12 ',
      '1.5',
      'abc',
      '2024-05-06',
      '2024-05-06T07:08:09Z',
      'x'.repeat(3000),
      '\ue000',
      '\u00a0',
    ],
  ].map(text => literal(text)),
  int: ['0', '-7', '1000000000', '2147483647', '7', '42'].map(value => literal(value, XSD.integer)),
  double: ['0', '-0.5', '0.1', '1000000000000000', '0.0001', '2.5', '-2.5', '3.5', '48.856614'].map(value =>
    literal(value, XSD.double),
  ),
  decimal: ['1.1', '-0.000001', '12345678901.5'].map(value => literal(value, XSD.decimal)),
  boolean: ['true', 'false'].map(value => literal(value, XSD.boolean)),
  date: ['2024-02-29', '1600-02-29', '1583-01-01', '9999-12-31'].map(value => literal(value, XSD.date)),
  moment: [
    ...[
      '2024-02-29T23:59:59Z',
      '1969-12-31T23:59:59.999Z',
      '2024-03-31T01:30:00.123456Z',
      '1583-01-01T00:00:00Z',
    ],
    '9999-12-31T23:59:59Z',
  ].map(value => literal(value, XSD.dateTime)),
  geometry: [
    'POINT(2.3522 48.8566)',
    'POINT(-179.999999999 -0.000001)',
    'POLYGON((0 0, 10 0, 10 10, 0 10, 0 0))',
  ].map(geometry),
  json: ['[1,"é\\n",null,{"a":0.1}]', `["${'j'.repeat(20_000)}"]`].map(text => literal(text, RDF.JSON)),
  tagged: [
    { type: 'literal', value: 'chat', datatype: RDF.langString, language: 'fr' },
    { type: 'literal', value: 'chat', datatype: RDF.langString, language: 'en-gb' },
  ],
}

/** The datatype of the values of a predicate of the probes. */
export function probeType(iri: string): string | undefined {
  return iri.startsWith(SPACE) ? lookup(VALUES, iri.slice(SPACE.length))?.[0]?.datatype : undefined
}

const subject = (name: string, at: number) => iri(`${SPACE}${name}/${at}`)
const predicate = (name: string) => iri(SPACE + name)

/** The triples that probes ask about, as N-Triples. */
export function probeTriples(): string {
  return Object.entries(VALUES)
    .flatMap(([name, terms]) =>
      terms.map(
        (term, at) =>
          `${termText(subject(name, at))} ${termText(predicate(name))} ${termText(term)} .\n` +
          `${termText(subject(name, at))} <${RDF.type}> <${CLASS}> .\n`,
      ),
    )
    .join('')
}

const RECORD = variable('record')
const VALUE = variable('value')
const RESULT = variable('result')

/** All probes, on the triples in a graph. */
export function probes(graph: string): readonly Probe[] {
  const having = (name: string): Pattern => inGraph(graph, triple(RECORD, predicate(name), VALUE))
  const computed = (name: string, of: string, expression: Expression): Probe => ({
    feature: { name, type: typed(of) },
    query: {
      type: 'select',
      projection: [{ variable: RECORD }, { variable: RESULT, expression }],
      where: [having(of)],
    },
  })
  const kept = (name: string, of: string, test: Expression, ...more: readonly Pattern[]): Probe => ({
    feature: { name, type: typed(of) },
    query: { type: 'select', projection: [{ variable: RECORD }], where: [having(of), ...more, filter(test)] },
  })
  const found = (name: string, type: string, where: readonly Pattern[]): Probe => ({
    feature: { name, type },
    query: { type: 'select', projection: [{ variable: RECORD }], where },
  })
  const grouped = (name: string, of: string, expression: Expression): Probe => ({
    feature: { name, type: typed(of) },
    query: { type: 'select', projection: [{ variable: RESULT, expression }], where: [having(of)] },
  })
  const ordered = (of: string, descending: boolean): Probe => ({
    feature: { name: 'order', type: typed(of) },
    isOrdered: true,
    query: {
      type: 'select',
      projection: [{ variable: VALUE }],
      where: [inGraph(graph, triple(RECORD, iri(RDF.type), iri(CLASS))), optional(having(of))],
      orderBy: [{ expression: VALUE, descending }],
    },
  })
  const aggregate = (name: 'COUNT' | 'SUM' | 'AVG' | 'MIN' | 'MAX', distinct = false): Expression => ({
    type: 'aggregate',
    name,
    distinct,
    operand: VALUE,
  })
  const all: Expression = { type: 'aggregate', name: 'COUNT', distinct: false, operand: null }
  const chosen = (of: string, constant: Literal): Probe => ({
    feature: { name: 'groups of chosen', type: typed(of) },
    query: {
      type: 'select',
      projection: [{ variable: RESULT }, { variable: VALUE, expression: all }],
      where: [
        subquery({
          type: 'select',
          projection: [
            { variable: RECORD },
            { variable: RESULT, expression: call('COALESCE', VALUE, constant) },
          ],
          where: [inGraph(graph, triple(RECORD, iri(RDF.type), iri(CLASS))), optional(having(of))],
        }),
      ],
      groupBy: [{ variable: RESULT }],
    },
  })
  const every = Object.keys(VALUES)
  const comparable = ['int', 'double', 'decimal', 'date', 'moment', 'text', 'boolean']
  const integer42 = inGraph(graph, triple(RECORD, predicate('int'), integer(42)))
  return [
    ...every.map(name => computed('stored', name, VALUE)),
    ...every.flatMap(name =>
      (lookup(VALUES, name) ?? []).map(term =>
        found('equal', term.datatype, [inGraph(graph, triple(RECORD, predicate(name), term))]),
      ),
    ),
    ...['text', 'int', 'double', 'date', 'moment'].map(name =>
      found('equal', typed(name), [
        { type: 'values', variable: VALUE, terms: lookup(VALUES, name) ?? [] },
        having(name),
      ]),
    ),
    found('patterns', ANY, [
      {
        type: 'table',
        variables: [RECORD, VALUE],
        rows: (VALUES.text ?? []).map((term, at) => [subject('text', at), term]),
      },
      having('text'),
    ]),
    found('patterns', ANY, [
      having('int'),
      optional(inGraph(graph, triple(RECORD, predicate('text'), RESULT))),
    ]),
    found('patterns', ANY, [having('int'), minus(integer42)]),
    found('patterns', ANY, [{ type: 'union', branches: [[having('int')], [having('boolean')]] }]),
    found('patterns', ANY, [having('int'), filter(exists(integer42))]),
    found('patterns', ANY, [having('int'), filter(not(exists(integer42)))]),
    found('patterns', ANY, [
      having('int'),
      bind(VALUE, RESULT),
      filter(exists(inGraph(graph, triple(RECORD, predicate('int'), RESULT)))),
    ]),
    found('patterns', ANY, [
      subquery({
        type: 'select',
        distinct: true,
        projection: [{ variable: RECORD }],
        where: [having('int')],
      }),
      having('int'),
    ]),
    {
      feature: { name: 'patterns', type: ANY },
      query: {
        type: 'select',
        projection: [{ variable: VALUE }, { variable: RESULT, expression: all }],
        where: [having('text')],
        groupBy: [{ variable: VALUE }],
      },
    },
    {
      feature: { name: 'patterns', type: ANY },
      query: { type: 'select', projection: [{ variable: RESULT, expression: all }], where: [having('none')] },
    },
    ...rowCounts(graph),
    ...['int', 'double', 'text', 'date', 'moment', 'decimal'].flatMap(name => [
      { ...grouped('patterns', name, aggregate('COUNT', true)), feature: { name: 'patterns', type: ANY } },
    ]),
    ...comparable.flatMap(name => [
      ...(lookup(VALUES, name) ?? []).flatMap(term =>
        (['=', '<', '>=', '!='] as const).map(operator =>
          kept('compare', name, binary(operator, VALUE, term)),
        ),
      ),
      kept('compare', name, {
        type: 'oneOf',
        operand: VALUE,
        items: (lookup(VALUES, name) ?? []).slice(1, 3),
      }),
    ]),
    ...(['>', '<='] as const).flatMap(operator => [
      mixed(kept('compare', 'int', binary(operator, VALUE, literal('6.5', XSD.double)))),
      mixed(kept('compare', 'double', binary(operator, VALUE, integer(2)))),
    ]),
    kept(
      'compare',
      'int',
      binary(
        '||',
        binary('>', VALUE, integer(40)),
        binary('&&', binary('<', VALUE, integer(0)), binary('>', VALUE, integer(-10))),
      ),
    ),
    ...arithmeticExpressions().flatMap(expression =>
      ['int', 'double'].map(name => computed('arithmetic', name, expression)),
    ),
    kept('arithmetic', 'int', binary('=', RESULT, integer(-6)), bind(binary('+', VALUE, integer(1)), RESULT)),
    ...builtins().map(([name, of, expression]) => computed(name, of, expression)),
    // Parts of dates may be spelled with zeros in front.
    ...(['MONTH', 'DAY', 'HOURS'] as const).map(part => ({
      ...computed('STR', 'moment', call('STR', call(part, VALUE))),
      feature: { name: 'STR', type: XSD.integer },
    })),
    // Zero has a sign, and is nevertheless equal to itself.
    ...(['int', 'double'] as const).map(of => ({
      ...kept('compare', of, binary('=', binary('*', VALUE, literal('-1', XSD.double)), integer(0))),
      feature: { name: 'compare of computed', type: ANY },
    })),
    ...tests().map(([name, expression]) => kept(name, 'text', expression)),
    {
      ...computed('truth', 'text', call('CONTAINS', VALUE, literal('a'))),
      feature: { name: 'truth', type: ANY },
    },
    ...comparable.flatMap(name => [
      kept('BOUND', name, call('BOUND', VALUE)),
      computed('IF', name, conditional(call('BOUND', VALUE), VALUE, VALUE)),
      computed('COALESCE', name, call('COALESCE', VALUE, literal('none'))),
    ]),
    ...['int', 'double', 'decimal', 'text', 'date', 'moment'].flatMap(of =>
      (lookup(VALUES, of) ?? []).slice(0, 3).map(constant => chosen(of, constant)),
    ),
    computed('IF', 'int', conditional(binary('>', VALUE, integer(5)), VALUE, integer(5))),
    computed('COALESCE', 'int', call('COALESCE', binary('/', integer(1), VALUE), integer(-1))),
    ...[XSD.integer, XSD.double, XSD.date, XSD.dateTime].flatMap(datatype =>
      ['text', 'int', 'double', 'decimal', 'date', 'moment'].map(name =>
        computed(datatype, name, apply(datatype, VALUE)),
      ),
    ),
    computed(GEOF.distance, 'geometry', apply(GEOF.distance, VALUE, geometry('POINT(2 48)'), iri(UOM.metre))),
    ...[GEOF.sfIntersects, GEOF.sfWithin, GEOF.sfDisjoint].map(name =>
      computed(name, 'geometry', apply(name, VALUE, geometry('POLYGON((0 0, 60 0, 60 60, 0 60, 0 0))'))),
    ),
    ...['int', 'double', 'text', 'date', 'moment', 'decimal'].flatMap(name => [
      grouped('MIN', name, aggregate('MIN')),
      grouped('MAX', name, aggregate('MAX')),
      grouped('MIN DISTINCT', name, aggregate('MIN', true)),
      grouped('MAX DISTINCT', name, aggregate('MAX', true)),
    ]),
    ...['int', 'double', 'decimal'].flatMap(name => [
      grouped('SUM', name, aggregate('SUM')),
      grouped('AVG', name, aggregate('AVG')),
      grouped('SUM DISTINCT', name, aggregate('SUM', true)),
      grouped('AVG DISTINCT', name, aggregate('AVG', true)),
    ]),
    ...comparable.map(name =>
      grouped(
        'GROUP_CONCAT',
        name,
        call('STRLEN', { type: 'concatenation', operand: VALUE, separator: '|' }),
      ),
    ),
    ...comparable.flatMap(name => [ordered(name, false), ordered(name, true)]),
  ]
}

/** A comparison of two types is a feature of its own. */
function mixed(probe: Probe): Probe {
  return { ...probe, feature: { name: 'compare of two types', type: ANY } }
}

/** How many different rows of two values there are, some of them absent. */
function rowCounts(graph: string): readonly Probe[] {
  const [thing, a, b, filled] = ['thing', 'a', 'b', 'filled'].map(variable) as [
    Variable,
    Variable,
    Variable,
    Variable,
  ]
  const value = (name: string, of: Variable) => inGraph(graph, triple(thing, predicate(name), of))
  const every = inGraph(graph, triple(thing, iri(RDF.type), iri(CLASS)))
  const all: Expression = { type: 'aggregate', name: 'COUNT', distinct: false, operand: null }
  const cases: readonly (readonly Pattern[])[] = [
    [every, optional(value('int', a)), optional(value('text', b))],
    [every, optional(value('decimal', a)), optional(value('boolean', b))],
    [every, optional(value('double', a)), optional(value('date', filled)), bind(filled, b)],
    [
      every,
      optional(value('int', a)),
      optional(value('boolean', b)),
      filter(
        binary(
          '||',
          not(exists(value('int', filled), filter(binary('>', filled, integer(2))))),
          exists(value('boolean', b)),
        ),
      ),
    ],
  ]
  return cases.map(where => ({
    feature: { name: 'rows', type: ANY },
    query: {
      type: 'select',
      projection: [{ variable: RESULT, expression: all }],
      where: [
        subquery({ type: 'select', distinct: true, projection: [{ variable: a }, { variable: b }], where }),
      ],
    },
  }))
}

function typed(name: string): string {
  return lookup(VALUES, name)?.[0]?.datatype ?? XSD.string
}

function arithmeticExpressions(): readonly Expression[] {
  const two = literal('2', XSD.double)
  return [
    binary('+', VALUE, integer(1)),
    binary('-', integer(1), VALUE),
    binary('*', VALUE, two),
    binary('/', VALUE, two),
    binary('/', VALUE, integer(7)),
    binary('/', integer(1), VALUE),
  ]
}

function builtins(): readonly (readonly [feature: string, name: string, expression: Expression])[] {
  const texts = (name: Parameters<typeof call>[0], ...more: readonly Expression[]) =>
    [name, 'text', call(name, VALUE, ...more)] as const
  return [
    texts('STR'),
    texts('STRLEN'),
    texts('LCASE'),
    texts('UCASE'),
    texts('CONCAT', literal(' é𝄞')),
    texts('STRBEFORE', literal('c')),
    texts('STRAFTER', literal('é')),
    texts('SUBSTR', integer(2)),
    texts('SUBSTR', integer(2), integer(3)),
    texts('REPLACE', literal(String.raw`\p{M}+`), literal('')),
    texts('REPLACE', literal(String.raw`[^\p{L}\p{N}]+`), literal(' ')),
    texts('REPLACE', literal(String.raw`^\s+|\s+$`), literal('')),
    ['REPLACE with flags', 'text', call('REPLACE', VALUE, literal('.'), literal('-'), literal('q'))] as const,
    texts('DATATYPE'),
    texts('LANG'),
    texts('STRDT', iri(XSD.date)),
    ...['int', 'double', 'decimal', 'boolean', 'date', 'moment', 'geometry', 'json'].map(
      name => ['STR', name, call('STR', VALUE)] as const,
    ),
    ...(['FLOOR', 'CEIL', 'ROUND', 'ABS'] as const).flatMap(builtin =>
      ['int', 'double'].map(name => [builtin, name, call(builtin, VALUE)] as const),
    ),
    ...(['YEAR', 'MONTH', 'DAY', 'HOURS', 'MINUTES', 'SECONDS'] as const).flatMap(builtin =>
      ['moment', 'date'].map(name => [builtin, name, call(builtin, VALUE)] as const),
    ),
  ]
}

/** Functions that tell whether something is so, as conditions. */
function tests(): readonly (readonly [feature: string, expression: Expression])[] {
  const test = (name: Parameters<typeof call>[0], part: Literal) => [name, call(name, VALUE, part)] as const
  return [
    test('CONTAINS', literal('é')),
    test('STRSTARTS', literal('é')),
    test('STRENDS', literal('le')),
    test('REGEX', literal(String.raw`(?:^|[^\p{L}\p{N}\p{M}])\p{M}*[eéÉE]`)),
    test('REGEX', literal('^[^ ]{2,5}$')),
    test('SAMETERM', literal('a')),
    ['CONTAINS of nothing', call('CONTAINS', VALUE, literal(''))],
    ['STRSTARTS of nothing', call('STRSTARTS', VALUE, literal(''))],
    ['STRENDS of nothing', call('STRENDS', VALUE, literal(''))],
  ]
}

/** True where two answers are the same: rows in any order, or in the same one. */
export function isSameAnswer(
  found: readonly Solution[],
  wanted: readonly Solution[],
  isOrdered: boolean,
): boolean {
  const [a, b] = [found, wanted].map(rows => rows.map(rowText)) as [string[], string[]]
  if (!isOrdered) for (const rows of [a, b]) rows.sort()
  return a.length === b.length && a.every((row, at) => row === b[at])
}

/** Sums of doubles may differ in the last digits. */
function rowText(row: Solution): string {
  return Object.keys(row)
    .sort()
    .map(name => {
      const term = lookup(row, name)
      if (term?.type !== 'literal') return `${name}=${term?.value}`
      const { value, datatype, language } = term
      const isInexact = datatype === XSD.double || datatype === XSD.decimal
      const number = isInexact ? Number(value) : Number.NaN
      return `${name}=${Number.isFinite(number) ? number.toPrecision(14) : value} ${datatype} ${language}`
    })
    .join('\n')
}
