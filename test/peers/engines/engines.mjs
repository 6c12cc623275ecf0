import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ENGINES, findEngine, whyMissing } from './places.mjs'
import { virtuosoIni } from './virtuoso-ini.mjs'

/**
 * Starts SPARQL engines that others wrote, each with its data in a folder of its own, for tests and measurements.
 * `node engines.mjs start NAME --folder DIR --port N` starts one until SIGTERM or SIGINT.
 */

/** Rights that reading, updates and the graph store ask for; a data base that was there before has them already. */
async function giveVirtuosoRights(sqlPort) {
  await runSql(sqlPort, 'GRANT SPARQL_UPDATE TO "SPARQL";').catch(error => {
    if (!error.message.includes('already have role')) throw error
  })
  await runSql(sqlPort, "DB.DBA.RDF_DEFAULT_USER_PERMS_SET ('nobody', 7);")
}

/** How each engine is started, when it is ready, and where it listens. */
const KINDS = {
  oxigraph: ({ program, folder, port }) => ({
    command: [program, 'serve', '--location', folder, '--bind', `127.0.0.1:${port}`],
    addresses: { query: '/query', update: '/update', data: '/store' },
  }),
  fuseki: ({ program, folder, port, heap = '1g' }) => ({
    command: [
      'java',
      `-Xmx${heap}`,
      '-jar',
      program,
      '--localhost',
      '--quiet',
      `--port=${port}`,
      '--tdb2',
      `--loc=${folder}`,
      '--update',
      '/ds',
    ],
    addresses: { query: '/ds/query', update: '/ds/update', data: '/ds/data' },
  }),
  rdf4j: ({ program, folder, port, heap = '1g' }) => ({
    command: [
      'java',
      `-Xmx${heap}`,
      '-cp',
      join(program, '*'),
      join(import.meta.dirname, 'rdf4j/Rdf4jServer.java'),
      String(port),
      folder,
    ],
    addresses: {
      query: '/rdf4j-server/repositories/portal',
      update: '/rdf4j-server/repositories/portal/statements',
      data: '/rdf4j-server/repositories/portal/rdf-graphs/service',
    },
  }),
  virtuoso: ({ program, folder, port, sqlPort = port + 1, buffers = 10_000 }) => {
    writeFileSync(join(folder, 'virtuoso.ini'), virtuosoIni({ port, sqlPort, buffers }))
    return {
      command: [program, '-f', '-c', 'virtuoso.ini'],
      addresses: { query: '/sparql', update: '/sparql', data: '/sparql-graph-crud' },
      sqlPort,
      prepare: () => giveVirtuosoRights(sqlPort),
    }
  },
}

/**
 * Starts an engine and resolves when it answers.
 *
 * @param name one of ENGINES
 * @param options folder of its data; port; for virtuoso sqlPort (by default the next) and buffers (pages of 8 KiB), for
 *   fuseki and rdf4j heap (of Java, `1g` by default); seconds to wait for it (120)
 * @returns name, query, update and data (addresses), pid, sqlPort (virtuoso), `stop()` (SIGTERM) and `kill()` (SIGKILL), both
 *   of which resolve when the process has ended
 * @throws an Error that says why it is not installed, or what it wrote when it ended
 */
export async function startEngine(name, { folder, port, seconds = 120, ...options }) {
  const reason = whyMissing(name)
  if (reason !== null) throw new Error(reason)
  mkdirSync(folder, { recursive: true })
  const kind = KINDS[name]({ program: findEngine(name), folder, port, ...options })
  const [program, ...rest] = kind.command
  const child = spawn(program, rest, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const ended = once(child, 'close')
  const told = tail(child, join(folder, 'engine.log'))
  const base = `http://127.0.0.1:${port}`
  const addresses = Object.fromEntries(
    Object.entries(kind.addresses).map(([what, path]) => [what, base + path]),
  )
  const end = signal => async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await ended
  }
  const engine = {
    name,
    ...addresses,
    pid: child.pid,
    ...(kind.sqlPort === undefined ? {} : { sqlPort: kind.sqlPort }),
    stop: end('SIGTERM'),
    kill: end('SIGKILL'),
  }
  try {
    await untilReady(child, `${engine.query}?query=ASK%7B%7D`, seconds, told)
    await kind.prepare?.()
  } catch (error) {
    await engine.kill()
    throw error
  }
  return engine
}

/** Keeps the last lines that a process wrote, and all of them in a file. */
function tail(child, path) {
  const log = createWriteStream(path)
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', piece => {
      text = (text + piece).slice(-2000)
      log.write(piece)
    })
  child.once('close', () => log.end())
  return () => text
}

async function untilReady(child, url, seconds, told) {
  const until = Date.now() + seconds * 1000
  while (Date.now() < until) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${child.spawnfile} ended with ${child.exitCode ?? child.signalCode}: ${told()}`)
    const answer = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => null)
    await answer?.body?.cancel()
    if (answer?.ok) return
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`${child.spawnfile} does not answer within ${seconds} seconds: ${told()}`)
}

/**
 * Runs statements of SQL in a Virtuoso, one after the other, and gives what isql wrote.
 *
 * @throws an Error with the message of the first statement that failed
 */
export async function runSql(sqlPort, statements, password = 'dba') {
  const child = spawn('isql-vt', [`127.0.0.1:${sqlPort}`, 'dba', password, 'ERRORS=STDOUT'])
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', piece => {
      text += piece
    })
  child.stdin.end(statements)
  await once(child, 'close')
  const error = /^\*\*\* Error.*(?:\n.+)*/m.exec(text)
  if (error !== null) throw new Error(`Virtuoso refuses: ${error[0]}`)
  return text
}

async function main() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      folder: { type: 'string' },
      port: { type: 'string' },
      buffers: { type: 'string' },
      heap: { type: 'string' },
    },
  })
  const [verb, name] = positionals
  if (verb !== 'start' || name === undefined || values.folder === undefined || values.port === undefined) {
    console.error(
      `node engines.mjs start ${ENGINES.join('|')} --folder DIR --port N [--buffers PAGES] [--heap 1g]`,
    )
    process.exitCode = 2
    return
  }
  const { folder, port, buffers, heap } = values
  const engine = await startEngine(name, {
    folder,
    port: Number(port),
    ...(buffers === undefined ? {} : { buffers: Number(buffers) }),
    ...(heap === undefined ? {} : { heap }),
  })
  const { query, update, data, pid, sqlPort } = engine
  console.log(JSON.stringify({ name, query, update, data, pid, sqlPort }))
  const wait = setInterval(() => {}, 1 << 30)
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.once(signal, async () => {
      await engine.stop()
      clearInterval(wait)
    })
}

if (process.argv[1] === import.meta.filename)
  await main().catch(error => {
    console.error(error.message)
    process.exitCode = 1
  })
