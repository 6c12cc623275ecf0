/** Publishes the data of all tests, a dataset for each, and asks their endpoints. */
import { rmSync } from 'node:fs'
import { buildApp } from '../../../src/app/app.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { parseQuery } from '../../../src/sparql/parse.ts'
import { evaluations, publishTexts } from './portal.mjs'

const BASE = 'http://portal.test'
/** What the default graph of a test that has named graphs is called. */
const DEFAULT = 'http://w3c.test/default'

const ACCEPTED = { json: 'application/sparql-results+json', csv: 'text/csv' }

/** Gives what answers a query about the graphs of a test. */
export async function openEndpoint(tests) {
  const syntax = '<urn:s> <urn:p> <urn:o> .\n'
  const texts = evaluations(tests).map(({ graphs }) => nquads(graphs))
  const { portal, ids } = await publishTexts([...texts, syntax], BASE)
  const app = await buildApp(loadConfig({ portal, base: BASE }, {}))
  await app.catalog.refresh()
  app.markReady()
  return {
    genid: `${BASE}/.well-known/genid/`,
    isSyntax: async ({ bytes }) => {
      const { statusCode } = await app.http.inject({
        method: 'POST',
        url: `/api/sparql/${ids.get(syntax)}`,
        headers: { 'content-type': 'application/sparql-query' },
        payload: bytes,
      })
      return statusCode !== 400
    },
    ask: async ({ query, base, graphs, format }) => {
      const isGraph = isGraphQuery(query, base)
      const id = ids.get(nquads(graphs))
      const accept = isGraph ? 'application/n-triples' : ACCEPTED[format]
      const { statusCode, body } = await app.http.inject({
        method: 'POST',
        url: `/api/sparql/${id}${datasetParameters(id, graphs, query, base)}`,
        headers: { accept, 'content-type': 'application/sparql-query' },
        payload: `BASE <${base}>\n${query}`,
      })
      if (statusCode !== 200) throw new Error(`${statusCode} ${body}`)
      return { text: body, isGraph }
    },
    close: async () => {
      await app.close()
      rmSync(portal, { recursive: true, force: true })
    },
  }
}

/**
 * The dataset of a test (SPARQL 1.1 Protocol, section 2.1.4): without it the default graph of an endpoint is the merge of all
 * that it serves, which is a named graph as well.
 */
function datasetParameters(id, graphs, query, base) {
  if (parseQuery(query, base).dataset !== null) return ''
  const named = [...graphs.keys()].filter(name => name !== '')
  const parameters = new URLSearchParams(named.map(name => ['named-graph-uri', name]))
  if (named.length === 0) parameters.append('default-graph-uri', `${BASE}/ld/resources/${id}`)
  else if (graphs.get('').size > 0) parameters.append('default-graph-uri', DEFAULT)
  return `?${parameters}`
}

function isGraphQuery(query, base) {
  const { type } = parseQuery(query, base).query
  return type === 'construct' || type === 'describe'
}

function nquads(graphs) {
  const unnamed = graphs.size > 1 ? DEFAULT : ''
  let text = ''
  for (const [name, lines] of graphs) {
    const graph = name === '' ? unnamed : name
    for (const line of lines) text += graph === '' ? line : line.replace(/\.\n$/, `<${graph}> .\n`)
  }
  return text
}
