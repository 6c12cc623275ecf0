/**
 * Publishes the data of all tests, a dataset for each, and asks their fragments with Comunica: quad pattern fragments where
 * a test has named graphs, triple pattern fragments elsewhere.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { QueryEngine } from '@comunica/query-sparql'
import { Store } from 'n3'
import { buildApp } from '../../../src/app/app.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { publishAll } from '../../../src/publishing/publisher.ts'
import { readAnswer } from '../linked-data/results.mjs'
import { quads } from './data.mjs'

const SECONDS = 30

/** Gives what answers a query about the graphs of a test. */
export async function openFragments(tests) {
  const portal = mkdtempSync(path.join(tmpdir(), 'lodestone-w3c-'))
  writeFileSync(path.join(portal, 'portal.yaml'), 'title: W3C\nfragment_size: 100\n')
  const ids = new Map()
  for (const { kind, graphs } of tests) {
    const text = nquads(graphs)
    if (kind !== 'evaluation' || ids.has(text)) continue
    const id = `w3c-${ids.size}`
    ids.set(text, id)
    const folder = path.join(portal, 'data', id)
    mkdirSync(folder, { recursive: true })
    writeFileSync(path.join(folder, 'data.nq'), text)
    writeFileSync(path.join(folder, 'dataset.yaml'), 'source: { path: data.nq }\n')
  }
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  await publishAll({ portal, base, now: () => new Date() }, null, message => {
    if (message.type === 'failed') process.stderr.write(`${JSON.stringify(message)}\n`)
  })
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

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}
