import t from 'tap'
import { sparqlCompletions } from '../src/portal/playground/sparql-completion.ts'

/** What the playground offers at the cursor, `|`, of a query. */
const VOCABULARY = {
  prefixes: {
    schema: 'http://schema.org/',
    geo: 'http://www.opengis.net/ont/geosparql#',
    own: 'http://portal.test/ld/ontologies/birds/',
    deep: 'http://schema.org/deep/',
  },
  classes: ['http://schema.org/Country', 'http://portal.test/ld/ontologies/birds/Bird'],
  properties: [
    'http://schema.org/name',
    'http://schema.org/alternateName',
    'http://schema.org/deep/name',
    'http://portal.test/ld/ontologies/birds/wing_span',
    'http://elsewhere.test/no/prefix',
  ],
} as const

const CASES: readonly (readonly [text: string, labels: readonly string[]])[] = [
  ['SELECT * { ?s nam|', ['schema:name', 'deep:name', 'schema:alternateName']],
  ['SELECT * { ?s schema:n|', ['schema:name', 'schema:alternateName', 'schema:Country']],
  ['SELECT * { ?s own:W|', ['own:wing_span']],
  ['SELECT * { ?s a schema:|', ['schema:Country', 'schema:name', 'schema:alternateName']],
  ['SELECT * { ?s a ow|', []],
  ['SELECT * { ?s a Bi|', ['BIND', 'own:Bird']],
  ['PREFIX b: <http://portal.test/ld/ontologies/birds/> SELECT * { ?s b:|', ['b:wing_span', 'b:Bird']],
  ['PREFIX s|', ['schema: <http://schema.org/>']],
  ['PREFIX |', ['schema: <http://schema.org/>', 'geo: <http://www.opengis.net/ont/geosparql#>']],
  ['SELECT ?name ?number { ?s ?p ?n|', ['?name', '?number']],
  ['SELECT ?name { ?s ?p ?name|', []],
  ['SELECT * { ?s <http://elsewhere|', ['<http://elsewhere.test/no/prefix>']],
  ['OPT|', ['OPTIONAL']],
  ['SELECT|', []],
  ['SELECT * { ?s ?p "nam|', []],
  ['# nam|', []],
  ['SELECT * { ?s nam| ?o }', ['schema:name', 'deep:name', 'schema:alternateName']],
  ['SELECT * { ?s ?p ?o FILTER(?o <|', []],
]

for (const [marked, labels] of CASES)
  t.test(marked, async t => {
    const at = marked.indexOf('|')
    const text = marked.replace('|', '')
    const found = sparqlCompletions(text, at, VOCABULARY)
    t.same(found?.offers.slice(0, labels.length || 1).map(({ label }) => label) ?? [], labels)
    if (found !== null)
      t.equal(text.slice(found.from, found.to), /[?$<]?[\w:/.-]*$/.exec(text.slice(0, at))?.[0])
  })

t.test('what is offered brings the declaration that the query lacks', async t => {
  const declarationOf = (text: string) =>
    sparqlCompletions(text, text.length, VOCABULARY)?.offers[0]?.declaration
  t.equal(declarationOf('SELECT * { ?s schema:na'), 'PREFIX schema: <http://schema.org/>\n')
  t.equal(declarationOf('PREFIX schema: <http://schema.org/>\nSELECT * { ?s schema:na'), null)
})
