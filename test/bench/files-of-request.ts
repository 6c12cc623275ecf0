/**
 * The source files that a request and a publication pass: those in which a function ran, other than the body of the module, by room.
 * `npm run --silent build && node --import=tsx test/bench/files-of-request.ts [--functions]`. A file counts once, whichever thread it ran in.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector/promises'
import { SourceMap } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { buildApp } from '../../src/app/app.ts'
import { loadConfig } from '../../src/config/load.ts'
import { publishAll } from '../../src/publishing/publish-all.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const [SOURCES, BUILT] = [path.join(ROOT, 'src/'), path.join(ROOT, 'dist/')]
const BASE = 'http://portal.example'
/** The number of files that each may pass. */
const BARS = { request: 35, publication: 30 }

/** Milliseconds in which a start is followed by all that it is followed by. */
const SETTLING = 5000

type Post = (method: string, parameters?: object) => Promise<unknown>

/** Coverage of this thread and of those that it started. */
class Coverage {
  private readonly session = new Session()
  private readonly threads = new Map<string, Post>()
  private readonly waiting = new Map<number, (result: unknown) => void>()
  private sent = 0

  async begin(): Promise<void> {
    this.session.connect()
    this.session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => {
      const post = this.threadPost(sessionId)
      this.threads.set(sessionId, post)
      begin(post)
    })
    this.session.on('NodeWorker.detachedFromWorker', ({ params: { sessionId } }) =>
      this.threads.delete(sessionId),
    )
    this.session.on('NodeWorker.receivedMessageFromWorker', ({ params: { message } }) => {
      const { id, result } = JSON.parse(message) as { id?: number; result?: unknown }
      if (id !== undefined) this.waiting.get(id)?.(result)
    })
    await this.session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
    await begin(this.ownPost)
  }

  /** The files in which a function ran since the last time that this was asked, with the names of those. */
  async take(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const files = new Map<string, Set<string>>()
    // The threads let the process end while they do nothing.
    const alive = setInterval(() => undefined, 1000)
    for (const post of [this.ownPost, ...this.threads.values()]) {
      const { result } = (await post(
        'Profiler.takePreciseCoverage',
      )) as Profiler.TakePreciseCoverageReturnType
      for (const [file, name] of result.flatMap(ranIn))
        files.set(file, (files.get(file) ?? new Set()).add(name))
    }
    clearInterval(alive)
    return files
  }

  end(): void {
    this.session.disconnect()
  }

  private readonly ownPost: Post = (method, parameters) =>
    (this.session.post as (method: string, parameters?: object) => Promise<unknown>)(method, parameters)

  private threadPost(sessionId: string): Post {
    return (method, params = {}) => {
      const id = ++this.sent
      const answered = new Promise(resolve => this.waiting.set(id, resolve))
      const message = JSON.stringify({ id, method, params })
      return this.session.post('NodeWorker.sendMessageToWorker', { sessionId, message }).then(() => answered)
    }
  }
}

async function begin(post: Post): Promise<void> {
  await post('Profiler.enable')
  await post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
}

/** The functions of a script that ran, with their files below src; a built script is a bundle of many. */
function ranIn({
  url,
  functions,
}: Profiler.ScriptCoverage): readonly (readonly [file: string, name: string])[] {
  if (!url.startsWith('file://') || url.includes('/node_modules/')) return []
  const script = fileURLToPath(url.replace(/\?.*$/, ''))
  return functions.flatMap(({ functionName, ranges: [range] }) => {
    if (range === undefined || range.count === 0 || range.startOffset === 0) return []
    // Of the compiler of TypeScript.
    if (functionName === '__name') return []
    const source = script.startsWith(BUILT) ? originOf(script, range.startOffset) : script
    return source.startsWith(SOURCES) ? [[source.slice(SOURCES.length), functionName]] : []
  })
}

/** The source file of a place of a built file. */
function originOf(script: string, offset: number): string {
  const { lines, map } = builtFile(script)
  const line = lines.findLastIndex(start => start <= offset)
  const entry = map.findEntry(line, offset - (lines[line] ?? 0))
  return 'originalSource' in entry ? path.resolve(path.dirname(script), entry.originalSource) : ''
}

const built = new Map<string, { readonly lines: readonly number[]; readonly map: SourceMap }>()

/** Where the lines of a built file begin, and its source map. */
function builtFile(file: string) {
  const known = built.get(file)
  if (known !== undefined) return known
  const text = readFileSync(file, 'utf8')
  const lines = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  const made = { lines, map: new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8'))) }
  built.set(file, made)
  return made
}

function print(what: string, files: ReadonlyMap<string, ReadonlySet<string>>, bar: number): void {
  console.log(`${what}: ${files.size} files (at most ${bar})`)
  const all = [...files.keys()].sort()
  for (const room of new Set(all.map(file => path.dirname(file)))) {
    const inRoom = all.filter(file => path.dirname(file) === room)
    console.log(`  ${room} (${inRoom.length}): ${inRoom.map(file => path.basename(file, '.ts')).join(', ')}`)
    if (process.argv.includes('--functions'))
      for (const file of inRoom)
        console.log(`    ${path.basename(file)}: ${[...(files.get(file) ?? [])].join(', ')}`)
  }
}

const portal = mkdtempSync(path.join(tmpdir(), 'lodestone-files-'))
const folder = path.join(portal, 'data/towns')
mkdirSync(folder, { recursive: true })
writeFileSync(path.join(portal, 'portal.yaml'), 'title: Files\n')
writeFileSync(
  path.join(folder, 'dataset.yaml'),
  'source: { path: towns.csv }\nfields: [{ name: name }, { name: people, type: int }]\nid: [name]\n',
)
const write = (rows: string) => writeFileSync(path.join(folder, 'towns.csv'), `name,people\n${rows}`)
const publish = () =>
  publishAll({ portal, base: BASE, now: () => new Date() }, null, message => {
    if (message.type === 'failed') throw new Error(message.reason)
  })
const coverage = new Coverage()
await coverage.begin()
write('Nice,5\n')
await publish()
write('Lyon,7\n')
await coverage.take()
await publish()
print('a record from file to version', await coverage.take(), BARS.publication)

const app = await buildApp({ ...loadConfig({ portal, base: BASE }, {}), workers: 1, log: 'silent' })
await app.catalog.refresh()
app.markReady()
const request = async (where: string) => {
  const url = '/api/explore/v2.1/catalog/datasets/towns/records'
  const { statusCode, body } = await app.http.inject({ url, query: { where } })
  if (statusCode !== 200) throw new Error(body)
}
for (const number of [1, 2]) await request(`people > ${number}`)
// What follows a start, such as gathering statistics, is no part of a request.
await wait(SETTLING)
await coverage.take()
await request('people > 3')
print('a request with where', await coverage.take(), BARS.request)
coverage.end()
await app.close()
rmSync(portal, { recursive: true })
