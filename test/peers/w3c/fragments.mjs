/**
 * Publishes the data of all tests, a dataset for each, and asks their fragments with Comunica: quad pattern fragments where
 * a test has named graphs, triple pattern fragments elsewhere.
 */
import { rmSync } from 'node:fs'
import { QueryEngine } from '@comunica/query-sparql'
import { Store } from 'n3'
import { buildApp } from '../../../src/app/app.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { readAnswer } from '../linked-data/results.mjs'
import { freePort } from '../linked-data/servers.mjs'
import { quads } from './data.mjs'
import { evaluations, publishTexts } from './portal.mjs'

const SECONDS = 30

/** Gives what answers a query about the graphs of a test. */
export async function openFragments(tests) {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const texts = evaluations(tests).map(({ graphs }) => nquads(graphs))
  const { portal, ids } = await publishTexts(texts, base)
  const app = await buildApp({ ...loadConfig({ portal, base, port }, {}), log: 'silent' })
  await app.catalog.refresh()
  app.markReady()
  await app.http.listen({ port, host: '127.0.0.1' })
  const sourceOf = graphs =>
    `${base}/api/${isPlain(graphs) ? 'tpf' : 'qpf'}/${ids.get(nquads(graphs)) ?? 'none'}`
  return {
    genid: `${base}/.well-known/genid/`,
    answer: test => answered(test, sourceOf(test.graphs)),
    close: async () => {
      await app.close()
      rmSync(portal, { recursive: true, force: true })
    },
  }
}

/** The same with the quads in memory: what Comunica itself answers otherwise. */
export async function openMemory() {
  return {
    genid: 'http://none.test/',
    answer: test => answered(test, new Store(quads(nquads(test.graphs)))),
    close: async () => {},
  }
}

/** True where a test has one graph alone. */
export const isPlain = graphs => graphs.size === 1

async function answered({ query, base }, source) {
  const engine = new QueryEngine()
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${SECONDS} s`)), SECONDS * 1000)
  })
  try {
    const context = { sources: [source], baseIRI: base, httpTimeout: SECONDS * 1000 }
    return await Promise.race([readAnswer(engine, query, context), late])
  } finally {
    clearTimeout(timer)
  }
}

function nquads(graphs) {
  let text = ''
  for (const [name, lines] of graphs)
    for (const line of lines) text += name === '' ? line : line.replace(/\.\n$/, `<${name}> .\n`)
  return text
}
