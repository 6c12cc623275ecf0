import { Store } from 'oxigraph'
import t from 'tap'
import { parseQuery } from '../src/sparql/parse.ts'
import { Evaluation } from '../src/store/columns/evaluate/evaluation.ts'
import { NotInColumns } from '../src/store/columns/evaluate/evaluation-limits.ts'
import { jobText } from '../src/store/columns/threads/answer-text.ts'
import { PieceBytes } from '../src/store/columns/threads/piece-bytes.ts'
import { columnsOfText } from './support/columns.ts'

/** LATERAL (SEP-0006) over columns, beside an engine that has it. */
const TEXT = [
  ...Array.from({ length: 40 }, (_, at) => [
    `<urn:s${at}> <urn:in> <urn:c${at % 6}> .`,
    `<urn:s${at}> <urn:n> "${(at * 37) % 50}"^^<http://www.w3.org/2001/XMLSchema#integer> .`,
    ...(at % 3 > 0 ? [`<urn:s${at}> <urn:name> "name ${at % 7}" .`] : []),
    ...(at % 5 === 0 ? [`<urn:s${at}> <urn:near> <urn:s${(at + 3) % 40}> .`] : []),
  ]).flat(),
  ...Array.from({ length: 8 }, (_, at) => `<urn:c${at}> <urn:label> "country ${at}" .`),
]
  .map(line => `${line}\n`)
  .join('')

const graph = columnsOfText(TEXT)
const engine = new Store()
engine.load(TEXT, { format: 'application/n-triples' })

interface Results {
  readonly results: { readonly bindings: readonly Readonly<Record<string, { readonly value: string }>>[] }
}

/** Solutions regardless of their order and of that of their variables. */
function solutions(json: string): readonly string[] {
  const { bindings } = (JSON.parse(json) as Results).results
  return bindings
    .map(binding =>
      Object.keys(binding)
        .sort()
        .map(name => `${name}=${binding[name]?.value}`)
        .join(' '),
    )
    .sort()
}

function fromColumns(text: string): readonly string[] {
  const piece = new PieceBytes()
  const evaluation = new Evaluation({ defaultGraphs: [graph], namedGraphs: new Map() })
  for (const _ of jobText(parseQuery(text).query, evaluation, 'json', piece));
  return solutions(Buffer.from(piece.take()).toString())
}

const fromEngine = (text: string) => solutions(engine.query(text, { results_format: 'json' }) as string)

const COUNTRIES = '?c <urn:label> ?l'

/** What comes before: all countries, with several rows for some, with some unbound, and nothing that LATERAL reads. */
const LEFT = [
  COUNTRIES,
  `${COUNTRIES} OPTIONAL { ?z <urn:in> ?c ; <urn:near> ?w }`,
  `{ ${COUNTRIES} } UNION { BIND(<urn:c1> AS ?c) }`,
  'BIND(1 AS ?one)',
]

const RIGHT = [
  '{ SELECT ?c ?s ?n { ?s <urn:in> ?c ; <urn:n> ?n } ORDER BY ?n LIMIT 2 }',
  '{ SELECT ?s { ?s <urn:in> ?c ; <urn:n> ?n } ORDER BY ?n LIMIT 2 }',
  '{ SELECT (MAX(?n) AS ?m) { ?s <urn:in> ?c ; <urn:n> ?n } }',
  '{ SELECT ?c (COUNT(*) AS ?k) { ?s <urn:in> ?c } GROUP BY ?c }',
  '{ SELECT ?c (COUNT(*) AS ?k) { ?s <urn:in> ?c OPTIONAL { ?s <urn:name> ?x } FILTER(!BOUND(?x)) } GROUP BY ?c }',
  '{ SELECT (SUM(?n + STRLEN(?l)) AS ?m) ?l { ?s <urn:in> ?c ; <urn:n> ?n } GROUP BY ?l }',
  '{ ?s <urn:in> ?c FILTER(CONTAINS(?l, "1")) }',
  '{ BIND(CONCAT(?l, "!") AS ?b) }',
  '{ BIND(CONCAT(?l, "!") AS ?b) FILTER(?b > "country 3") }',
  '{ { SELECT ?c ?s { ?s <urn:in> ?c } ORDER BY ?s LIMIT 1 } UNION { SELECT ?c ?s { ?s <urn:in> ?c } ORDER BY DESC(?s) LIMIT 1 } }',
  '{ ?s <urn:in> ?c OPTIONAL { ?s <urn:name> ?x FILTER(?x != ?l) } }',
  '{ ?s <urn:in> ?c MINUS { ?s <urn:name> ?x } }',
  '{ ?s <urn:in> ?c FILTER EXISTS { ?s <urn:name> ?x FILTER(STRLEN(?l) > 3) } }',
  '{ SELECT DISTINCT ?c ?x { ?s <urn:in> ?c ; <urn:name> ?x } ORDER BY ?x ?c LIMIT 2 }',
  '{ ?s <urn:in> ?c LATERAL { SELECT ?s ?t { ?s <urn:near> ?t } LIMIT 1 } }',
  '{ ?s <urn:in>/<urn:label> ?l }',
  '{ VALUES ?v { 1 2 } }',
  '{ SELECT ?l ?y { ?y <urn:label> ?l } }',
  '{ ?s <urn:in> ?c } FILTER(?s != <urn:s1>)',
  '{ }',
  '{ ?nothing <urn:none> ?c }',
]

t.test('groups are evaluated for the values of each solution before them', t => {
  for (const left of LEFT)
    for (const right of RIGHT) {
      const text = `SELECT * { ${left} LATERAL ${right} }`
      t.strictSame(fromColumns(text), fromEngine(text), text)
    }
  t.end()
})

t.test('beside other patterns', t => {
  for (const text of [
    `SELECT * { { ${COUNTRIES} LATERAL { SELECT ?c ?s { ?s <urn:in> ?c } ORDER BY ?s LIMIT 1 } } ?s <urn:n> ?n }`,
    `SELECT ?l ?s { ${COUNTRIES} lateral { ?s <urn:in> ?c FILTER(?l != "x") } OPTIONAL { ?s <urn:near> ?x } FILTER(!BOUND(?x)) }`,
    `SELECT (COUNT(*) AS ?n) { ${COUNTRIES} LATERAL { SELECT ?c ?s { ?s <urn:in> ?c } LIMIT 3 } }`,
    `SELECT * { ${COUNTRIES} MINUS { ?c <urn:label> ?m LATERAL { ?s <urn:in> ?c } } }`,
  ])
    t.strictSame(fromColumns(text), fromEngine(text), text)
  const marked = `SELECT * { ${COUNTRIES} OPTIONAL { ?s <urn:in> ?c FILTER(<urn:lodestone:lateral>()) } }`
  t.match(
    parseQuery(marked).query,
    { input: { input: { type: 'leftJoin' } } },
    'no function of a query marks a group',
  )
  const within = `ASK { ${COUNTRIES} FILTER EXISTS { ?s <urn:in> ?c LATERAL { ?s <urn:near> ?t } } }`
  t.throws(() => fromColumns(within), new NotInColumns('LATERAL within EXISTS'))
  t.end()
})

t.test('a subquery for too many values is left to an engine, other groups are not', t => {
  const many = columnsOfText(
    Array.from({ length: 10_001 }, (_, at) => `<urn:s${at}> <urn:p> "${at}" .\n`).join(''),
  )
  const count = (right: string) => {
    const piece = new PieceBytes()
    const evaluation = new Evaluation({ defaultGraphs: [many], namedGraphs: new Map() })
    const { query } = parseQuery(`SELECT (COUNT(*) AS ?n) { ?s <urn:p> ?o LATERAL { ${right} } }`)
    for (const _ of jobText(query, evaluation, 'csv', piece));
    return Buffer.from(piece.take()).toString().trim().split('\n').at(-1)
  }
  t.equal(count('?s <urn:p> ?again FILTER(STRLEN(?o) > 4)'), '1')
  t.throws(() => count('SELECT ?s { ?s <urn:p> ?x } LIMIT 1'), new NotInColumns('LATERAL for 10001 values'))
  t.end()
})

t.test('a term that is substituted begins paths of no steps, as one in its place does', t => {
  const terms = ['<urn:nowhere>', '<urn:s1>', '<urn:near>', '77', '"name 1"']
  const rows = (group: string) => fromColumns(`SELECT ?one { BIND(1 AS ?one) ${group} }`).length
  for (const path of [
    '<urn:near>*',
    '<urn:near>?',
    '<urn:near>+',
    '(<urn:near>|<urn:in>)*',
    '<urn:in>*/<urn:near>*',
  ])
    for (const ends of [
      ['?x', '?x'],
      ['?x', '?y'],
      ['?y', '?x'],
    ])
      for (const term of terms) {
        const [from, to] = ends.map(end => end.replace('?x', term))
        const [group, own] = [`{ ${ends[0]} ${path} ${ends[1]} }`, `{ ${from} ${path} ${to} }`]
        t.equal(rows(`VALUES ?x { ${term} } FILTER EXISTS ${group}`), rows(`FILTER EXISTS ${own}`), own)
        t.equal(
          rows(`VALUES ?x { ${term} } FILTER NOT EXISTS ${group}`),
          rows(`FILTER NOT EXISTS ${own}`),
          own,
        )
      }
  const values = `VALUES ?x { ${terms.join(' ')} }`
  t.equal(rows(`${values} FILTER EXISTS { ?x <urn:near>* ?x }`), terms.length)
  t.equal(rows(`${values} LATERAL { ?x <urn:near>* ?x }`), terms.length)
  t.equal(rows(`${values} ?x <urn:near>* ?x`), 2, 'joined, only nodes of the graph do')
  t.end()
})

t.test('every subject has a position, also under EXISTS and MINUS', t => {
  const rows = (group: string) => fromColumns(`SELECT * { ?s <urn:n> ?n ${group} }`).length
  const position = '{ ?s <urn:lodestone:position> ?p }'
  t.equal(rows(`FILTER EXISTS ${position}`), 40)
  t.equal(rows(`FILTER NOT EXISTS ${position}`), 0)
  t.equal(rows(`MINUS ${position}`), 0)
  t.end()
})
