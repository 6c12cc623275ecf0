import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../../..')
const cap = path.join(import.meta.dirname, 'cap')
const tool = name => path.join(import.meta.dirname, 'node_modules/@sap/cds/bin', name)

/** The demonstration portal in a folder of its own, served by the built files. */
export async function serveLodestone() {
  const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-peers-'))
  for (const name of ['portal.yaml', 'data'])
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  const port = await freePort()
  const base = `http://localhost:${port}`
  const args = [
    path.join(root, 'bin/lodestone.js'),
    'serve',
    '--portal',
    folder,
    '--port',
    String(port),
    '--base',
    base,
  ]
  const server = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore' })
  await ready(server, `${base}/readyz`)
  return { base, stop: () => stop(server, folder) }
}

/** SAP CAP on SQLite with the rows of `cities`, deployed as it deploys by itself. */
export async function serveCap(rows) {
  const { default: Database } = await import('better-sqlite3')
  const folder = mkdtempSync(path.join(tmpdir(), 'cap-peers-'))
  mkdirSync(folder, { recursive: true })
  const file = path.join(folder, 'cities.sqlite')
  const port = await freePort()
  const env = { ...process.env, CDS_REQUIRES_DB_CREDENTIALS_URL: file, NODE_ENV: 'production' }
  const deploy = spawn(process.execPath, [tool('deploy.js')], { cwd: cap, env, stdio: 'ignore' })
  await new Promise(resolve => deploy.once('exit', resolve))
  const database = new Database(file)
  const columns = database.pragma('table_info(Portal_cities)').map(({ name }) => name)
  const insert = database.prepare(
    `insert into Portal_cities (${columns.join(',')}) values (${columns.map(() => '?').join(',')})`,
  )
  database.transaction(() => {
    for (const row of rows) insert.run(columns.map(name => row[name]))
  })()
  database.exec('analyze')
  database.close()
  const server = spawn(process.execPath, [tool('serve.js'), '--port', String(port)], {
    cwd: cap,
    env,
    stdio: 'ignore',
  })
  const base = `http://localhost:${port}/odata/v4/portal`
  await ready(server, `${base}/$metadata`)
  return { base, stop: () => stop(server, folder) }
}

async function ready(server, address) {
  for (;;) {
    const answered = await fetch(address).then(
      response => response.ok,
      () => false,
    )
    if (answered) return
    if (server.exitCode !== null) throw new Error(`a server ended with ${server.exitCode}`)
    await new Promise(resolve => setTimeout(resolve, 200))
  }
}

async function stop(server, folder) {
  const ended = new Promise(resolve => server.once('exit', resolve))
  server.kill('SIGTERM')
  await ended
  rmSync(folder, { recursive: true, force: true })
}

function freePort() {
  return new Promise(resolve => {
    const server = createServer().listen(0, () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
