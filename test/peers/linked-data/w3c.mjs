/**
 * `node w3c.mjs FOLDER [VIA…]`: the query tests of the W3C (SPARQL 1.1) with Comunica over the fragments of their data.
 * `FOLDER` holds folders with a `manifest.ttl` each; `VIA` are of `tpf-2 tpf-100 brtpf-2 brtpf-100 sparql memory`, the numbers being
 * triples on a page, and `memory` without any server, which tells what the engine itself answers otherwise. `TEST=name`
 * runs the tests whose name has it.
 */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { QueryEngine } from '@comunica/query-sparql'
import { Parser, Store } from 'n3'
import { difference, readAnswer, readExpected } from './results.mjs'
import { serveLodestone } from './servers.mjs'

const FOLDERS = [
  'aggregates',
  'bind',
  'bindings',
  'construct',
  'exists',
  'grouping',
  'negation',
  'project-expression',
  'property-path',
  'subquery',
]
const MANIFEST = 'http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#'
const QUERY = 'http://www.w3.org/2001/sw/DataAccess/tests/test-query#'
const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
const FORMATS = { '.ttl': 'turtle', '.rdf': 'rdfxml', '.nt': 'ntriples', '.trig': 'trig', '.nq': 'nquads' }
const SECONDS = 30

/** The evaluation tests of a manifest, in its order. */
function testsOf(folder) {
  const file = path.join(folder, 'manifest.ttl')
  const base = 'urn:manifest:/'
  const store = new Store(new Parser({ baseIRI: `${base}manifest.ttl` }).parse(readFileSync(file, 'utf8')))
  const one = (subject, predicate) => store.getObjects(subject, predicate, null)[0]
  const fileOf = term => (term === undefined ? undefined : path.join(folder, term.value.slice(base.length)))
  return entriesOf(store)
    .filter(test => store.has(test, `${RDF}type`, `${MANIFEST}QueryEvaluationTest`, null))
    .map(test => {
      const action = one(test, `${MANIFEST}action`)
      return {
        name: `${path.basename(folder)}/${test.value.replace(/.*[#/]/, '')}`,
        query: fileOf(one(action, `${QUERY}query`)),
        data: fileOf(one(action, `${QUERY}data`)),
        named: store.getObjects(action, `${QUERY}graphData`, null).map(fileOf),
        result: fileOf(one(test, `${MANIFEST}result`)),
      }
    })
}

function entriesOf(store) {
  const entries = []
  let [list] = store.getObjects(null, `${MANIFEST}entries`, null)
  while (list !== undefined && list.value !== `${RDF}nil`) {
    entries.push(...store.getObjects(list, `${RDF}first`, null))
    list = store.getObjects(list, `${RDF}rest`, null)[0]
  }
  return entries
}

const idOf = file =>
  `w3c-${path.basename(path.dirname(file))}-${path.basename(file)}`.toLowerCase().replace(/[^a-z0-9]+/g, '-')

/** Serves a dataset for each file of data. */
const serve = (files, size) =>
  serveLodestone(
    place => {
      for (const file of files) {
        const name = path.basename(file)
        const folder = place(idOf(file))
        copyFileSync(file, path.join(folder, name))
        const source = { source: { path: name }, format: FORMATS[path.extname(name)] }
        writeFileSync(path.join(folder, 'dataset.yaml'), JSON.stringify(source))
      }
    },
    { fragment_size: size },
  )

/** Sources of Comunica for a test. A test without data is asked of a dataset without triples. */
function sourceOf(via, base, file) {
  const id = idOf(file)
  switch (via) {
    case 'tpf':
      return `${base}/api/tpf/${id}`
    case 'brtpf':
      return { type: 'brtpf', value: `${base}/api/tpf/${id}` }
    case 'sparql':
      return { type: 'sparql', value: `${base}/api/sparql/${id}` }
    default: {
      const mediaType = file.endsWith('.rdf') ? 'application/rdf+xml' : 'text/turtle'
      const baseIRI = `${base}/ld/resources/${id}/`
      return { type: 'serialized', value: readFileSync(file, 'utf8'), mediaType, baseIRI }
    }
  }
}

async function judge(test, via, base) {
  const file = test.data ?? test.named[0]
  const baseIRI = `${base}/ld/resources/${idOf(file)}/`
  const query = readFileSync(test.query, 'utf8')
  const context = {
    sources: [sourceOf(via, base, file)],
    baseIRI,
    httpTimeout: SECONDS * 1000,
    unionDefaultGraph: via !== 'sparql',
  }
  const expected = await readExpected(test.result, baseIRI)
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${SECONDS} s`)), SECONDS * 1000)
  })
  try {
    const found = await Promise.race([readAnswer(new QueryEngine(), query, context), late])
    return difference(expected, found, `${base}/.well-known/genid/`)
  } catch (error) {
    return error.message.slice(0, 300)
  } finally {
    clearTimeout(timer)
  }
}

const [given, ...asked] = process.argv.slice(2)
if (given === undefined) {
  process.stderr.write('node w3c.mjs FOLDER [VIA…]\n')
  process.exit(2)
}
const tests = FOLDERS.flatMap(name => testsOf(path.join(given, name))).filter(
  ({ name }) => process.env.TEST === undefined || name.includes(process.env.TEST),
)
const empty = path.join(given, 'aggregates/empty.ttl')
for (const test of tests) if (test.data === undefined && test.named.length === 0) test.data = empty
const files = [...new Set(tests.flatMap(({ data, named }) => [data, ...named]))].filter(
  file => file !== undefined && existsSync(file),
)
const vias = asked.length > 0 ? asked : ['tpf-2', 'tpf-100', 'brtpf-2', 'brtpf-100', 'sparql']
let server = { size: undefined, base: 'http://localhost', stop: async () => {} }
for (const via of vias) {
  const [kind, size = '100'] = via.split('-')
  if (kind !== 'memory' && server.size !== size) {
    await server.stop()
    server = { size, ...(await serve(files, Number(size))) }
  }
  const begun = performance.now()
  let passed = 0
  for (const test of tests) {
    const failure = await judge(test, kind, server.base)
    if (failure === null) passed += 1
    else
      process.stdout.write(
        `${via} ${test.name}${test.named.length > 0 ? ' (named graphs)' : ''}: ${failure}\n`,
      )
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  process.stdout.write(`${via}: ${passed} of ${tests.length} in ${seconds} s\n`)
}
await server.stop()
process.exit(0)
