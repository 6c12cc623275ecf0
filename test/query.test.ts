import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Parser } from '@traqula/parser-sparql-1-1'
import t from 'tap'
import { Fault } from '../src/errors/errors.ts'
import type { DatasetStatistics } from '../src/model/dataset.ts'
import { field } from '../src/model/field.ts'
import { compileGroups } from '../src/query/compile/groups.ts'
import { compileCount, compileRecords } from '../src/query/compile/records.ts'
import type { CompileTarget } from '../src/query/compile/target.ts'
import { dateBounds, parseDate } from '../src/query/date-literals.ts'
import { decodeGroups } from '../src/query/decode.ts'
import { EXPLORE_V20, EXPLORE_V21, SEARCH_V2 } from '../src/query/dialect.ts'
import { Stopwatch } from '../src/query/execute/executor.ts'
import { planOdsql } from '../src/query/pipeline.ts'
import { XSD } from '../src/rdf/vocab.ts'
import { type SparqlOperation, UNIT } from '../src/sparql/algebra.ts'
import {
  among,
  bind,
  call,
  filter,
  inGraph,
  inlineRows,
  integer,
  iri,
  join,
  literal,
  oneOf,
  optional,
  select,
  triple,
  variable,
} from '../src/sparql/build.ts'
import { generate } from '../src/sparql/generate.ts'
import { contextFor } from './support/context.ts'
import { readGolden, writeGolden } from './support/golden.ts'

/** From ODSQL text to SPARQL text, without a store: cases stand in golden/sparql.txt; UPDATE=1 writes them anew. */
const FIELDS = [
  field('name', 'text'),
  field('n', 'int'),
  field('x', 'double'),
  field('flag', 'boolean'),
  field('born', 'date'),
  field('at', 'datetime'),
  field('tags', 'text', { multivalued: true }),
  field('place', 'geo_point_2d'),
  field('shape', 'geo_shape'),
]
const present = (nulls: number) => ({ present: 10_000 - nulls, nulls, distinct: 500, min: null, max: null })
const statistics: DatasetStatistics = {
  records: 10_000,
  fields: {
    ...Object.fromEntries(FIELDS.map(({ name }) => [name, present(3)])),
    n: { ...present(0), min: -5, max: 300, quantiles: [-5, 1, 2, 4, 8, 16, 32, 64, 128, 300] },
    at: { ...present(3), years: [2024] },
  },
}
const dataset = { id: 'd', fields: FIELDS }
const target: CompileTarget = {
  base: 'http://x',
  dataset,
  graphs: { facts: 'urn:f' },
  statistics,
  published: '2024-01-02T03:04:05Z',
}

type Clauses = Readonly<Record<string, string>>

function planOf({ select, where = '', group_by, order_by, timezone, dialect, limit = '20' }: Clauses) {
  const generation = [EXPLORE_V20, EXPLORE_V21, SEARCH_V2].find(({ name }) => name === dialect)
  const context = contextFor(dataset, {
    ...(timezone === undefined ? {} : { timezone }),
    ...(generation === undefined ? {} : { dialect: generation }),
  })
  const clauses = {
    select,
    where: [where],
    groupBy: group_by,
    orderBy: order_by,
    limit: Number(limit),
    offset: 0,
  }
  return planOdsql(clauses, context, new Stopwatch(() => 0))
}

/** The statements that answer a plan: its page or groups, and the count of its records. */
function statementsOf(clauses: Clauses): Readonly<Record<string, string>> {
  const plan = planOf(clauses)
  const { name, query } = plan.type === 'groups' ? compileGroups(plan, target) : compileRecords(plan, target)
  return { [name]: generate(query), count: generate(compileCount(plan, target).query) }
}

const compile = (where: string, timezone = 'UTC') => statementsOf({ where, timezone })

const golden = path.join(import.meta.dirname, 'golden/sparql.txt')

t.test(
  'each query compiles to the SPARQL that is written down, which an independent parser accepts',
  async t => {
    const parser = new Parser()
    const queries = readGolden(readFileSync(golden, 'utf8'))
    const made = queries.map(({ clauses }) => ({ clauses, statements: statementsOf(clauses) }))
    if (process.env.UPDATE !== undefined) writeFileSync(golden, writeGolden(made))
    for (const [index, { clauses, statements }] of made.entries()) {
      if (process.env.UPDATE === undefined)
        t.same(statements, queries[index]?.statements, JSON.stringify(clauses))
      for (const text of Object.values(statements))
        if (text.startsWith('SELECT')) t.doesNotThrow(() => parser.parse(text), text)
    }
    t.ok(queries.length > 50, `${queries.length} queries`)
  },
)

t.test('operations are written as the text that means them', async t => {
  const [a, b, c] = [variable('a'), variable('b'), variable('c')]
  const [first, second] = [triple(a, iri('urn:p'), b), triple(b, iri('urn:q'), c)]
  const bound = call('BOUND', c)
  const rows = inlineRows([a, b], [[iri('urn:x'), integer(1)]])
  const cases: readonly (readonly [where: SparqlOperation, text: string])[] = [
    [UNIT, '{ }'],
    [join(first, second), '{ ?a <urn:p> ?b . ?b <urn:q> ?c . }'],
    [join(rows, first), '{ VALUES (?a ?b) { (<urn:x> 1) } ?a <urn:p> ?b . }'],
    [oneOf(a, [literal('x'), literal('"')]), '{ VALUES ?a { "x" "\\"" } }'],
    [{ type: 'values', variables: ['a'], rows: [[null]] }, '{ VALUES ?a { UNDEF } }'],
    [
      { type: 'union', inputs: [first, inGraph('urn:g', second)] },
      '{ { ?a <urn:p> ?b . } UNION { GRAPH <urn:g> { ?b <urn:q> ?c . } } }',
    ],
    [optional(first, second), '{ ?a <urn:p> ?b . OPTIONAL { ?b <urn:q> ?c . } }'],
    [
      optional(filter(first, bound), filter(second, bound)),
      '{ { ?a <urn:p> ?b . FILTER(BOUND(?c)) } OPTIONAL { { ?b <urn:q> ?c . FILTER(BOUND(?c)) } } }',
    ],
    [
      { type: 'leftJoin', left: first, right: second, condition: bound },
      '{ ?a <urn:p> ?b . OPTIONAL { ?b <urn:q> ?c . FILTER(BOUND(?c)) } }',
    ],
    [
      join(first, optional(second, rows)),
      '{ ?a <urn:p> ?b . { ?b <urn:q> ?c . OPTIONAL { VALUES (?a ?b) { (<urn:x> 1) } } } }',
    ],
    [
      join(first, select([b], second, { distinct: true, limit: 2, offset: 1 }).input),
      '{ ?a <urn:p> ?b . { SELECT DISTINCT ?b WHERE { ?b <urn:q> ?c . } LIMIT 2 OFFSET 1 } }',
    ],
    [
      bind(filter(first, among(b, [integer(1)])), c, integer(2)),
      '{ { ?a <urn:p> ?b . FILTER((?b IN (1))) } BIND(2 AS ?c) }',
    ],
  ]
  const parser = new Parser()
  for (const [where, text] of cases) {
    const query = generate(select([a], where))
    t.equal(query, `SELECT ?a WHERE ${text}`)
    t.doesNotThrow(() => parser.parse(query), query)
  }
  for (const [refused, message] of [
    [select([variable('a }')], first), /not a variable name: a \}/],
    [select([a], triple(a, iri('urn:<'), b)), /IRI/],
    [select([a], triple({ type: 'blank', value: 'x' }, iri('urn:p'), b)), /blank node/],
    [select([a], first, { limit: -1 }), /not a whole number: -1/],
    [select([a], { type: 'minus', left: first, right: second }), /no SELECT begins with minus/],
    [{ type: 'ask', input: first }, /no text for ask/],
  ] as const)
    t.throws(() => generate(refused), message)
})

t.test('a comparison between types is refused with what is expected', async t => {
  const cases: readonly (readonly [where: string, message: RegExp])[] = [
    [
      'name = 3',
      /Field name of type text cannot be compared by = with the number 3 \(write a text in quotes\)/,
    ],
    ['n > "3"', /type int.*with the text "3" \(write a number without quotes\)/],
    ['born > "2015"', /type date.*\(write date'2020-06-30'\)/],
    ['at = "2020-01"', /type datetime/],
    ['at = "2020-13-01"', /type datetime/],
    ['born = "2020-01-01T"', /type date/],
    ['flag > true', /type boolean/],
    ['flag = 1', /write flag is true/],
    ['name in [1..2]', /type text/],
    ['place = "x"', /type geo_point_2d/],
    ['name = n', /with the field n/],
    ['n is true', /type int/],
    ['name = 1/0', /text.*arithmetic/],
    ['at in [1/0..2]', /datetime.*arithmetic/],
  ]
  for (const [where, message] of cases)
    t.throws(() => compile(where), { code: 'IncompatibleTypesInComparisonFilter', message }, where)
})

t.test('names and conditions that there are not are refused with a hint', async t => {
  const cases: readonly (readonly [where: string, message: RegExp, from: number, to: number])[] = [
    ['nme = "x"', /Unknown field: nme \(did you mean name\?\)/, 0, 3],
    ['flag and nothing_like_it', /Unknown field: nothing_like_it\. /, 9, 24],
    ['name', /Field name of type text is not a condition/, 0, 4],
    ['3', /the number 3 is not a condition/, 0, 1],
    ['1 = 1', /needs a field on one of its sides/, 0, 5],
    ['foo(n) = 1', /Unknown function: foo/, 0, 6],
    ["born = date'soon'", /"soon" is not a date/, 7, 17],
  ]
  for (const [where, message, from, to] of cases) {
    try {
      compile(where)
      t.fail(where)
    } catch (error) {
      t.ok(error instanceof Fault)
      t.match(error, { code: 'ODSQLError', message, place: { from, to } }, where)
    }
  }
})

t.test('a label is a hint unless it is long: comparing two long texts takes seconds', async t => {
  const [short, long] = ['total_of_all', 'a'.repeat(9000)]
  t.throws(() => planOf({ select: `n + 1 as ${short}`, order_by: 'total_of_al' }), {
    message: /Unknown field: total_of_al \(did you mean total_of_all\?\)/,
  })
  t.throws(() => planOf({ select: `n + 1 as ${long}`, order_by: `${long}b` }), {
    message: /Unknown field: a{100}\. /,
  })
})

t.test('a query computes at most a hundred values of a record or a group', async t => {
  const list = (count: number, of: (index: number) => string) =>
    Array.from({ length: count }, (_, i) => of(i))
  const plus = (index: number) => `n + ${index}`
  const sum = (index: number) => `sum(n + ${index})`
  for (const [clauses, message] of [
    [{ select: list(101, plus).join() }, /101 computed values were found/],
    [{ select: list(101, index => `recordid as r${index}`).join() }, /101 computed values/],
    [{ select: list(101, sum).join() }, /101 values of a group/],
    [{ select: list(101, sum).join(' + ') }, /More than 100 aggregates/],
    [{ group_by: 'n', order_by: list(101, sum).join() }, /101 values of a group .* order_by/],
  ] as const)
    t.throws(() => planOf(clauses), { code: 'ODSQLError', message }, Object.keys(clauses).join())
  for (const clauses of [
    { select: [...list(100, plus), ...list(200, index => `n as n${index}`)].join() },
    { select: list(100, sum).join() },
    { group_by: 'n', order_by: list(100, sum).join() },
  ])
    t.doesNotThrow(() => planOf(clauses), Object.keys(clauses).join())
})

t.test('the steps of a range are in the order of moments and of exact integers', async t => {
  const inOrder = (aggregate: string, datatype: string, values: readonly string[]) => {
    const plan = planOf({ group_by: 'range(x, 0, 1, 2)', order_by: aggregate })
    if (plan.type !== 'groups') throw new Error('a query for groups')
    const termsOf: Readonly<Record<string, readonly string[]>> = { key0: ['0', '1'], aggregate0: values }
    const terms = (name: string) => (row: number) =>
      literal(termsOf[name]?.[row] ?? '', name === 'key0' ? XSD.integer : datatype)
    return decodeGroups(plan, { rows: 2, terms }).map(({ keys }) => keys[0])
  }
  const noon = '2020-06-15T12:00:00'
  t.same(inOrder('max(at)', XSD.dateTime, [`${noon}.5Z`, `${noon}Z`]), [1, 0])
  t.same(inOrder('max(at) desc', XSD.dateTime, [`${noon}.5Z`, `${noon}Z`]), [0, 1])
  t.same(inOrder('max(n)', XSD.integer, ['9007199254740993', '9007199254740992']), [1, 0])
})

t.test('divisions within divisors are written once', async t => {
  const nested = (levels: number, first: string) =>
    Array.from({ length: levels }).reduce<string>(text => `1/(1 + ${text})`, first)
  for (const clauses of [
    { where: `${nested(20, 'n')} > 0` },
    { select: nested(20, 'n') },
    { select: `sum(${nested(20, 'n')})` },
    { group_by: 'n', order_by: nested(20, 'count(*)') },
  ])
    t.ok(
      Object.values(statementsOf(clauses)).every(text => text.length < 10_000),
      Object.keys(clauses).join(),
    )
})

t.test('values of groups are told apart by case and type', async t => {
  const cases: readonly (readonly [clauses: Clauses, message: RegExp])[] = [
    [{ group_by: "date_format(at, 'MM')", select: "date_format(at, 'mm')" }, /not in group_by/],
    [{ group_by: 'range(at, 1 M)', select: 'range(at, 1 m)' }, /not allowed/],
    [{ group_by: 'name', select: 'NAME' }, /Unknown field: NAME/],
    [{ group_by: 'name', select: 'count(*) + name' }, /takes numbers, not the field name/],
    [{ group_by: 'range(n, 5) as r', select: '-r' }, /takes numbers, not the field r/],
    [{ select: 'max(at) + 1' }, /takes numbers, not the function max/],
    [{ select: '2 * bbox(place)' }, /takes numbers, not the function bbox/],
    [{ group_by: 'geo_cluster(place, 5, zoom=3)' }, /given the parameter zoom where it takes a number/],
    [{ group_by: 'geo_cluster(place, radius=3)' }, /given the parameter radius/],
  ]
  for (const [clauses, message] of cases)
    t.throws(() => planOf(clauses), { code: 'ODSQLError', message }, JSON.stringify(clauses))
  const { select } = planOf({
    group_by: "date_format(at, 'MM'), date_format(at, 'mm')",
    select: "DATE_FORMAT( at , 'MM') as m, date_format(at, 'mm') as i, max(n) + 1 as x",
  })
  t.match(select, [{ value: { index: 0 } }, { value: { index: 1 } }, { value: { type: 'arithmetic' } }])
})

t.test('nothing that is written into a literal can leave it', async t => {
  const parser = new Parser()
  for (const text of [
    '"} DROP ALL {',
    '\\',
    '\\"',
    'a\nb',
    '" . ?s ?p ?o . "',
    '\u0000',

    "'''",
    '<x>',
  ]) {
    const where = `name = "${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
    const { page = '' } = compile(where)
    t.doesNotThrow(() => parser.parse(page), JSON.stringify(text))
    t.equal((page.match(/SELECT/g) ?? []).length, 1)
  }
})

t.test('date literals mean instants and periods in their time zone', async t => {
  const cases: readonly (readonly [
    text: string,
    type: 'date' | 'datetime',
    zone: string,
    start: string,
    end: string | null,
    isPeriod?: boolean,
  ])[] = [
    ['2017', 'date', 'UTC', '2017-01-01', '2018-01-01'],
    ['2017-12', 'date', 'UTC', '2017-12-01', '2018-01-01'],
    ['2017-12-31', 'date', 'Asia/Tokyo', '2017-12-31', null],
    ['2024-03-31T23', 'datetime', 'Europe/Paris', '2024-03-31T21:00:00Z', '2024-03-31T22:00:00Z'],
    ['2017', 'datetime', 'UTC', '2017-01-01T00:00:00Z', '2018-01-01T00:00:00Z'],
    ['2024-03-31', 'datetime', 'Europe/Paris', '2024-03-30T23:00:00Z', '2024-03-31T22:00:00Z'],
    ['2024-10-27', 'datetime', 'Europe/Paris', '2024-10-26T22:00:00Z', '2024-10-27T23:00:00Z'],
    ['2024-04-07T01:45', 'datetime', 'Australia/Lord_Howe', '2024-04-06T14:45:00Z', '2024-04-06T14:46:00Z'],
    ['2024-01-01T00:00:00.50', 'datetime', 'America/New_York', '2024-01-01T05:00:00.5Z', null],
    ['2024-01-01T00:00:00+05:30', 'datetime', 'America/New_York', '2023-12-31T18:30:00Z', null],
    ['9999', 'date', 'UTC', '9999-01-01', null, true],
    ['9999-12-31', 'datetime', 'UTC', '9999-12-31T00:00:00Z', null, true],
    ['9999-12-31', 'date', 'UTC', '9999-12-31', null, false],
  ]
  for (const [text, type, zone, start, end, isPeriod = end !== null] of cases) {
    const constant = parseDate(text)
    if (constant === null) throw new Error(text)
    t.match(dateBounds(constant, type, zone), { start, end, isPeriod }, `${text} ${type} ${zone}`)
  }
})
