import { spawn } from 'node:child_process'
import { Agent, get } from 'node:http'
import path from 'node:path'
import { BASE, type BenchPortal, root } from './support.ts'
import { percentile, type Row, under, whole } from './table.ts'

const CONNECTIONS = 4
const PATTERNS = 2000
const CITIES = '/api/tpf/cities'

interface Page {
  readonly milliseconds: number
  readonly body: string
}

/**
 * Fragments over HTTP: pages of random patterns that nobody asked before and the same again, and all pages of the cities
 * one after the other, as a client reads them that wants everything.
 */
export async function benchFragments({ folder }: BenchPortal): Promise<readonly Row[]> {
  const { port, stop } = await begin(folder)
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const page = (target: string) => ask(port, agent, target)
  try {
    const targets = patternsOf((await page(CITIES)).body + (await page(`${CITIES}?page=9`)).body)
    for (const target of targets.slice(0, 100)) await page(`${target}&warm=`)
    const cold = await rate(page, targets)
    const warm = await rate(page, targets)
    const crawl = await readAll(page)
    const [early, late] = [crawl.slice(0, 200), crawl.slice(-200)].map(part => percentile(part, 0.5))
    const seconds = crawl.reduce((sum, each) => sum + each, 0) / 1000
    const growth = (late ?? 0) / (early ?? 1)
    return [
      { what: 'fragments: random patterns, cold', value: `${whole(cold)} pages/s` },
      { what: 'fragments: the same again', value: `${whole(warm)} pages/s` },
      {
        what: 'fragments: all pages of the cities',
        value: `${crawl.length} pages in ${seconds.toFixed(1)} s`,
      },
      under('fragments: the last pages beside the first', growth, 2, 'times as long'),
    ]
  } finally {
    agent.destroy()
    await stop()
  }
}

/** Patterns of every shape but the emptiest, made of triples of some pages. */
function patternsOf(text: string): readonly string[] {
  const triples = text.split('\n').filter(line => line.startsWith(`<${BASE}/ld/resources/`))
  return Array.from({ length: PATTERNS }, (_, i) => {
    const line = triples[(i * 7919) % triples.length] ?? ''
    const [subject = '', predicate = ''] = line.split(' ', 2)
    const object = line.slice(subject.length + predicate.length + 2, -2)
    const [shape, parts] = [1 + (i % 7), { subject, predicate, object: object.replaceAll('\\"', '"') }]
    const requested = Object.entries(parts).filter((_, place) => (shape & (1 << place)) !== 0)
    return `${CITIES}?${requested.map(([name, term]) => `${name}=${encodeURIComponent(term)}`).join('&')}`
  })
}

/** Pages a second, on several connections. */
async function rate(page: (target: string) => Promise<Page>, targets: readonly string[]): Promise<number> {
  const begun = performance.now()
  const left = [...targets]
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let target = left.pop(); target !== undefined; target = left.pop()) await page(target)
    }),
  )
  return targets.length / ((performance.now() - begun) / 1000)
}

/** Milliseconds that each page of all triples took. */
async function readAll(page: (target: string) => Promise<Page>): Promise<readonly number[]> {
  const times: number[] = []
  for (let target: string | undefined = CITIES; target !== undefined; ) {
    const { milliseconds, body }: Page = await page(target)
    times.push(milliseconds)
    target = /core#next> <http:\/\/[^/]*([^>]*)>/.exec(body)?.[1]
  }
  return times
}

function ask(port: number, agent: Agent, target: string): Promise<Page> {
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    get({ port, agent, path: target, headers: { accept: 'application/n-quads' } }, response => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.once('end', () => {
        const body = Buffer.concat(pieces).toString()
        if (response.statusCode === 200) resolve({ milliseconds: performance.now() - begun, body })
        else reject(new Error(`${response.statusCode} for ${target}: ${body.slice(0, 300)}`))
      })
    }).once('error', reject)
  })
}

/** Starts a server that prints its port. */
function begin(folder: string): Promise<{ readonly port: number; readonly stop: () => Promise<unknown> }> {
  const args = [
    path.join(root, 'bin/lodestone.js'),
    'serve',
    '--portal',
    folder,
    '--port',
    '0',
    '--base',
    BASE,
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = new Promise(resolve => child.once('exit', resolve))
  const stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  return new Promise((resolve, reject) => {
    let printed = ''
    child.stdout.setEncoding('latin1').on('data', (text: string) => {
      printed += text
      const port = /\(port (\d+)\)/.exec(printed)?.[1]
      if (port !== undefined) resolve({ port: Number(port), stop })
    })
    child.once('exit', code => reject(new Error(`the server ended with ${code}: ${printed}`)))
  })
}
