import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { CONFIG_INVALID } from '../config/faults.ts'
import { Fault } from '../errors/errors.ts'
import { isOfRunningProcess, isProcessRunning } from '../runtime/processes.ts'

/** Interval of a server's heartbeats, and the age of the last one after which it counts as dead, in milliseconds. */
const EVERY = 5000
const SILENCE = 20_000
/** The age after which the last one of a server elsewhere is removed: a container may stand still for a while. */
const DAY = 86_400_000

/** A server that runs on a portal folder. */
export interface RunningServer {
  readonly host: string
  readonly pid: number
  readonly port: number
  /** Public address, the prefix of every IRI that it serves. */
  readonly base: string
}

/**
 * Registers a server in the portal folder, for other servers and for commands that must not change it meanwhile. Servers with
 * the same address share a folder; one with another address would republish every dataset, and overwrite the first. A
 * read-only folder is left unchanged.
 *
 * Faults: ConfigInvalid if a server with another address runs on the folder.
 *
 * @returns a function that removes the entry
 */
export async function registerServer(config: Pick<Config, 'portal' | 'port' | 'base'>): Promise<() => void> {
  const { portal, port, base } = config
  const host = hostname()
  const file = path.join(folderOf(portal), `${host.replace(/[^\w.-]/g, '_')}-${process.pid}.json`)
  const server: RunningServer = { host, pid: process.pid, port, base }
  const unlock = await lock(portal)
  try {
    refuseOtherAddress(config, 'this server')
    removeDead(folderOf(portal))
    const data = namesIn(path.join(portal, 'data')).map(name => path.join('data', name))
    for (const folder of ['var', 'var/harvest', 'var/columns', 'mappings', ...data])
      removeUnfinished(path.join(portal, folder))
    writeEntry(file, server)
  } finally {
    unlock?.()
  }
  const timer = setInterval(() => {
    try {
      const now = new Date()
      if (statSync(file).size > 0) return utimesSync(file, now, now)
    } catch {
      // It is not there yet, or was removed.
    }
    writeEntry(file, server)
  }, EVERY).unref()
  const remove = () => {
    clearInterval(timer)
    process.removeListener('exit', remove)
    rmSync(file, { force: true })
  }
  process.once('exit', remove)
  return remove
}

/** Removes entries of servers that died: of this host those without a process, of others those that are silent for a day. */
function removeDead(folder: string): void {
  for (const name of namesIn(folder))
    try {
      const file = path.join(folder, name)
      const { host, pid } = JSON.parse(readFileSync(file, 'utf8')) as RunningServer
      const isSilent = Date.now() - statSync(file).mtimeMs > DAY
      if (isSilent || (host === hostname() && !isProcessRunning(pid))) rmSync(file, { force: true })
    } catch {
      // Another server may have removed it; nothing depends on the entry.
    }
}

/**
 * What processes write before they put it in place: accounts, counts, documents of catalogs, and columns of an engine in var/, changes
 * of dataset.yaml and mappings.
 */
const UNFINISHED = /\.[0-9a-f]{8}\.\d+\.\d+\.new$|-fetching-[0-9a-f]{8}\.\d+\.\d+(?:\.\w+)*$/

/** Removes what processes that died were writing in a folder. */
function removeUnfinished(folder: string): void {
  for (const name of namesIn(folder))
    try {
      const file = path.join(folder, name)
      if (UNFINISHED.test(name) && !isOfRunningProcess(name, statSync(file).mtimeMs))
        rmSync(file, { force: true })
    } catch {
      // It was put in place meanwhile, or the disk is read-only.
    }
}

/** Without its entry, on a read-only or full disk, the server serves all the same. */
function writeEntry(file: string, server: RunningServer): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(server)}\n`)
  } catch {
    // The next heartbeat tries again.
  }
}

/**
 * Refuses to work on a folder that a running server serves at another address. Faults: ConfigInvalid.
 *
 * @param who the server or command, for the message
 */
export function refuseOtherAddress({ portal, base }: Pick<Config, 'portal' | 'base'>, who: string): void {
  const other = runningServers(portal, Date.now()).find(
    server => server.base !== base && (server.pid !== process.pid || server.host !== hostname()),
  )
  if (other === undefined) return
  const reason =
    `${portal} is served at ${other.base}, by process ${other.pid} on ${other.host} (port ${other.port}), and ${who} has the ` +
    `address ${base}: each would publish over the other. Give this one --base ${other.base} or a folder of its own, or end the other first`
  throw new Fault(CONFIG_INVALID, { reason })
}

/** Milliseconds after which a lock counts as stale, and between two attempts to acquire it. */
const LOCK_LIFE = 5000
const LOCK_PAUSE = 20

/** Acquires the lock for registering a server; null if the folder is read-only or the disk full. */
async function lock(portal: string): Promise<(() => void) | null> {
  const file = path.join(portal, 'var', 'serving.lock')
  try {
    mkdirSync(path.dirname(file), { recursive: true })
  } catch {
    return null
  }
  for (;;) {
    try {
      writeFileSync(file, `${process.pid}\n`, { flag: 'wx' })
      return () => rmSync(file, { force: true })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // A full disk leaves an empty file.
      if (code === 'ENOSPC') rmSync(file, { force: true })
      if (code !== 'EEXIST') return null
      const modified = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
      // Or what a process left whose clock was ahead.
      if (Math.abs(Date.now() - modified) > LOCK_LIFE) rmSync(file, { force: true })
      else await sleep(LOCK_PAUSE)
    }
  }
}

/**
 * The servers that run on a portal folder, also on other hosts that share it. One that died without removing its entry is recognised by
 * its missing process on this host, and by missing heartbeats on others.
 *
 * @param now milliseconds since 1970
 */
export function runningServers(portal: string, now: number): readonly RunningServer[] {
  const folder = folderOf(portal)
  return namesIn(folder).flatMap(name => {
    try {
      const file = path.join(folder, name)
      const server = JSON.parse(readFileSync(file, 'utf8')) as RunningServer
      const isHeard = now - statSync(file).mtimeMs < SILENCE
      const isAlive = isHeard && (server.host !== hostname() || isProcessRunning(server.pid))
      return isAlive ? [server] : []
    } catch {
      return []
    }
  })
}

/** The names in a folder; none where it cannot be read. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function folderOf(portal: string): string {
  return path.join(portal, 'var', 'serving')
}
