/**
 * `node federation.mjs [QUERIES] [SEED]`: queries over three datasets at once, each asked with Comunica through fragments of
 * triples, bindings-restricted fragments, fragments of quads or the endpoint, in random federations of them; with SERVICE at an
 * endpoint of the portal, from the endpoint and from Comunica. The answers are held against those of an engine over one
 * merged file.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { QueryEngine } from '@comunica/query-sparql'
import oxigraph from 'oxigraph'
import { serveLodestone } from './servers.mjs'

const QUERIES = Number(process.argv[2] ?? 60)
let state = Number(process.argv[3] ?? 1)
/** A whole number from 0 to below another, from a linear congruential generator. */
function below(end) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * end)
}
const one = list => list[below(list.length)]

const PREFIXES = 'PREFIX : <http://example.org/>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n'
const lines = (size, make) => Array.from({ length: size }, (_, at) => make(at)).join('')
const DATA = {
  people: lines(
    90,
    at =>
      `<http://example.org/p${at}> <http://example.org/name> "Name ${at % 40}"${at % 3 === 0 ? '@en' : ''} .\n` +
      `<http://example.org/p${at}> <http://example.org/livesIn> <http://example.org/c${at % 17}> .\n` +
      `<http://example.org/p${at}> <http://example.org/age> "${20 + (at % 50)}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n` +
      (at % 4 === 0
        ? `<http://example.org/p${at}> <http://example.org/knows> <http://example.org/p${(at * 7) % 90}> .\n`
        : ''),
  ),
  cities: lines(
    20,
    at =>
      `<http://example.org/c${at}> <http://example.org/label> "City ${at}" .\n` +
      `<http://example.org/c${at}> <http://example.org/country> <http://example.org/k${at % 5}> .\n` +
      (at % 2 === 0
        ? `<http://example.org/c${at}> <http://example.org/population> "${at * 1000}.5"^^<http://www.w3.org/2001/XMLSchema#decimal> .\n`
        : ''),
  ),
  works: lines(
    120,
    at =>
      `<http://example.org/w${at}> <http://example.org/author> <http://example.org/p${(at * 11) % 100}> .\n` +
      `<http://example.org/w${at}> <http://example.org/title> "Work ${at} & \\"more\\"" .\n` +
      (at % 3 === 0
        ? `<http://example.org/w${at}> <http://example.org/about> <http://example.org/c${at % 20}> .\n`
        : ''),
  ),
}

/** What is asked, with constants that differ each time. */
const FORMS = [
  () => `SELECT ?n ?l { ?p :name ?n ; :livesIn ?c . ?c :label ?l . FILTER(?p = :p${below(90)}) }`,
  () =>
    `SELECT ?w ?n ?l { ?w :author ?p . ?p :name ?n ; :livesIn ?c . ?c :label ?l ; :country :k${below(5)} }`,
  () => `SELECT ?p ?t { ?p :age ${20 + below(50)} . OPTIONAL { ?w :author ?p ; :title ?t } }`,
  () =>
    `SELECT DISTINCT ?k { ?w :about ?c . ?c :country ?k . ?p :livesIn ?c ; :age ?a FILTER(?a > ${20 + below(50)}) }`,
  () =>
    `SELECT ?k (COUNT(*) AS ?n) (AVG(?a) AS ?m) { ?p :livesIn ?c ; :age ?a . ?c :country ?k } GROUP BY ?k HAVING (COUNT(*) > ${below(20)})`,
  () => `SELECT ?w ?l { ?w :author/:livesIn/:label ?l . FILTER(STRENDS(?l, "${below(10)}")) }`,
  () => `SELECT ?p { ?p :livesIn :c${below(17)} MINUS { ?w :author ?p } }`,
  () => `SELECT ?p { ?p :age ${20 + below(50)} FILTER NOT EXISTS { ?w :author ?p ; :about ?c } }`,
  () =>
    `SELECT ?x ?y { { ?x :livesIn :c${below(17)} ; :name ?y } UNION { ?x :about :c${below(20)} ; :title ?y } }`,
  () => `SELECT ?p ?q ?l { ?p :knows ?q . ?q :livesIn/:label ?l . FILTER(?p != ?q && ?p != :p${below(90)}) }`,
  () => `ASK { ?w :author :p${below(110)} ; :about ?c . ?c :population ?n }`,
  () =>
    `SELECT ?l ?n { VALUES ?c { :c${below(20)} :c${below(20)} } ?c :label ?l . OPTIONAL { ?c :population ?n } }`,
  () =>
    `SELECT ?c ?s { { SELECT ?c (COUNT(?p) AS ?s) { ?p :livesIn ?c } GROUP BY ?c } ?c :country :k${below(5)} }`,
  () => `SELECT ?p ?o { :p${below(90)} ?p ?o }`,
  () => `SELECT ?s ?p { ?s ?p :c${below(20)} }`,
  () => `SELECT ?x { :p${below(90)} (:knows|^:author)+ ?x }`,
  () =>
    `SELECT ?t ?g { ?w :title ?t ; :author ?a . ?a :age ?n BIND(IF(?n > ${20 + below(50)}, "old", "young") AS ?g) } ORDER BY ?t LIMIT 200`,
  () =>
    `SELECT (MAX(?n) AS ?m) (MIN(?a) AS ?l) { ?p :age ?a ; :livesIn ?c . ?c :population ?n FILTER(?a < ${20 + below(50)}) }`,
  () => `SELECT ?t { ?w :title ?t FILTER(REGEX(?t, "^Work ${below(10)}.* & ")) }`,
  () => `CONSTRUCT { ?p :from ?k } { ?p :livesIn/:country ?k ; :age ${20 + below(50)} }`,
]

const ids = Object.keys(DATA)
const server = await serveLodestone(
  place => {
    for (const [id, text] of Object.entries(DATA)) {
      const folder = place(id)
      writeFileSync(path.join(folder, 'data.nt'), text)
      writeFileSync(path.join(folder, 'dataset.yaml'), 'source: { path: data.nt }\n')
    }
  },
  { fragment_size: 30 },
)
const engine = new oxigraph.Store()
engine.load(Object.values(DATA).join(''), { format: 'nt' })

const SOURCES = {
  tpf: id => `${server.base}/api/tpf/${id}`,
  brtpf: id => ({ type: 'brtpf', value: `${server.base}/api/tpf/${id}` }),
  qpf: id => `${server.base}/api/qpf/${id}`,
  sparql: id => ({ type: 'sparql', value: `${server.base}/api/sparql/${id}` }),
}

const termText = term =>
  term.termType === 'Literal' && /#(?:decimal|integer|double)$/.test(term.datatype.value)
    ? String(Number(term.value))
    : `${term.termType} ${term.value} ${term.language ?? ''}`
const rowText = entries =>
  entries
    .map(([name, term]) => `${name}=${termText(term)}`)
    .sort()
    .join(' ')

function expectedOf(query) {
  const found = engine.query(query)
  if (typeof found === 'boolean') return [String(found)]
  return found
    .map(row =>
      row instanceof Map
        ? rowText([...row])
        : rowText([
            ['s', row.subject],
            ['p', row.predicate],
            ['o', row.object],
          ]),
    )
    .sort()
}

async function foundBy(sources, query) {
  const answer = await new QueryEngine().query(query, { sources, httpTimeout: 30_000 })
  if (answer.resultType === 'boolean') return [String(await answer.execute())]
  const items = await (await answer.execute()).toArray()
  return items
    .map(item =>
      answer.resultType === 'quads'
        ? rowText([
            ['s', item.subject],
            ['p', item.predicate],
            ['o', item.object],
          ])
        : rowText([...item].map(([{ value }, term]) => [value, term])),
    )
    .sort()
}

/** The same with each triple pattern of another dataset in a SERVICE of its endpoint. */
const SERVICES = [
  () =>
    `SELECT ?n ?l { ?p :name ?n ; :livesIn ?c ; :age ${20 + below(50)} . SERVICE <CITIES> { ?c :label ?l } }`,
  () =>
    `SELECT ?n ?t { ?p :livesIn :c${below(17)} ; :name ?n . OPTIONAL { SERVICE <WORKS> { ?w :author ?p ; :title ?t } } }`,
  () =>
    `SELECT ?k (COUNT(*) AS ?s) { ?p :livesIn ?c FILTER(?p != :p${below(90)}) SERVICE <CITIES> { ?c :country ?k } } GROUP BY ?k`,
]

let differences = 0
let asked = 0
const judge = (name, query, expected, found) => {
  asked += 1
  if (JSON.stringify(expected) === JSON.stringify(found)) return
  differences += 1
  process.stdout.write(
    `${name}\n${query}\n  ${found.length} instead of ${expected.length}: ${found.find(row => !expected.includes(row)) ?? ''} | ${expected.find(row => !found.includes(row)) ?? ''}\n`,
  )
}
for (let at = 0; at < QUERIES; at++) {
  const isService = at % 6 === 5
  const text = PREFIXES + (isService ? one(SERVICES)() : FORMS[at % FORMS.length]())
  // Comunica 5 asks endpoints of a federation conditions on what they do not have.
  const takesConditions = !/NOT EXISTS|&&/.test(text)
  const kinds = ids.map(() => one(Object.keys(SOURCES).filter(kind => kind !== 'sparql' || takesConditions)))
  const expected = expectedOf(text.replace(/SERVICE <[A-Z]+> /g, ''))
  const query = text
    .replace('<CITIES>', `<${server.base}/api/sparql/cities>`)
    .replace('<WORKS>', `<${server.base}/api/sparql/works>`)
  const via = isService ? [one(['tpf', 'brtpf', 'qpf', 'sparql'])] : kinds
  try {
    const sources = isService
      ? [SOURCES[via[0]]('people')]
      : ids.map((id, place) => SOURCES[kinds[place]](id))
    judge(`query ${at} over ${via.join(', ')}`, query, expected, await foundBy(sources, query))
    if (isService) {
      const response = await fetch(`${server.base}/api/sparql/people?query=${encodeURIComponent(query)}`, {
        headers: { accept: 'application/sparql-results+json' },
      })
      const body = await response.json()
      const rows = (body.results?.bindings ?? [])
        .map(row =>
          rowText(
            Object.entries(row).map(([name, { type, value, datatype, 'xml:lang': language }]) => [
              name,
              type === 'uri'
                ? { termType: 'NamedNode', value }
                : {
                    termType: 'Literal',
                    value,
                    language: language ?? '',
                    datatype: { value: datatype ?? '' },
                  },
            ]),
          ),
        )
        .sort()
      judge(`query ${at} at the endpoint, ${response.status}`, query, expected, rows)
    }
  } catch (error) {
    judge(`query ${at} over ${via.join(', ')}: ${error.message.slice(0, 300)}`, query, expected, ['failed'])
  }
}
await server.stop()
process.stdout.write(`${asked - differences} of ${asked} equal\n`)
process.exit(differences === 0 ? 0 : 1)
