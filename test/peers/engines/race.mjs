/**
 * `node race.mjs PORTAL [--runs 15] [--only N] [NAME…]`: twenty-two queries over all triples of the demonstration portal, asked of its
 * endpoint and of engines with the same triples in one graph, in turn, each time with other constants. PORTAL is a copy of
 * the demonstration portal that is published with the base http://localhost:3000. Tells the median milliseconds of each, and the rows of the first
 * answer, which have to be as many everywhere.
 */
import { spawn } from 'node:child_process'
import { createReadStream, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { createGunzip } from 'node:zlib'
import { runSql, startEngine } from './engines.mjs'

const root = path.resolve(import.meta.dirname, '../../..')
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: 'string', default: '15' }, only: { type: 'string' } },
})
const [portal, ...names] = positionals
const RUNS = Number(values.runs)
const GRAPH = 'urn:all'

const PREFIXES = `PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX s: <http://schema.org/>
PREFIX gn: <http://www.geonames.org/ontology#>
PREFIX geo: <http://www.opengis.net/ont/geosparql#>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX sosa: <http://www.w3.org/ns/sosa/>
PREFIX dct: <http://purl.org/dc/terms/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX wdt: <http://www.wikidata.org/prop/direct/>
PREFIX c: <http://localhost:3000/ld/resources/countries/country/>
PREFIX e: <http://localhost:3000/ld/ontologies/earthquakes/>
`
const COUNTRIES = [
  'FR',
  'DE',
  'IT',
  'ES',
  'PL',
  'JP',
  'BR',
  'MX',
  'GB',
  'RU',
  'IN',
  'CN',
  'TR',
  'AR',
  'NL',
  'BE',
]
const CODES = ['PPL', 'PPLA', 'PPLA2', 'PPLA3', 'PPLA4', 'PPLC', 'PPLX', 'PPLL']
const country = run => COUNTRIES[run % COUNTRIES.length]
const code = run => `<http://www.geonames.org/ontology#P.${CODES[run % CODES.length]}>`

const QUERIES = {
  'count of a class': run =>
    `SELECT (COUNT(?x) AS ?n) { ?x a s:${['City', 'Airport', 'Movie', 'Country', 'Event'][run % 5]} }`,
  'triples of a predicate by object': run =>
    `SELECT ?k (COUNT(*) AS ?n) { ?x gn:featureCode ?k } GROUP BY ?k HAVING (COUNT(*) > ${run})`,
  'cities of a country': run =>
    `SELECT ?x ?l { ?x a s:City ; s:containedInPlace c:${country(run)} ; rdfs:label ?l } ORDER BY ?l LIMIT 50`,
  'largest cities': run =>
    `SELECT ?l ?p { ?x gn:population ?p ; rdfs:label ?l } ORDER BY DESC(?p) LIMIT ${20 + run}`,
  'largest of a country': run =>
    `SELECT ?l ?p { ?x s:containedInPlace c:${country(run)} ; gn:population ?p ; rdfs:label ?l } ORDER BY DESC(?p) LIMIT 10`,
  'sums by country': run =>
    `SELECT ?k (COUNT(*) AS ?n) (SUM(?p) AS ?s) { ?x gn:population ?p ; s:containedInPlace ?k FILTER(?p > ${run}) } GROUP BY ?k`,
  'averages by code': run =>
    `SELECT ?k (AVG(?p) AS ?m) (MAX(?p) AS ?h) { ?x gn:population ?p ; gn:featureCode ?k FILTER(?p >= ${run}) } GROUP BY ?k ORDER BY DESC(?m)`,
  'two keys': run =>
    `SELECT ?c ?k (COUNT(*) AS ?n) { ?x s:containedInPlace ?c ; gn:featureCode ?k ; gn:population ?p FILTER(?p > ${run * 10}) } GROUP BY ?c ?k ORDER BY DESC(?n) LIMIT 100`,
  'a range of numbers': run =>
    `SELECT (COUNT(*) AS ?n) { ?x gn:population ?p FILTER(?p >= ${1000 + run * 50} && ?p < ${20000 + run * 100}) }`,
  'capitals with their countries': run =>
    `SELECT ?l ?n { ?x gn:featureCode <http://www.geonames.org/ontology#P.PPLC> ; rdfs:label ?l ; s:containedInPlace ?c . ?c wdt:P297 ?n FILTER(?n != "X${run}") }`,
  'cities with the area of their country': run =>
    `SELECT ?c (SUM(?p) AS ?s) (SAMPLE(?a) AS ?area) { ?x a s:City ; gn:population ?p ; s:containedInPlace ?c . ?c wdt:P2046 ?a FILTER(?p > ${run * 1000}) } GROUP BY ?c`,
  'cities and airports of one name': run =>
    `SELECT ?l { ?x a s:City ; rdfs:label ?l . ?y s:addressLocality ?m FILTER(STR(?m) = STR(?l) && STRSTARTS(STR(?m), "${'ABCDEFGHIJKLMNOP'[run % 16]}u")) }`,
  'one resource': run => `SELECT ?p ?o { c:${country(run)} ?p ?o }`,
  'links to one resource': run => `SELECT ?p (COUNT(*) AS ?n) { ?s ?p c:${country(run)} } GROUP BY ?p`,
  'part of a text': run =>
    `SELECT ?l { ?x a s:City ; rdfs:label ?l FILTER(CONTAINS(LCASE(STR(?l)), "${['berg', 'stad', 'ville', 'burg', 'grad', 'port'][run % 6]}")) } LIMIT 100`,
  'a regular expression': run =>
    `SELECT (COUNT(*) AS ?n) { ?x a s:City ; rdfs:label ?l FILTER(REGEX(STR(?l), "^${['San', 'Santa', 'New', 'Saint', 'Los', 'Bad'][run % 6]} .*${'aeiou'[run % 5]}$")) }`,
  'without a division': run =>
    `SELECT ?x ?l { ?x a s:City ; gn:featureCode ${code(run)} ; rdfs:label ?l FILTER NOT EXISTS { ?x gn:parentADM1 ?d } } LIMIT 50`,
  'an optional value': run =>
    `SELECT ?c ?a { ?c a s:Country OPTIONAL { ?c s:alternateName ?a FILTER(STRLEN(STR(?a)) > ${run % 5}) } }`,
  'divisions of a country with their cities': run =>
    `SELECT ?d (COUNT(?x) AS ?n) { ?d a s:AdministrativeArea ; s:containedInPlace c:${country(run)} . ?x gn:parentADM1 ?d } GROUP BY ?d ORDER BY DESC(?n)`,
  'observations by property': run =>
    `SELECT ?q (COUNT(*) AS ?n) (AVG(xsd:double(?v)) AS ?m) { ?o sosa:observedProperty ?q ; sosa:hasSimpleResult ?v FILTER(ISNUMERIC(?v) && ?v > ${run}) } GROUP BY ?q`,
  'strong earthquakes': run =>
    `SELECT ?x ?t ?m { ?o sosa:hasFeatureOfInterest ?x ; sosa:hasSimpleResult ?m . ?x s:startDate ?t FILTER(?m > ${2 + run / 10}) } ORDER BY DESC(?m) ?t LIMIT 20`,
  'either of two': run =>
    `SELECT ?l { { ?x s:containedInPlace c:${country(run)} ; gn:featureCode <http://www.geonames.org/ontology#P.PPLA> ; rdfs:label ?l } UNION { ?x a s:Airport ; rdfs:label ?l ; s:address ?a . ?a s:addressRegion "${['CA', 'TX', 'NY', 'FL', 'AK'][run % 5]}" } }`,
}

/** All triples of the portal as one file of N-Triples. */
async function dump(folder) {
  const { createWriteStream } = await import('node:fs')
  const file = path.join(folder, 'all.nt')
  const versions = path.join(portal, 'var/published')
  for (const id of readdirSync(versions)) {
    const version = readFileSync(path.join(versions, id, 'current'), 'utf8').trim()
    const place = path.join(versions, id, version)
    const name = readdirSync(place).includes('mapped.nt.gz') ? 'mapped.nt.gz' : 'facts.nt.gz'
    await pipeline(
      createReadStream(path.join(place, name)),
      createGunzip(),
      createWriteStream(file, { flags: 'a' }),
    )
  }
  return file
}

const LOAD = {
  virtuoso: async (engine, file) => {
    await runSql(
      engine.sqlPort,
      `ld_dir('${path.dirname(file)}', '*.nt', '${GRAPH}');\nrdf_loader_run();\ncheckpoint;\n`,
    )
  },
  oxigraph: put,
  fuseki: put,
}

async function put(engine, file) {
  const target = engine.name === 'oxigraph' ? `${engine.data}?default` : `${engine.data}?default`
  await new Promise((resolve, reject) => {
    const sent = request(
      target,
      { method: 'PUT', headers: { 'content-type': 'application/n-triples' } },
      response => {
        response
          .resume()
          .once('end', () =>
            response.statusCode < 300 ? resolve() : reject(new Error(`${response.statusCode}`)),
          )
      },
    )
    sent.once('error', reject)
    createReadStream(file).pipe(sent)
  })
}

const LONGEST = 20_000
const agent = new Agent({ keepAlive: true })
/** Asks an engine; one that does not answer within 20 seconds counts as that long, with status 0. */
function ask(address, query) {
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const url = new URL(address)
    url.searchParams.set('query', PREFIXES + query)
    const sent = request(url, { agent, headers: { accept: 'application/sparql-results+json' } }, response => {
      const pieces = []
      response.on('data', piece => pieces.push(piece))
      response.once('end', () =>
        resolve({
          status: response.statusCode,
          text: Buffer.concat(pieces).toString(),
          milliseconds: performance.now() - begun,
        }),
      )
    })
    sent.setTimeout(LONGEST, () => {
      resolve({ status: 0, text: 'no answer', milliseconds: LONGEST })
      sent.destroy()
    })
    sent.once('error', reject)
    sent.end()
  })
}

const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-race-'))
const file = await dump(folder)
const server = spawn(
  process.execPath,
  [
    path.join(root, 'bin/lodestone.js'),
    'serve',
    '--portal',
    portal,
    '--port',
    '3977',
    '--base',
    'http://localhost:3000',
  ],
  { stdio: 'ignore' },
)
const asked = [
  { name: 'lodestone', query: 'http://127.0.0.1:3977/api/sparql', stop: async () => server.kill('SIGTERM') },
]
while (
  !(await fetch('http://127.0.0.1:3977/readyz').then(
    ({ ok }) => ok,
    () => false,
  ))
)
  await new Promise(next => setTimeout(next, 200))
let port = 3980
for (const name of names) {
  const begun = performance.now()
  const engine = await startEngine(name, {
    folder: path.join(folder, name),
    port,
    heap: '3g',
    buffers: 170_000,
  })
  port += 2
  await LOAD[name](engine, file)
  process.stdout.write(`${name}: loaded in ${((performance.now() - begun) / 1000).toFixed(0)} s\n`)
  asked.push(
    name === 'virtuoso'
      ? { ...engine, name, query: `${engine.query}?default-graph-uri=${encodeURIComponent(GRAPH)}` }
      : { ...engine, name },
  )
}
const width = 44
process.stdout.write(`${''.padEnd(width)}${asked.map(({ name }) => name.padStart(12)).join('')}   rows\n`)
const wins = { ahead: 0, twice: 0 }
for (const [at, [name, make]] of Object.entries(QUERIES).entries()) {
  if (values.only !== undefined && Number(values.only) !== at) continue
  const times = asked.map(() => [])
  const rows = []
  const late = new Set()
  for (let run = 0; run < RUNS + 3; run++)
    for (const [place, { query }] of asked.entries()) {
      if (late.has(place)) continue
      const { status, text, milliseconds } = await ask(query, make(run))
      if (run >= 3 || status === 0) times[place].push(milliseconds)
      if (status === 0) late.add(place)
      if (run === 3)
        rows[place] =
          status === 200 ? JSON.parse(text).results.bindings.length : `${status} ${text.slice(0, 80)}`
    }
  const medians = times.map(each => each.sort((a, b) => a - b)[each.length >> 1])
  const virtuoso = asked.findIndex(each => each.name === 'virtuoso')
  if (virtuoso > 0) {
    if (medians[0] <= medians[virtuoso]) wins.ahead += 1
    if (medians[0] <= 2 * medians[virtuoso]) wins.twice += 1
  }
  process.stdout.write(
    `${name.padEnd(width)}${medians.map(each => each.toFixed(1).padStart(12)).join('')}   ${new Set(rows).size === 1 ? rows[0] : rows.join(' / ')}\n`,
  )
}
process.stdout.write(`ahead of Virtuoso ${wins.ahead}, within twice of it ${wins.twice}\n`)
for (const each of asked) await each.stop()
agent.destroy()
rmSync(folder, { recursive: true, force: true })
process.exit(0)
