import t from 'tap'
import { XSD } from '../src/rdf/vocab.ts'
import { byColumns, byEngine, difference, makeSample, type Sample } from './support/algebra-answers.ts'
import { GRAPH_NAMES, makeQuery, type RandomQuery } from './support/algebra-generator.ts'
import { isLong } from './support/effort.ts'
import { startFrom } from './support/random.ts'
import { seedOf } from './support/seed.ts'

/**
 * Random queries over random graphs with values of every kind, answered by columns and by Oxigraph: both must have the same
 * solutions. The engine is asked for unions and sequences of patterns where paths have them outside closures. The long run goes on where `npm test` ends; SEED=n takes others, ALGEBRA=20000 more; DIFFERENCES=n says how many are told before a run gives up.
 */
const seed = seedOf()
const [FIRST, QUERIES] = isLong ? [600, 1500] : [0, Number(process.env.ALGEBRA ?? 600)]
const MAX_DIFFERENCES = Number(process.env.DIFFERENCES ?? 5)
const QUERIES_A_DATASET = 50

/** Counts of all triples, which columns answer from their heads and dictionaries. */
const COUNTS = [
  'SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?a) (COUNT(DISTINCT ?p) AS ?b) (COUNT(DISTINCT ?o) AS ?c) { $ }',
  'SELECT (COUNT(DISTINCT ?o) AS ?n) (COUNT(?p) AS ?a) { $ }',
  'SELECT ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?a) (COUNT(DISTINCT ?o) AS ?b) (COUNT(DISTINCT ?p) AS ?c) { $ } GROUP BY ?p',
  'SELECT ?p (COUNT(DISTINCT ?o) AS ?n) { $ } GROUP BY ?p HAVING (COUNT(DISTINCT ?o) > 2)',
  'SELECT (COUNT(*) AS ?n) { $ FILTER(ISLITERAL(?o)) }',
  'SELECT ?p (COUNT(?o) AS ?n) { $ FILTER(!ISIRI(?o)) FILTER(LANG(?o) != "de") } GROUP BY ?p',
  `SELECT ?p (COUNT(*) AS ?n) { $ FILTER(DATATYPE(?o) = <${XSD.string}>) } GROUP BY ?p`,
  'SELECT ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?a) { $ FILTER(ISBLANK(?o)) } GROUP BY ?p',
  'SELECT (COUNT(DISTINCT *) AS ?n) (COUNT(*) AS ?m) { $ }',
  'SELECT (COUNT(DISTINCT *) AS ?n) (COUNT(*) AS ?m) { { $ } UNION { $ } UNION { ?s ?q ?x } UNION { ?x ?q ?o } }',
  'SELECT ?p (COUNT(DISTINCT *) AS ?n) (COUNT(?o) AS ?m) { { $ } UNION { $ FILTER(ISIRI(?o)) } UNION { ?s ?q ?o } } GROUP BY ?p',
  'SELECT (COUNT(DISTINCT *) AS ?n) { $ OPTIONAL { ?o ?p ?x } OPTIONAL { ?x ?q ?s } }',
]

t.test(`distinct subjects, predicates and objects are counted, seed ${seed}`, async t => {
  for (let number = isLong ? 10 : 0; number < (isLong ? 30 : 10); number++) {
    startFrom(seed * 1_000_087 + number)
    const sample = makeSample()
    const patterns = ['?s ?p ?o', ...GRAPH_NAMES.map(name => `GRAPH <${name}> { ?s ?p ?o }`)]
    for (const text of patterns.flatMap(pattern => COUNTS.map(each => each.replaceAll('$', pattern)))) {
      const query: RandomQuery = { text, order: [], isOneGroup: false }
      const found = difference(query, byColumns(query, sample.columns), byEngine(query, sample.engine))
      t.equal(found, null, text)
    }
    if (!t.passing()) break
  }
})

t.test(`random algebra, seed ${seed}`, t => {
  const differences: string[] = []
  let sample: Sample | null = null
  let solutions = 0
  for (let number = FIRST; number < QUERIES && differences.length < MAX_DIFFERENCES; number++) {
    if (number % QUERIES_A_DATASET === 0) {
      startFrom(seed * 1_000_003 + number)
      sample = makeSample()
    }
    if (sample === null) break
    const query = makeQuery()
    let found: string | null
    try {
      const expected = byEngine(query, sample.engine)
      solutions += expected.length
      found = difference(query, byColumns(query, sample.columns), expected)
    } catch (error) {
      found = String(error instanceof Error ? error.stack : error)
    }
    if (found !== null) differences.push(`query ${number}: ${query.text}\n  ${found}`)
  }
  t.same(differences, [], `${QUERIES - FIRST} queries with ${solutions} solutions`)
  t.ok(solutions > (QUERIES - FIRST) / 2, 'queries that find something')
  t.end()
})
