import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import type { Config } from '../config.ts'

/** How often a server says that it is there, and after how long it is taken for dead, in milliseconds. */
const EVERY = 5000
const SILENCE = 20_000

/** A server that runs on a portal folder. */
export interface RunningServer {
  readonly host: string
  readonly pid: number
  readonly port: number
  /** Public address, with which every IRI begins that it serves. */
  readonly base: string
}

/**
 * Says in the portal folder that a server runs on it, for commands that must not change it meanwhile; a folder that cannot
 * be written to is left as it is.
 *
 * @returns what takes the word back
 */
export function announceServer({ portal, port, base }: Pick<Config, 'portal' | 'port' | 'base'>): () => void {
  const host = hostname()
  const file = path.join(folderOf(portal), `${host.replace(/[^\w.-]/g, '_')}-${process.pid}.json`)
  const server: RunningServer = { host, pid: process.pid, port, base }
  try {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(server)}\n`)
  } catch {
    return () => undefined
  }
  const timer = setInterval(() => {
    try {
      const now = new Date()
      utimesSync(file, now, now)
    } catch {
      // Without the file the server serves all the same.
    }
  }, EVERY).unref()
  return () => {
    clearInterval(timer)
    rmSync(file, { force: true })
  }
}

/**
 * The servers that run on a portal folder, also on other hosts that share it. One that died without a word is told by its
 * process on this host, and by its silence on others.
 *
 * @param now milliseconds since 1970
 */
export function runningServers(portal: string, now: number): readonly RunningServer[] {
  const folder = folderOf(portal)
  let names: readonly string[]
  try {
    names = readdirSync(folder)
  } catch {
    return []
  }
  return names.flatMap(name => {
    try {
      const file = path.join(folder, name)
      const server = JSON.parse(readFileSync(file, 'utf8')) as RunningServer
      const isHeard = now - statSync(file).mtimeMs < SILENCE
      const isAlive = isHeard && (server.host !== hostname() || isProcess(server.pid))
      return isAlive ? [server] : []
    } catch {
      return []
    }
  })
}

function folderOf(portal: string): string {
  return path.join(portal, 'var', 'serving')
}

function isProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
