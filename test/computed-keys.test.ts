import t, { type Test } from 'tap'
import { termText } from '../src/rdf/ntriples.ts'
import { parseQuery } from '../src/sparql/parse.ts'
import { Evaluation } from '../src/store/columns/evaluate/evaluation.ts'
import { Evaluator } from '../src/store/columns/evaluate/evaluator.ts'
import { PoolDomain } from '../src/store/columns/evaluate/vectors/pool-domain.ts'
import { withScratch } from '../src/store/columns/evaluate/vectors/scratch.ts'
import { literalOf, termOf } from '../src/store/columns/evaluate/vectors/value.ts'
import { numberOfKind, termAt } from '../src/store/columns/evaluate/vectors/vector.ts'
import { columnsOfText } from './support/columns.ts'
import { between, chance, startFrom } from './support/random.ts'
import { seedOf } from './support/seed.ts'

/** Orders, groups and conditions by what is computed of a column are those that come of computing it for each solution. */
const seed = seedOf()
startFrom(seed)

const SUBJECTS = 3000
const GEO = 'http://www.opengis.net/ont/geosparql#'
const XSD = 'http://www.w3.org/2001/XMLSchema#'
const PREFIXES = `PREFIX : <urn:p:> PREFIX xsd: <${XSD}> PREFIX geof: <http://www.opengis.net/def/function/geosparql/>
PREFIX geo: <${GEO}> PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/>
PREFIX unit: <http://qudt.org/vocab/unit/> `

const literal = (text: string, datatype: string) => `"${text}"^^<${datatype}>`
const day = () => `${between(1998, 2003)}-${String(between(1, 12)).padStart(2, '0')}-0${between(1, 9)}`
/** In the form of the direct mapping: others have no part of their own in a column. */
const point = () => {
  const near = (origins: readonly number[], to: number) => between(0, to) / 1000 + pick(origins)
  const [longitude, latitude] = chance(0.2)
    ? [between(-180, 180), between(-90, 90)]
    : [near([0, 10, 177, -180], 3000), near([0, 50, 86, -90], 4000)]
  return literal(`POINT(${Number(longitude.toFixed(3))} ${Number(latitude.toFixed(3))})`, `${GEO}wktLiteral`)
}
const pick = <Value>(values: readonly Value[]): Value => values[between(0, values.length - 1)] as Value

const graph = columnsOfText(
  Array.from({ length: SUBJECTS }, (_, at) => {
    const values: readonly (readonly [string, string])[] = [
      ['n', literal(String(at), `${XSD}integer`)],
      ['day', literal(day(), `${XSD}date`)],
      ['place', point()],
      ['title', JSON.stringify(`${'x'.repeat(between(0, 9))}${pick(['', 'é', '😀'])}${between(0, 9999)}`)],
      ...(chance(0.6) ? [['other', literal(day(), `${XSD}date`)] as const] : []),
      ...(chance(0.5) ? [['spot', point()] as const] : []),
      ...(at % 3 === 0 ? [['stop', literal(`POINT(${at % 7} 0)`, `${GEO}wktLiteral`)] as const] : []),
      ...(chance(0.3) ? [['next', `<urn:s:${chance(0.2) ? at : between(0, SUBJECTS + 10)}>`] as const] : []),
      ...Array.from({ length: between(0, 3) }, () => ['tag', `"${between(0, 20)}"`] as const),
    ]
    return values.map(([name, value]) => `<urn:s:${at}> <urn:p:${name}> ${value} .\n`).join('')
  }).join(''),
)

t.test('columns of points are such that the grid is asked', t => {
  for (const name of ['place', 'spot', 'stop'])
    t.equal(graph.column(`urn:p:${name}`)?.dictionary.onlyPart()?.kind, 'point', name)
  t.end()
})

/** Solutions as rows of the terms of some variables. */
function rowsOf(text: string): readonly (readonly (string | null)[])[] {
  const { query } = parseQuery(PREFIXES + text, 'urn:base')
  if (query.type !== 'select') throw new Error('a SELECT')
  return withScratch(() => {
    const rows: (string | null)[][] = []
    const evaluation = new Evaluation({ defaultGraphs: [graph], namedGraphs: new Map() })
    for (const batch of new Evaluator(evaluation).solutions(query.input))
      for (let row = 0; row < batch.size; row++)
        rows.push(
          query.variables.map(name => {
            const vector = batch.get(name)
            const term = vector === undefined ? null : termAt(vector, row)
            return term === null ? null : termText(term)
          }),
        )
    return rows
  })
}

const numberOf = (term: string | null) => (term === null ? null : Number(/^"([^"]*)"/.exec(term)?.[1]))

/** Comparisons that hold where others do not, and with the sides changed. */
const NEGATED: Readonly<Record<string, string>> = { '<': '>=', '<=': '>', '>': '<=', '>=': '<', '=': '!=' }
const TURNED: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '=': '=' }

/** The orders of a variable: where solutions without a value go, and whether subjects part what is equal. */
const ORDERS = [
  { order: '?d', sign: 1, absent: -1, isBySubject: false },
  { order: 'DESC(?d)', sign: -1, absent: 1, isBySubject: false },
  { order: 'BOUND(?d) ?d', sign: 1, absent: -1, isBySubject: false },
  { order: '(!BOUND(?d)) ?d ?s', sign: 1, absent: 1, isBySubject: true },
]

/** Compares pages of an order with the order of all values that are found without it. */
function comparePages(t: Test, body: string): void {
  const read = (modifiers: string) =>
    rowsOf(`SELECT ?s ?d ${body} ${modifiers}`).map(([s, d]) => ({
      s: String(s).slice(1, -1),
      d: numberOf(d ?? null),
    }))
  const all = read('')
  t.equal(all.length > 1000, true, body)
  for (const { order, sign, absent, isBySubject } of ORDERS) {
    const keyOf = (d: number | null) => (d === null ? absent * Number.MAX_VALUE : sign * d)
    const sorted = all.toSorted((a, b) => keyOf(a.d) - keyOf(b.d) || (isBySubject ? (a.s < b.s ? -1 : 1) : 0))
    const [from, count] = [pick([0, 0, 7]), pick([1, 20, 90])]
    const page = read(`ORDER BY ${order} LIMIT ${count} OFFSET ${from}`)
    t.same(page, sorted.slice(from, from + count), `${body} ORDER BY ${order}`)
  }
}

t.test(`the nearest are those of all distances, seed ${seed}`, t => {
  const centres = ['1 1', '179.9 51', '-3 89.9', '100 -89', '-70 20']
  for (const centre of centres)
    for (const pattern of [
      '?s :place ?p',
      '?s :n ?n OPTIONAL { ?s :spot ?p }',
      '?s :place ?p ; :n ?n FILTER(?n > 900)',
    ]) {
      const unit = pick(['uom:metre', 'unit:KiloM'])
      comparePages(
        t,
        `{ ${pattern} BIND(geof:distance(?p, "POINT(${centre})"^^geo:wktLiteral, ${unit}) AS ?d) }`,
      )
    }
  t.end()
})

t.test('a page of the nearest that goes beyond all points ends', t => {
  const query = (from: number) =>
    rowsOf(`SELECT ?s ?d { ?s :n ?n OPTIONAL { ?s :stop ?p }
    BIND(geof:distance(?p, "POINT(3 0)"^^geo:wktLiteral, uom:metre) AS ?d) }
    ORDER BY (!BOUND(?d)) ?d LIMIT 5 OFFSET ${from}`).map(([, d]) => d != null)
  t.same(query(997), [true, true, true, false, false])
  t.same(query(2500), [false, false, false, false, false])
  t.end()
})

t.test(`distances are compared for each point, seed ${seed}`, t => {
  const compare: Readonly<Record<string, (a: number, b: number) => boolean>> = {
    '<': (a, b) => a < b,
    '<=': (a, b) => a <= b,
    '>': (a, b) => a > b,
    '>=': (a, b) => a >= b,
    '=': (a, b) => a === b,
  }
  for (const centre of ['1 1', '179.9 51', '-3 89.9', '100 -89', '0 0'])
    for (const pattern of ['?s :place ?p', '?s :n ?n OPTIONAL { ?s :spot ?p }']) {
      const computed = `geof:distance(?p, "POINT(${centre})"^^geo:wktLiteral, unit:KiloM)`
      const all = rowsOf(`SELECT ?s ?d { ${pattern} BIND(${computed} AS ?d) }`)
      const exact = numberOf(all.find(([, d]) => d !== null)?.[1] ?? null) as number
      for (const limit of [0, 5, 120, 2000, 25_000, exact, -1])
        for (const [operator, holds] of Object.entries(compare)) {
          const expected = all
            .filter(([, d]) => d != null && holds(numberOf(d) as number, limit))
            .map(([s]) => s)
          const number = literal(String(limit), `${XSD}double`)
          const condition = pick([
            `FILTER(${computed} ${operator} ${number})`,
            `BIND(${computed} AS ?d) FILTER(?d ${operator} ${number})`,
            `BIND(${computed} AS ?d) FILTER(!(?d ${NEGATED[operator]} ${number}))`,
            `FILTER(${number} ${TURNED[operator]} ${computed})`,
          ])
          t.same(
            rowsOf(`SELECT ?s { ${pattern} ${condition} }`)
              .map(([s]) => s)
              .toSorted(),
            expected.toSorted(),
            `${pattern} ${condition}`,
          )
        }
    }
  const twice = `{ ?s :place ?p BIND(geof:distance(?p, "POINT(1 1)"^^geo:wktLiteral, uom:metre) AS ?d) }
    UNION { ?s :place ?p BIND(geof:distance(?p, "POINT(11 51)"^^geo:wktLiteral, uom:metre) AS ?d) }`
  t.equal(
    rowsOf(`SELECT ?s { ${twice} FILTER(?d < 100000) }`).length,
    rowsOf(`SELECT ?s ?d { ${twice} }`).filter(([, d]) => Number(numberOf(d ?? null)) < 100_000).length,
    'a variable that is computed in two ways',
  )
  t.end()
})

t.test(`coordinates of pairs are those of both, seed ${seed}`, t => {
  const longitudes = (pattern: string) =>
    rowsOf(`SELECT ?x { ${pattern} BIND(<urn:lodestone:longitude>(?p) AS ?x) }`).map(([x]) =>
      Number(numberOf(x ?? null)),
    )
  const few = longitudes('?s :place ?p ; :n ?n FILTER(?n < 70)')
  const all = longitudes('?s :place ?p')
  const conditions: readonly (readonly [string, (a: number, b: number) => boolean])[] = [
    ['?a + ?b > 150', (a, b) => a + b > 150],
    ['?a > ?b + 150', (a, b) => a > b + 150],
    ['?a + ?b > 150 && ?b - ?a < 20', (a, b) => a + b > 150 && b - a < 20],
  ]
  for (const [condition, test] of conditions) {
    const written = condition.replaceAll(
      /\?[ab]/g,
      name => `<urn:lodestone:longitude>(${name === '?a' ? '?p' : '?q'})`,
    )
    const [count] = rowsOf(
      `SELECT (COUNT(*) AS ?c) { ?s :place ?p ; :n ?n FILTER(?n < 70) ?z :place ?q FILTER(${written}) }`,
    )
    let expected = 0
    for (const a of few) for (const b of all) if (test(a, b)) expected += 1
    t.equal(numberOf(count?.[0] ?? null), expected, condition)
  }
  t.end()
})

t.test(`integers that are close to each other are in order, seed ${seed}`, t => {
  for (const expression of [
    'STRLEN(?title)',
    'STRLEN(?title) * 3 - 40',
    'YEAR(?day)',
    'MONTH(?other)',
    '?n + 0',
  ])
    comparePages(
      t,
      `{ ?s :n ?n ; :title ?title ; :day ?day OPTIONAL { ?s :other ?other } BIND(${expression} AS ?d) }`,
    )
  t.end()
})

t.test(`groups by what is read of a date are counted by its values, seed ${seed}`, t => {
  const solutions = {
    'one batch': '?s :n ?n ; :day ?x',
    'some have none': '?s :n ?n OPTIONAL { ?s :other ?x }',
    'some rows': '?s :n ?n ; :day ?x FILTER(?n > 700)',
    'two batches': '{ ?s :n ?n ; :day ?x } UNION { ?s :n ?n ; :day ?x FILTER(?n < 3000) }',
    'of two columns': '{ ?s :n ?n ; :day ?x } UNION { ?s :n ?n ; :other ?x }',
    'a date that is none': '{ ?s :n ?n ; :day ?x } UNION { ?s :n ?n BIND("x" AS ?x) }',
  }
  const keys = { y: 'YEAR(?x)', m: 'MONTH(?x)', t: 'SUBSTR(STR(?x), 1, 7)', d: 'DAY(?x) * 2' }
  for (const [name, pattern] of Object.entries(solutions))
    for (const some of [['y', 'm'], ['t'], ['y'], ['y', 'm', 'd'], ['d', 't']] as const)
      for (const aggregates of [
        '(COUNT(*) AS ?c)',
        '(COUNT(*) AS ?c) (SUM(?n) AS ?sum)',
        '(MAX(?n) AS ?max)',
      ]) {
        const binds = some.map(key => `BIND(${keys[key]} AS ?${key})`).join(' ')
        const names = some.map(key => `?${key}`).join(' ')
        const expected = new Map<string, { rows: number; sum: number; max: number }>()
        for (const [n, ...values] of rowsOf(`SELECT ?n ${names} { ${pattern} ${binds} }`)) {
          const key = values.join(' ')
          const group = expected.get(key) ?? { rows: 0, sum: 0, max: 0 }
          const number = numberOf(n ?? null) as number
          expected.set(key, {
            rows: group.rows + 1,
            sum: group.sum + number,
            max: Math.max(group.max, number),
          })
        }
        const found = rowsOf(`SELECT ${names} ${aggregates} { ${pattern} ${binds} } GROUP BY ${names}`)
        const shown = ({ rows, sum, max }: { rows: number; sum: number; max: number }) =>
          aggregates.includes('MAX') ? [max] : aggregates.includes('SUM') ? [rows, sum] : [rows]
        t.same(
          Object.fromEntries(
            found.map(row => [
              row.slice(0, some.length).join(' '),
              row.slice(some.length).map(value => numberOf(value)),
            ]),
          ),
          Object.fromEntries([...expected].map(([key, group]) => [key, shown(group)])),
          `${name} by ${names}, ${aggregates}`,
        )
        t.equal(found.length, expected.size)
      }
  t.end()
})

t.test(`resources are compared by their numbers, seed ${seed}`, t => {
  const pairs = rowsOf('SELECT ?a ?b { ?a :tag ?t ; :n ?n . ?b :tag ?t ; :n ?m FILTER(?n < 40 && ?m < 40) }')
  for (const [condition, areAlike] of [
    ['?a = ?b', true],
    ['?a != ?b', false],
    ['sameTerm(?a, ?b)', true],
    ['!sameTerm(?a, ?b)', false],
    ['!(?a != ?b)', true],
  ] as const)
    t.same(
      rowsOf(
        `SELECT ?a ?b { ?a :tag ?t ; :n ?n . ?b :tag ?t ; :n ?m FILTER(?n < 40 && ?m < 40 && ${condition}) }`,
      ).toSorted(),
      pairs.filter(([a, b]) => (a === b) === areAlike).toSorted(),
      condition,
    )
  const next = rowsOf('SELECT ?s ?x { ?s :next ?x }')
  t.same(
    [
      rowsOf('SELECT ?s { ?s :next ?x FILTER(?x = ?s) }').length,
      rowsOf('SELECT ?s { ?s :n ?n OPTIONAL { ?s :next ?x } FILTER(?x != ?s) }').length,
      rowsOf('SELECT ?s { ?s :next ?x ; :other ?y FILTER(?x = ?y) }').length,
    ],
    [next.filter(([s, x]) => s === x).length, next.filter(([s, x]) => s !== x).length, 0],
  )
  t.end()
})

t.test(`subjects with a value, and without one, seed ${seed}`, t => {
  const having = (pattern: string) => new Set(rowsOf(`SELECT ?s { ${pattern} }`).map(([s]) => s))
  for (const predicate of [':tag', ':other', ':day', ':nothing']) {
    const some = having(`?s ${predicate} ?v`)
    const found = having(`?s :n ?n FILTER EXISTS { ?s ${predicate} ?v }`)
    const others = having(`?s :n ?n FILTER NOT EXISTS { ?s ${predicate} ?v }`)
    t.same([found.size, others.size], [some.size, SUBJECTS - some.size], predicate)
    t.ok([...found].every(subject => some.has(subject)))
    t.same(having(`?s :n ?n MINUS { ?s ${predicate} ?v }`), others)
  }
  t.end()
})

t.test(`parts of dates are compared for each value, seed ${seed}`, t => {
  for (const [condition, test] of [
    ['YEAR(?x) = 2000', (year: number) => year === 2000],
    ['YEAR(?x) > 2001', (year: number) => year > 2001],
    ['!(YEAR(?x) >= 2000)', (year: number) => year < 2000],
    ['2002 = YEAR(?x) + 1', (year: number) => year === 2001],
  ] as const)
    for (const predicate of [':day', ':other']) {
      const all = rowsOf(`SELECT ?s ?x { ?s ${predicate} ?x }`)
      t.same(
        rowsOf(`SELECT ?s ?x { ?s ${predicate} ?x FILTER(${condition}) }`),
        all.filter(([, x]) => test(Number(x?.slice(1, 5)))),
        `${predicate}: ${condition}`,
      )
    }
  t.end()
})

t.test('terms of a query have one number each, numbers among them', t => {
  const pool = new PoolDomain()
  const terms = [
    ...['0', '1', '-1', '01', '+1', '-0', '9007199254740991', '9007199254740993', '1e3', 'x', ''].map(text =>
      literalOf(text, `${XSD}integer`),
    ),
    ...['0', '-0', '1', '1.0', '1E0', '0x10', '', ' 1', 'INF', '-INF', 'NaN', 'Infinity', '1E300', '0.1'].map(
      text => literalOf(text, `${XSD}double`),
    ),
    ...['1', '1.0', '0.5', '-0', '123456789012345678'].map(text => literalOf(text, `${XSD}decimal`)),
    ...['1', '-0', '0', 'NaN', '0.1'].map(text => literalOf(text, `${XSD}float`)),
    literalOf('1', `${XSD}string`),
    literalOf('1', `${XSD}int`),
    { type: 'iri', value: '1' } as const,
  ]
  const ids = terms.map(term => pool.intern(term))
  t.equal(new Set(ids).size, terms.length)
  t.same(
    ids.map(id => pool.term(id)),
    terms,
  )
  t.same([terms.map(term => pool.intern(term)), terms.map(term => pool.find(term))], [ids, ids])
  t.equal(pool.size, terms.length)
  t.equal(pool.find(literalOf('2', `${XSD}integer`)), 0)
  for (const kind of ['integer', 'double', 'decimal', 'float'] as const) {
    const values = Float64Array.of(0, 1, -0, 0.1, 1e300, Number.NaN, Number.POSITIVE_INFINITY, 5).filter(
      value => (kind === 'integer' ? Number.isSafeInteger(value) : kind !== 'decimal' || Math.abs(value) < 9),
    )
    const found = pool.internNumbers({ type: 'numbers', kind, values, bound: null }, values.length)
    const expected = Array.from(values, value =>
      termOf(numberOfKind(kind, kind === 'integer' || kind === 'decimal' ? value + 0 : value)),
    )
    t.same(
      [...found].map(id => pool.term(id)),
      expected,
      kind,
    )
    t.same(
      [...found],
      expected.map(term => pool.intern(term)),
    )
  }
  t.end()
})
