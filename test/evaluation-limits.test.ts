import t from 'tap'
import { parseQuery } from '../src/sparql/parse.ts'
import { Evaluation } from '../src/store/columns/evaluate/evaluation.ts'
import type { EvaluationLimits } from '../src/store/columns/evaluate/evaluation-limits.ts'
import { Evaluator } from '../src/store/columns/evaluate/evaluator.ts'
import { columnsOfText } from './support/columns.ts'

/** Queries of untrusted clients that are large in one dimension: they are answered, or stopped in time. */
const PREFIXES = 'PREFIX : <urn:> PREFIX geo: <http://www.opengis.net/ont/geosparql#>'
const GRAPH = columnsOfText(
  Array.from({ length: 2000 }, (_, at) => `<urn:s${at}> <urn:k> "k${at % 50}" .\n`).join(''),
)

function rowsOf(text: string, limits: EvaluationLimits = {}): number {
  const { query } = parseQuery(`${PREFIXES} ${text}`)
  const evaluation = new Evaluation({ defaultGraphs: [GRAPH], namedGraphs: new Map() }, limits)
  let rows = 0
  for (const batch of new Evaluator(evaluation).solutions(query.input)) {
    for (const name of batch.variables) void batch.get(name)
    rows += batch.size
  }
  return rows
}

const names = (count: number) => Array.from({ length: count }, (_, at) => `?v${at}`).join(' ')
const times = (count: number, text: string) => Array<string>(count).fill(text).join(' ')

t.test('solutions with many common variables are joined by all of them', async t => {
  for (const count of [29, 30, 31, 32, 33, 40, 64]) {
    const values = (...rows: readonly string[]) => `VALUES (${names(count)}) { ${rows.join(' ')} }`
    const [ones, twos] = [`(${times(count, '1')})`, `(${times(count, '2')})`]
    const almost = `(${times(count - 1, '1')} 3)`
    const open = `(${times(count - 1, '1')} UNDEF)`
    const joined = (left: string, right: string) => rowsOf(`SELECT * { { SELECT * { ${left} } } ${right} }`)
    t.equal(joined(values(ones, twos), values(ones, almost)), 1, `${count} variables`)
    t.equal(
      joined(values(ones, twos, almost), values(open)),
      2,
      `${count} variables, one unbound on the right`,
    )
    t.equal(
      joined(values(open), values(ones, twos, almost)),
      2,
      `${count} variables, one unbound on the left`,
    )
    t.equal(
      rowsOf(`SELECT * { ${values(ones, twos, almost)} MINUS { ${values(ones)} } }`),
      2,
      `${count} variables, MINUS`,
    )
  }
})

t.test('many variables that only some solutions bind', async t => {
  const patterns = Array.from({ length: 26 }, (_, at) => `?s :k ?v${at} .`).join(' ')
  const values = `VALUES (${names(26)}) { (${times(26, 'UNDEF')}) (${times(26, '"k1"')}) }`
  t.equal(
    rowsOf(`SELECT * { ${values} ${patterns} }`),
    2040,
    'two kinds of solutions, not one for each set of variables',
  )
})

t.test('what would grow too long, or take too long, is stopped', async t => {
  const stopped = (text: string, reason: string, limits: EvaluationLimits) =>
    t.throws(() => rowsOf(text, limits), { name: 'EvaluationStopped', reason }, text.slice(0, 60))
  const memory = { memory: 256e6 }
  stopped(
    `SELECT (GROUP_CONCAT(?k; separator="${'x'.repeat(400_000)}") AS ?all) { ?s :k ?k }`,
    'memory',
    memory,
  )
  const ring = Array.from({ length: 20_000 }, (_, at) => `${at % 180} ${at % 90}`).join(',')
  const wkt = `"POLYGON((${ring}))"^^geo:wktLiteral`
  const begun = performance.now()
  stopped(`SELECT (<urn:lodestone:hull>(${wkt}) AS ?hull) { ?s :k ?k }`, 'deadline', {
    ...memory,
    clock: { deadline: begun + 300 },
  })
  t.ok(performance.now() - begun < 10_000, 'the deadline is looked at between geometries')
})

t.test('solutions that are collected count as they are found, those that go by do not', async t => {
  const STOPPED = { name: 'EvaluationStopped', reason: 'memory' }
  let rows = 0
  class Counted extends Evaluation {
    override advance(some: number): void {
      rows += some
      super.advance(some)
    }
  }
  const answer = (text: string, graph: typeof GRAPH, memory: number) => {
    const { query } = parseQuery(`${PREFIXES} ${text}`)
    const evaluation = new Counted({ defaultGraphs: [graph], namedGraphs: new Map() }, { memory })
    return [...new Evaluator(evaluation).solutions(query.input)].reduce((sum, { size }) => sum + size, 0)
  }
  const pairs = 'SELECT ?a ?c { ?a :k ?b . ?c :k ?b . ?d :k ?b }'
  t.throws(() => answer(`SELECT * { ?a :k "k1" OPTIONAL { ${pairs} } }`, GRAPH, 2e6), STOPPED)
  t.ok(rows < 2e6, `${rows} rows of the 3.2 million`)
  const ring = columnsOfText(
    Array.from({ length: 600 }, (_, at) => `<urn:s${at}> <urn:next> <urn:s${(at + 1) % 600}> .\n`).join(''),
  )
  t.equal(answer('SELECT (COUNT(*) AS ?n) { ?a :next+ ?b }', ring, 2e6), 1, '360,000 pairs are counted')
  t.throws(() => answer('SELECT * { ?a :next+ ?b } ORDER BY ?b', ring, 2e6), STOPPED)
})

t.test('the clock is looked at between calls for long texts, and while one is replaced', async t => {
  const long = `BIND("${'a'.repeat(1024)}" AS ?a) BIND(REPLACE(?a, "a", ?a) AS ?long)`
  for (const test of [
    'REGEX(CONCAT(?long, ?k, STR(?s)), "(a|b)+c")',
    'STRLEN(REPLACE(CONCAT(?long, ?k, STR(?s)), "a", "b")) = 3',
    'STRLEN(ENCODE_FOR_URI(CONCAT(?long, STR(?s)))) = 3',
  ]) {
    const begun = performance.now()
    const limits = { clock: { deadline: begun + 200 } }
    const text = `SELECT * { ${long} ?s :k ?k FILTER(${test}) }`
    t.throws(() => rowsOf(text, limits), { name: 'EvaluationStopped', reason: 'deadline' }, test)
    t.ok(performance.now() - begun < 10_000, `${test}: soon after the deadline`)
  }
})

/** How often the clock is looked at. */
function looksFor(text: string): number {
  let looks = 0
  const clock = {
    get deadline() {
      looks += 1
      return Number.POSITIVE_INFINITY
    },
  }
  rowsOf(text, { clock })
  return looks
}

t.test('the clock is looked at between the keys and the aggregates of groups', async t => {
  const keys = times(30, '?k ?l')
  t.ok(looksFor(`SELECT (COUNT(*) AS ?n) { ?s :k ?k ; :k ?l } GROUP BY ${keys}`) > 20)
  const texts = Array.from(
    { length: 100 },
    (_, at) => `(GROUP_CONCAT(?k; separator="${at}") AS ?m${at})`,
  ).join(' ')
  t.ok(looksFor(`SELECT ${texts} { ?s :k ?k } GROUP BY ?s`) > 20)
})

t.test('the clock is looked at while many terms are compared, collected and followed', async t => {
  const pairs = '?s :k ?k . ?t :k ?k'
  const texts = `${pairs} BIND(CONCAT(STR(?s), STR(?t)) AS ?x)`
  for (const [text, alone, more] of [
    [`SELECT ?x { ${texts} } ORDER BY ?x LIMIT 10`, `SELECT ?x { ${texts} }`, 30],
    [`SELECT ?x { ${texts} } ORDER BY ?x`, `SELECT ?x { ${texts} }`, 200],
    [`SELECT (GROUP_CONCAT(?k) AS ?x) { ${pairs} }`, `SELECT ?k { ${pairs} }`, 16],
    [`SELECT (MAX(?x) AS ?y) { ${texts} }`, `SELECT ?x { ${texts} }`, 8],
    ['SELECT (COUNT(*) AS ?n) { ?s ((:k/^:k)|(^:k/:k))* ?t }', 'SELECT * { ?s :k ?k }', 300],
  ] as const) {
    const [looks, others] = [looksFor(text), looksFor(alone)]
    t.ok(looks >= others + more, `${text}: ${looks}, without it ${others}`)
  }
})
