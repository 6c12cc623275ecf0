import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'

export const root = path.resolve(import.meta.dirname, '../../..')

/**
 * A portal in a folder of its own, served by the built files. `fill` writes its files; it may call `place`, which makes
 * the folder of a dataset.
 */
export async function serveLodestone(fill, { port, ...settings } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-peers-'))
  writeFileSync(path.join(folder, 'portal.yaml'), JSON.stringify({ title: 'Judged', ...settings }))
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  fill(id => {
    const place = path.join(folder, 'data', id)
    mkdirSync(place, { recursive: true })
    return place
  })
  const chosen = port ?? (await freePort())
  const base = `http://localhost:${chosen}`
  const binary = path.join(root, 'bin/lodestone.js')
  const args = [binary, 'serve', '--portal', folder, '--port', String(chosen), '--base', base]
  const server = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore' })
  await ready(server, `${base}/readyz`)
  return { base, stop: () => stop(server, folder) }
}

/** The reference server with triples in memory, a data source for each file. */
export async function serveLdf(files, pageSize) {
  const port = await freePort()
  const base = `http://localhost:${port}`
  const script = path.join(import.meta.dirname, 'ldf.cjs')
  const named = Object.entries(files).map(([name, file]) => `${name}=${file}`)
  const args = ['--max-old-space-size=8192', script, String(port), String(pageSize), ...named]
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  await ready(server, `${base}/${Object.keys(files)[0]}?page=1&subject=urn:none`)
  return { base, stop: () => stop(server) }
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
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
}

/** A port that nobody listens on at the moment. */
export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => probe.once('listening', resolve))
  const { port } = probe.address()
  await new Promise(resolve => probe.close(resolve))
  return port
}
