import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { accessSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from './serving.ts'

/** A PostgreSQL of its own for a test, with its data in a temporary folder. */
export interface Postgres {
  readonly port: number
  /** Makes an empty database, and tells its address. */
  database(): Promise<string>
  /** Runs a statement as the superuser. */
  run(sql: string, database?: string): Promise<readonly Record<string, unknown>[]>
  /** Ends all processes at once, as a crash does. */
  kill(): Promise<void>
  /** Starts it again after that, on the same port. */
  start(): Promise<void>
  /** Halts all processes, which then answer nothing, or lets them go on. */
  freeze(isFrozen: boolean): void
  stop(): Promise<void>
}

const SUPERUSER = 'tester'

/** Where the programs of PostgreSQL are, and why not, where they are not found. */
const BINARIES = findBinaries()

/** For `t.test`: a reason to leave out what needs PostgreSQL, false where it is there. */
export const noPostgres: string | false =
  BINARIES === null ? 'PostgreSQL is not installed: no initdb in the PATH or /usr/lib/postgresql' : false

export async function startPostgres(): Promise<Postgres> {
  if (BINARIES === null) throw new Error('PostgreSQL is not installed')
  const binaries = BINARIES
  const folder = mkdtempSync(path.join(tmpdir(), 'postgres-'))
  const as = ordinaryUser()
  if (as !== null) chownSync(folder, as.uid, as.gid)
  const data = path.join(folder, 'data')
  execFileSync(path.join(binaries, 'initdb'), ['-D', data, '-A', 'trust', '-N', '-U', SUPERUSER], {
    ...as,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const port = await freePort()
  const settings = ['fsync=off', 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`]
  const args = ['-D', data, '-p', String(port), ...settings.flatMap(setting => ['-c', setting])]
  let child: ChildProcess | null = null
  const run = async (sql: string, database = 'postgres') => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: SUPERUSER, database })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return (await client.query(sql)).rows as Record<string, unknown>[]
    } finally {
      await client.end()
    }
  }
  const start = async () => {
    child = spawn(path.join(binaries, 'postgres'), args, { ...as, cwd: folder, stdio: 'ignore' })
    for (let attempt = 0; ; attempt++) {
      try {
        await run('SELECT 1')
        return
      } catch (error) {
        if (attempt > 300 || child.exitCode !== null) throw error
        await sleep(50)
      }
    }
  }
  const end = async (signal: NodeJS.Signals) => {
    const running = child
    child = null
    if (running === null || running.exitCode !== null) return
    const ended = new Promise(resolve => running.once('exit', resolve))
    signalAll(running, signal)
    await ended
  }
  const atExit = () => child?.kill('SIGQUIT')
  process.once('exit', atExit)
  await start()
  let made = 0
  return {
    port,
    database: async () => {
      const name = `portal${made++}`
      await run(`CREATE DATABASE ${name}`)
      return `postgres://${SUPERUSER}@127.0.0.1:${port}/${name}`
    },
    run,
    start,
    kill: async () => {
      await end('SIGKILL')
      rmSync(path.join(data, 'postmaster.pid'), { force: true })
    },
    freeze: isFrozen => {
      if (child === null) return
      signalAll(child, isFrozen ? 'SIGSTOP' : 'SIGCONT')
    },
    stop: async () => {
      process.removeListener('exit', atExit)
      await end('SIGQUIT')
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
    },
  }
}

/** To the server first, so that it starts no more of those that serve connections, then to them. */
function signalAll({ pid = 0 }: ChildProcess, signal: NodeJS.Signals): void {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  for (const each of [pid, ...(stdout ?? '').split(/\s+/).filter(Boolean).map(Number)])
    try {
      process.kill(each, signal)
    } catch {
      // It has ended by itself.
    }
}

function findBinaries(): string | null {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...(process.env.PATH ?? '').split(path.delimiter),
    ...versions.map(version => path.join(debian, version, 'bin')),
  ]
  const isThere = (folder: string) => {
    try {
      for (const name of ['initdb', 'postgres']) accessSync(path.join(folder, name))
      return true
    } catch {
      return false
    }
  }
  return folders.find(isThere) ?? null
}

/** PostgreSQL refuses to run as root. */
function ordinaryUser(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null
  for (const name of ['postgres', 'nobody']) {
    const { stdout, status } = spawnSync('id', ['-u', name], { encoding: 'utf8' })
    if (status !== 0) continue
    const gid = spawnSync('id', ['-g', name], { encoding: 'utf8' }).stdout
    return { uid: Number(stdout), gid: Number(gid) }
  }
  return null
}
