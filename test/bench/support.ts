import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '../support/serving.ts'

export const root = path.resolve(import.meta.dirname, '../..')

/** A copy of the demonstration portal in a temporary folder. */
export interface BenchPortal {
  readonly folder: string
  readonly remove: () => void
}

export async function demonstration(): Promise<BenchPortal> {
  const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-bench-'))
  cpSync(path.join(root, 'portal.yaml'), path.join(folder, 'portal.yaml'))
  cpSync(path.join(root, 'data'), path.join(folder, 'data'), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** What one run of the server took until it was ready. */
export interface ServedRun {
  readonly seconds: number
  /** Megabytes at the peak; null where the system does not tell. */
  readonly peak: number | null
}

/** Serves a portal until it is ready, with a few calls after, and stops it. */
export async function serveOnce(folder: string): Promise<ServedRun> {
  const port = await freePort()
  const args = [path.join(root, 'bin/lodestone.js'), 'serve', '--portal', folder, '--port', String(port)]
  const begun = performance.now()
  const server = spawn(process.execPath, [...args, '--base', BASE], { stdio: 'ignore' })
  try {
    for (;;) {
      const ready = await fetch(`http://localhost:${port}/readyz`).then(
        answer => answer.ok,
        () => false,
      )
      if (ready) break
      if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`)
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    const seconds = (performance.now() - begun) / 1000
    const records = `http://localhost:${port}/api/explore/v2.0/catalog/datasets/cities/records`
    await (await fetch(`${records}?order_by=population%20desc`)).text()
    return { seconds, peak: peakMemory(server.pid) }
  } finally {
    const ended = new Promise(resolve => server.once('exit', resolve))
    server.kill('SIGTERM')
    await ended
  }
}

/** The public address of the portal while it is measured: the same for all runs, so that nothing is published anew. */
export const BASE = 'http://bench.example'

function peakMemory(pid: number | undefined): number | null {
  const file = `/proc/${pid}/status`
  if (pid === undefined || !existsSync(file)) return null
  const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(file, 'utf8'))?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) / 1000
}
