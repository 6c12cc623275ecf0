import { createHash } from 'node:crypto'
import oxigraph from 'oxigraph'
import t from 'tap'
import { termText } from '../src/rdf/ntriples.ts'
import { answerTerm } from '../src/rdf/rdfjs.ts'
import type { Term } from '../src/rdf/term.ts'
import { parseQuery } from '../src/sparql/parse.ts'
import { domainsOf, Evaluation } from '../src/store/columns/evaluate/evaluation.ts'
import { Evaluator } from '../src/store/columns/evaluate/evaluator.ts'
import { PoolDomain } from '../src/store/columns/evaluate/vectors/pool-domain.ts'
import { scratchUint32, withScratch } from '../src/store/columns/evaluate/vectors/scratch.ts'
import { termAt } from '../src/store/columns/evaluate/vectors/vector.ts'
import type { GraphColumns } from '../src/store/columns/graph.ts'
import { makeOddGraph } from './support/algebra-generator.ts'
import { columnsOfText } from './support/columns.ts'
import { isLong, withMore } from './support/effort.ts'
import { between, chance, startFrom } from './support/random.ts'
import { seedOf } from './support/seed.ts'

t.runOnly = isLong

/** Graphs about subjects of their own, with objects in common: what is asked of all their triples has the answers of Oxigraph. */
const seed = seedOf()
startFrom(seed)

const GRAPHS = 5
const SUBJECTS = 700
const TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>'

const digest = (text: string) => createHash('sha1').update(text).digest('hex')
const pick = <Value>(values: readonly Value[]): Value => values[between(0, values.length - 1)] as Value
/** One in four subjects is named by a digest, a few are blank nodes. */
const subjectOf = (graph: number, at: number): string => {
  if (at % 97 === 0) return `_:g${graph}b${at}`
  return at % 4 === 0 ? `<urn:x:${graph}:${digest(`${at}`)}>` : `<urn:x:${graph}:${at}>`
}
const anySubject = () => subjectOf(between(0, GRAPHS), between(0, SUBJECTS + 40))

const odd = makeOddGraph().filter(({ object }) => object.type === 'literal')
const oddLiteral = () => termText(pick(odd).object)
const number = (value: number | string, type: string) =>
  `"${value}"^^<http://www.w3.org/2001/XMLSchema#${type}>`
const CASES = ['en', 'EN', 'en-GB', 'en-gb', 'de']

const TEXTS = Array.from({ length: GRAPHS }, (_, graph) =>
  Array.from({ length: SUBJECTS }, (_, at) => {
    const values: readonly (readonly [string, string])[] = [
      [TYPE, `<urn:class:${between(0, 3)}>`],
      ['<urn:p:label>', `"name ${between(0, 900)}"@${pick(CASES)}`],
      ['<urn:p:number>', number(between(-50, 500), 'integer')],
      [`<urn:p:own${graph}>`, number(between(0, 900) / 10, 'decimal')],
      ['<urn:p:double>', number(pick(['1.5', '-0', '0', 'INF', '2', '1.5E0', 'NaN']), 'double')],
      ...(chance(0.6) ? [['<urn:p:any>', chance(0.5) ? oddLiteral() : anySubject()] as const] : []),
      ...Array.from({ length: between(0, 2) }, () => ['<urn:p:link>', anySubject()] as const),
      ...Array.from(
        { length: between(0, 3) },
        () => ['<urn:p:tag>', `"${pick(['a', 'b'])}"${pick(['', '@en', '@de'])}`] as const,
      ),
      ...Array.from(
        { length: between(0, 2) },
        () => ['<urn:p:size>', number(between(0, 3), pick(['integer', 'decimal']))] as const,
      ),
    ]
    return [...new Set(values.map(([name, value]) => `${subjectOf(graph, at)} ${name} ${value} .\n`))].join(
      '',
    )
  }).join(''),
)

const engine = new oxigraph.Store()
/** The first graphs have a name in common as well, which is that of their merge. */
const MERGED = 3
/** Oxigraph gives numbers the form of their value. */
const graphs = TEXTS.map((text, graph) => {
  const name = `urn:graph:${graph}`
  engine.load(text, { format: 'application/n-triples', to_graph_name: oxigraph.namedNode(name) })
  for (const to of ['?s ?p ?o', ...(graph < MERGED ? ['GRAPH <urn:graph:merged> { ?s ?p ?o }'] : [])])
    engine.update(`INSERT { ${to} } WHERE { GRAPH <${name}> { ?s ?p ?o } }`)
  return columnsOfText(
    engine.dump({ format: 'application/n-triples', from_graph_name: oxigraph.namedNode(name) }),
  )
})

const NAMED = new Map<string, readonly GraphColumns[]>([
  ...graphs.map((graph, at) => [`urn:graph:${at}`, [graph]] as const),
  ['urn:graph:merged', graphs.slice(0, MERGED)] as const,
])

function byColumns(text: string, defaultGraphs = graphs): readonly string[] {
  const rows = withScratch(() => {
    const found: string[] = []
    const { query } = parseQuery(text)
    const dataset = { defaultGraphs, namedGraphs: NAMED }
    for (const batch of new Evaluator(new Evaluation(dataset, {}, {})).solutions(query.input))
      for (let row = 0; row < batch.size; row++)
        found.push(
          textOf(query.type === 'select' ? query.variables : [], name => {
            const vector = batch.get(name)
            return vector === undefined ? null : termAt(vector, row)
          }),
        )
    return found
  })
  // The memory of one query is written over by the next.
  withScratch(() => scratchUint32(2 ** 20).fill(2 ** 32 - 1))
  return rows
}

function byEngine(text: string): readonly string[] {
  const { query } = parseQuery(text)
  return (engine.query(text) as Map<string, oxigraph.Term>[]).map(solution =>
    textOf(query.type === 'select' ? query.variables : [], name => {
      const term = solution.get(name)
      return term === undefined ? null : answerTerm(term as never)
    }),
  )
}

function textOf(names: readonly string[], termOfName: (name: string) => Term | null): string {
  return names
    .map(name => {
      const term = termOfName(name)
      // Blank nodes have names of their own in each engine; languages are the same in any case.
      if (term === null || term.type === 'blank') return String(term?.type)
      return term.type === 'literal' && term.language !== ''
        ? `${term.value} @${term.language.toLowerCase()}`
        : termText(term)
    })
    .join(' ')
}

/** What is distinct by itself, and what is not though it looks much the same. */
const DISTINCT = [
  ...['?s ?t { ?s <urn:p:tag> ?t }', '?s { ?s <urn:p:tag> ?t }', '?t { <urn:x:1:2> <urn:p:tag> ?t, [] }'],
  ...['* { ?s <urn:p:tag> ?t, [] }', '?s ?t { ?s <urn:p:tag> ?t, ?u }', '* { ?s <urn:p:tag> ?t, ?u }'],
  '?s ?t ?o { ?s <urn:p:tag> ?t OPTIONAL { ?s <urn:p:link> ?o } }',
  '?s ?t { ?s <urn:p:tag> ?t OPTIONAL { ?s <urn:p:link> ?o } }',
  '* { ?s <urn:p:link> ?o OPTIONAL { ?o <urn:p:tag> ?l } OPTIONAL { ?s <urn:p:size> ?l } }',
  '* { { ?s <urn:p:link> ?o OPTIONAL { ?s <urn:p:tag> ?t } } { ?o <urn:p:tag> ?t } }',
  ...[
    '?s ?o { ?s <urn:p:link>|<urn:p:any> ?o }',
    '* { ?s <urn:p:link>/<urn:p:link> ?o }',
    '* { ?s <urn:p:any>* ?o }',
  ],
  ...[
    '?g ?c { GRAPH ?g { ?s a ?c } }',
    '?s ?c { GRAPH ?g { ?s a ?c } }',
    '?g ?s ?c { GRAPH ?g { ?s a ?c } }',
  ],
  '?c ?n { SELECT ?c (COUNT(*) AS ?n) { ?s a ?c } GROUP BY ?c }',
  '?n { SELECT ?s (COUNT(*) AS ?n) { ?s <urn:p:tag> ?t } GROUP BY ?s }',
  ...[
    '?s ?t { { ?s <urn:p:tag> ?t } { ?s <urn:p:link> ?o } }',
    '* { { ?s <urn:p:tag> ?t } { ?s <urn:p:link> ?o } }',
  ],
  ...[
    '?s ?t ?x { ?s <urn:p:tag> ?t BIND(STRLEN(?t) AS ?x) }',
    '?s ?x { ?s <urn:p:tag> ?t BIND(STRLEN(?t) AS ?x) }',
  ],
  ...[
    '* { { ?s <urn:p:tag> ?t } UNION { ?s ?p "a" ; ?p ?t } }',
    '* { ?s <urn:p:tag> ?t MINUS { ?s <urn:p:size> ?z } }',
  ],
  '* { VALUES ?c { <urn:class:1> <urn:class:1> } ?s a ?c }',
  '* { ?s <urn:p:number> ?n OPTIONAL { { ?s <urn:p:tag> ?t } UNION { ?s <urn:p:tag> ?t } } }',
  '* { { SELECT ?x { ?s a ?c OPTIONAL { ?s <urn:p:tag> ?x } } GROUP BY ?x } OPTIONAL { ?q <urn:p:tag> ?x } }',
  '* { { ?s <urn:p:tag> ?t } UNION { ?s <urn:p:tag> ?t } MINUS { ?s <urn:p:size> ?z } }',
  '* { { SELECT ?s { ?s <urn:p:tag> ?t } } ?s <urn:p:number> ?n }',
]

/** Tests of the texts of terms of every kind. */
const TEXT_TESTS = [
  ...[
    'STR(?o) = "name 7"',
    '"a" = STR(?o)',
    'LCASE(STR(?o)) = "name 7"',
    'UCASE(STR(?o)) = "A"',
    'STR(?o) = ""',
  ],
  ...[
    'STR(?o) = "urn:class:2"',
    'STR(?o) = "urn:x:1:2"',
    'STR(?o) != "a"',
    'STR(?o) = "-0"',
    'STR(?o) = "NaN"',
  ],
  ...['LCASE(STR(?o)) = "nan"', 'UCASE(STR(?o)) = "URN:CLASS:2"', '!(STR(?o) = "a")', 'LCASE(?o) = "a"'],
  ...[
    'CONTAINS(STR(?o), "e")',
    'CONTAINS(STR(?o), "E")',
    'CONTAINS(STR(?o), "ass:")',
    'CONTAINS(STR(?o), "")',
  ],
  ...['CONTAINS(STR(?o), "-")', 'CONTAINS(STR(?o), "T")', 'CONTAINS(STR(?o), "z")', 'CONTAINS(?o, "e")'],
  ...[
    'CONTAINS(LCASE(STR(?o)), "class")',
    'CONTAINS(UCASE(STR(?o)), "INF")',
    'CONTAINS(LCASE(STR(?o)), "inf")',
  ],
  ...['STRSTARTS(STR(?o), "urn:x:1:")', 'STRSTARTS(STR(?o), "1")', 'STRSTARTS(LCASE(STR(?o)), "urn:")'],
  ...[
    'STRENDS(STR(?o), "7")',
    'STRENDS(STR(?o), "x")',
    'STRENDS(UCASE(STR(?o)), "E")',
    'STRSTARTS(STR(?o), "")',
  ],
  ...['REGEX(STR(?o), "^urn:x:[12]:4")', 'REGEX(STR(?o), "CLASS:[13]$", "i")', 'REGEX(STR(?o), "nan", "i")'],
]

t.test(`questions about all triples of several graphs, seed ${seed}`, withMore, t => {
  const questions = [
    'SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?a) (COUNT(DISTINCT ?p) AS ?b) (COUNT(DISTINCT ?o) AS ?c) { ?s ?p ?o }',
    'SELECT ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?a) (COUNT(DISTINCT ?o) AS ?b) { ?s ?p ?o } GROUP BY ?p',
    'SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o FILTER(ISIRI(?o)) FILTER NOT EXISTS { ?o ?q ?v } }',
    'SELECT (COUNT(*) AS ?n) { ?s ?p ?o FILTER NOT EXISTS { ?o ?q ?v } }',
    'SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o FILTER EXISTS { ?o ?q ?v } } GROUP BY ?p',
    'SELECT (COUNT(*) AS ?n) { ?s <urn:p:link> ?o MINUS { ?o ?q ?v } }',
    'SELECT (COUNT(*) AS ?n) { ?s <urn:p:any> ?o FILTER EXISTS { ?o ?q ?q } }',
    'SELECT (COUNT(*) AS ?n) { ?s <urn:p:any> ?o FILTER EXISTS { ?o ?s ?v } }',
    'SELECT (COUNT(*) AS ?n) { ?s ?p ?o FILTER NOT EXISTS { ?s ?q ?o FILTER(?q != ?p) } }',
    `SELECT ?c ?p ?d (COUNT(*) AS ?n) { ?s a ?c ; ?p ?o . ?o a ?d } GROUP BY ?c ?p ?d`,
    'SELECT ?p ?d (COUNT(*) AS ?n) { ?s ?p ?o OPTIONAL { ?o a ?d } } GROUP BY ?p ?d',
    'SELECT ?o (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?o HAVING (COUNT(*) > 20)',
    'SELECT ?s ?n ?m { { SELECT ?s (COUNT(*) AS ?n) (COUNT(DISTINCT ?p) AS ?m) { ?s ?p ?o } GROUP BY ?s } FILTER(ISIRI(?s)) }',
    'SELECT ?n ?m (COUNT(*) AS ?k) { SELECT ?s (COUNT(?o) AS ?n) (COUNT(DISTINCT ?p) AS ?m) { ?s ?p ?o } GROUP BY ?s } GROUP BY ?n ?m',
    'SELECT (COUNT(?s) AS ?n) { SELECT ?s { ?s ?p ?o } GROUP BY ?s HAVING (COUNT(DISTINCT ?p) > 6) }',
    'SELECT ?k { SELECT (COUNT(*) AS ?k) (COUNT(DISTINCT ?o) AS ?n) { GRAPH <urn:graph:1> { ?s ?p ?o } } GROUP BY ?s }',
    'SELECT ?k { SELECT (COUNT(*) AS ?k) { GRAPH <urn:graph:1> { ?s ?p ?o } } GROUP BY ?s }',
    ...['<urn:graph:merged>', '?g'].flatMap(name => [
      `SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?o) AS ?m) { GRAPH ${name} { ?s ?p ?o } }`,
      `SELECT ?p (COUNT(*) AS ?n) { GRAPH ${name} { ?s ?p ?o } } GROUP BY ?p`,
      `SELECT ?k { SELECT (COUNT(*) AS ?k) { GRAPH ${name} { ?s ?p ?o } } GROUP BY ?s }`,
      `SELECT (COUNT(*) AS ?n) { GRAPH ${name} { ?s <urn:p:tag> ?t FILTER(STR(?t) = "a") } }`,
      `SELECT ?s ?t ?v { GRAPH ${name} { ?s <urn:p:link> ?o . ?o <urn:p:tag> ?t ; <urn:p:size> ?v } }`,
      `SELECT ?s { GRAPH ${name} { ?s <urn:p:any>+ <urn:x:1:2> } }`,
    ]),
    'SELECT ?s ?p ?v { ?s <urn:p:link> ?o . ?o ?p ?v FILTER(?v = 7) }',
    'SELECT DISTINCT ?o { ?s <urn:p:any> ?o FILTER(!ISBLANK(?o)) }',
    'SELECT (COUNT(DISTINCT ?y) AS ?n) { <urn:x:1:2> <urn:p:link>* ?y }',
    'SELECT (COUNT(*) AS ?n) { ?x <urn:p:any>? ?y }',
    'SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?y) AS ?m) { ?x <urn:p:any>* ?y }',
    'SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?x) AS ?m) { ?x <urn:p:any>+ ?y }',
    'SELECT ?x ?y { ?x (^<urn:p:any>/<urn:p:any>)+ ?y FILTER(ISIRI(?x) && ISIRI(?y) && STRENDS(STR(?x), "7")) }',
    'SELECT ?x { ?x <urn:p:any>+ ?x FILTER(ISIRI(?x)) }',
    'SELECT (COUNT(*) AS ?n) { ?x <urn:p:link> ?y . ?z <urn:p:link> ?y . ?x <urn:p:link>+ ?z }',
    'SELECT ?p (MIN(?o) AS ?a) (MAX(?o) AS ?b) { ?s ?p ?o FILTER(ISNUMERIC(?o) && ?p NOT IN (<urn:p:any>, <urn:p:double>, <urn:p:size>)) } GROUP BY ?p',
    'SELECT (MIN(?o) AS ?a) (MAX(?o) AS ?b) { ?s ?p ?o FILTER(ISNUMERIC(?o) && ?p != <urn:p:any>) }',
    'SELECT (MIN(?o) AS ?a) { { ?s <urn:p:own0> ?o FILTER(?o > 8) } UNION { ?s <urn:p:own1> ?o FILTER(?o > 80) } }',
    'SELECT (COUNT(*) AS ?n) { ?s ?p ?o . ?o ?q ?r }',
    'SELECT ?q ?c (COUNT(*) AS ?n) { ?s <urn:p:link> ?o . ?o ?q ?r ; a ?c FILTER(?q != <urn:p:label>) } GROUP BY ?q ?c',
    ...['number', 'label', 'double', 'tag', 'size', 'link'].flatMap(name =>
      ['?a = ?b', '?a != ?b', 'SAMETERM(?a, ?b)', '!SAMETERM(?a, ?b)'].flatMap(condition => [
        `SELECT (COUNT(*) AS ?n) { ?s <urn:p:${name}> ?a, ?b FILTER(${condition}) }`,
        `SELECT (COUNT(*) AS ?n) { ?s <urn:p:${name}> ?a ; <urn:p:link> ?t . ?t <urn:p:${name}> ?b FILTER(${condition}) }`,
      ]),
    ),
    'SELECT ?l (COUNT(*) AS ?n) { ?s <urn:p:label> ?l } GROUP BY ?l',
    'SELECT DISTINCT ?n { ?s <urn:p:number> ?n } ORDER BY DESC(?n) OFFSET 5 LIMIT 20',
    'SELECT DISTINCT ?c ?n { ?s a ?c ; <urn:p:number> ?n } ORDER BY ?n DESC(?c) LIMIT 40',
    'SELECT DISTINCT ?c { ?s a ?c ; <urn:p:number> ?n } ORDER BY STR(?c) LIMIT 3',
    'SELECT DISTINCT ?c { VALUES (?c ?k) { (1 3) (2 1) (3 2) (1 5) } } ORDER BY ?k LIMIT 2',
    'SELECT (COUNT(*) AS ?n) { SELECT DISTINCT ?t { ?s <urn:p:tag> ?t } ORDER BY RAND() LIMIT 5 }',
    ...DISTINCT.map(query => `SELECT (COUNT(*) AS ?all) { SELECT DISTINCT ${query} }`),
    ...TEXT_TESTS.map(test => `SELECT ?o (COUNT(*) AS ?n) { ?s ?p ?o FILTER(${test}) } GROUP BY ?o`),
    'SELECT ?v (COUNT(*) AS ?n) (COUNT(?s) AS ?m) { ?s <urn:p:tag> ?v } GROUP BY ?v',
    'SELECT ?q (COUNT(*) AS ?n) { ?s <urn:p:any> ?o . ?o ?q ?r . ?r ?q ?z } GROUP BY ?q',
    'SELECT ?q (COUNT(*) AS ?n) { VALUES ?o { <urn:x:1:2> <urn:x:2:3> 7 } ?o ?q ?r } GROUP BY ?q',
    'SELECT ?o ?q { ?s <urn:p:any> ?o OPTIONAL { ?o ?q <urn:class:1> } FILTER(ISIRI(?o)) }',
    'SELECT ?s (MIN(?o) AS ?a) (MAX(?o) AS ?b) { ?s ?p ?o FILTER(ISIRI(?o)) } GROUP BY ?s',
    'SELECT ?s (MAX(?o) AS ?b) { ?s <urn:p:number>|<urn:p:link> ?o FILTER(ISIRI(?s)) } GROUP BY ?s',
    'SELECT ?s (STRLEN(GROUP_CONCAT(STR(?o); separator="|")) AS ?n) { ?s ?p ?o FILTER(ISIRI(?o) || (ISNUMERIC(?o) && ?p != <urn:p:any>)) } GROUP BY ?s',
    'SELECT ?n (COUNT(*) AS ?c) { SELECT ?s (STRLEN(GROUP_CONCAT(DISTINCT STR(?p))) AS ?n) { ?s ?p ?o } GROUP BY ?s } GROUP BY ?n',
    'SELECT ?x { ?x (<urn:p:any>|<urn:p:number>)+ 7 FILTER(ISIRI(?x)) }',
    'SELECT ?a ?b { ?a <urn:p:label> ?l . ?b <urn:p:label> ?m FILTER(STR(?l) = STR(?m) && ?a != ?b && CONTAINS(?l, "77")) }',
  ]
  // Every third, from another one with each seed; a long run has the others.
  for (const text of questions.filter((_, at) => ((at + seed) % 3 === 0) !== isLong))
    t.same([...byColumns(text)].sort(), [...byEngine(text)].sort(), text)
  t.end()
})

t.test('texts of a group are in the order of its solutions, and an error leaves it without', t => {
  const rows = 'SELECT ?s ?o { ?s <urn:p:link> ?o FILTER(ISIRI(?s)) }'
  const found = new Map<string, string[]>()
  for (const row of byColumns(rows)) {
    const [subject = '', object = ''] = row.split(' ')
    found.set(subject, [...(found.get(subject) ?? []), object])
  }
  const expected = Array.from(found, ([subject, objects]) =>
    objects.some(object => object === 'blank')
      ? `${subject} undefined`
      : `${subject} "${objects.map(each => each.slice(1, -1)).join(', ')}"`,
  )
  const text =
    'SELECT ?s (GROUP_CONCAT(?o; separator=", ") AS ?all) { ?s <urn:p:link> ?o FILTER(ISIRI(?s)) } GROUP BY ?s'
  t.same([...byColumns(text)].sort(), expected.sort())
  t.end()
})

t.test('the first of an order of all triples are those of the whole order', t => {
  for (const order of ['?s ?p ?o', 'DESC(?s) ?p ?o', '?o ?s ?p', 'DESC(?o) ?p ?s', '?p DESC(?s) ?o']) {
    const whole = byColumns(`SELECT * { ?s ?p ?o } ORDER BY ${order}`)
    for (const [offset, limit] of [
      [0, 1],
      [0, 60],
      [500, 40],
    ] as const)
      t.same(
        byColumns(`SELECT * { ?s ?p ?o } ORDER BY ${order} OFFSET ${offset} LIMIT ${limit}`),
        whole.slice(offset, offset + limit),
        `${order} ${offset} ${limit}`,
      )
  }
  for (const key of ['STR(?l)', 'LCASE(STR(?l))', 'UCASE(STR(?l))', 'LCASE(?l)', 'STRLEN(STR(?l))'])
    for (const order of [`${key} ?l ?s`, `DESC(${key}) ?s ?l`]) {
      const rows = '{ ?s <urn:p:label>|<urn:p:tag>|<urn:p:any> ?l FILTER(ISIRI(?s)) }'
      for (const text of [rows, '{ ?s <urn:p:label> ?l }', '{ ?s <urn:p:tag> ?l FILTER(ISIRI(?s)) }'])
        t.same(
          byColumns(`SELECT * ${text} ORDER BY ${order} OFFSET 2 LIMIT 4`),
          byColumns(`SELECT * ${text} ORDER BY ${order}`).slice(2, 6),
          `${text} ${order}`,
        )
    }
  const iris = 'SELECT ?s { ?s a ?c FILTER(ISIRI(?s)) } ORDER BY ?s LIMIT 300'
  t.same(byColumns(iris), byEngine(iris))
  t.end()
})

t.test('a term has one number in a pool, whether its text or its bytes are taken in', t => {
  for (const isTextFirst of [true, false]) {
    const pool = new PoolDomain()
    const terms = new Map<number, string>()
    for (const graph of TEXTS.map(columnsOfText))
      for (const domain of [
        domainsOf(graph).resources,
        domainsOf(graph).subjects,
        ...graph.columns.map(column => domainsOf(graph).of(column)),
      ])
        for (let id = 1; id <= domain.size; id++) {
          const term = domain.term(id)
          const [first, second] = isTextFirst
            ? [pool.intern(term), pool.internOf(domain, id)]
            : [pool.internOf(domain, id), pool.intern(term)]
          const text = termText(term).replace(/@[\w-]+$/, tag => tag.toLowerCase())
          const known = terms.get(first) ?? text
          if (first !== second || pool.find(term) !== first || known !== text)
            t.fail(`${text} has the numbers ${first} and ${second}; ${known} has them, too`)
          terms.set(first, known)
          if (termText(pool.term(first)).toLowerCase() !== termText(term).toLowerCase())
            t.fail(`${text} became ${termText(pool.term(first))}`)
        }
    t.equal(new Set(terms.values()).size, terms.size)
    t.equal(pool.size, terms.size)
  }
  t.end()
})

t.test('resources of one graph are found in another, one by one and all at once', t => {
  for (const graph of graphs)
    for (const { resources } of graphs.filter(other => other !== graph)) {
      const own = graph.resources
      const found = [...own.numbersIn(resources)]
      const expected = Array.from(found, (_, id) => (id === 0 ? 0 : resources.find(own.text(id))))
      t.same(found, expected)
      t.same(
        found.map((_, id) => (id === 0 ? 0 : own.numberIn(resources, id))),
        expected,
      )
    }
  t.end()
})

t.test('triples that are in two graphs are counted once', t => {
  const apart = graphs.slice(0, 2)
  const again = columnsOfText([...(apart[0]?.lines(0, 300) ?? [])].join(''))
  for (const query of [
    'SELECT ?s (COUNT(*) AS ?n) (COUNT(DISTINCT ?p) AS ?m) { ?s ?p ?o } GROUP BY ?s',
    'SELECT ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?m) { ?s ?p ?o } GROUP BY ?p',
    'SELECT ?l (COUNT(*) AS ?n) { ?s <urn:p:label> ?l } GROUP BY ?l',
  ])
    t.same(byColumns(query, [...apart, again]).toSorted(), byColumns(query, apart).toSorted(), query)
  t.end()
})
