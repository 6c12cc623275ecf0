import { closeSync, mkdtempSync, openSync, rmSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { runningServers } from '../../app/running.ts'
import type { Config } from '../../config/config.ts'
import { RELEASE } from '../../config/release.ts'
import { type DoctorFinding, ok, problem, warning } from './finding.ts'

/** The oldest supported version of Node. */
const OLDEST: readonly [number, number] = [20, 19]

/** Free bytes of a disk below which publishing may fail at any moment, and below which it soon will. */
const [LEAST_FREE, LOW] = [50e6, 1e9]

const ROOM = 'make room: nothing can be published or counted'

/** Maximum difference in seconds between the clocks of this machine and of its file system. */
const MAX_SKEW = 5

/** @param version as in `process.version` */
export function diagnoseNode(version: string): DoctorFinding {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  const described = `node ${version}, lodestone ${RELEASE}, ${availableParallelism()} processors`
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])
  return isOld
    ? problem('node', `${described}: too old`, `run it with Node ${OLDEST.join('.')} or newer`)
    : ok('node', described)
}

/** Checks whether var/ is writable, the free space, and whether its clock agrees with that of this process. */
export async function diagnoseDisk(portal: string, now: () => number): Promise<readonly DoctorFinding[]> {
  const folder = path.join(portal, 'var')
  const there = statSync(folder, { throwIfNoEntry: false })
  const tried = there === undefined ? portal : folder
  let written: string
  try {
    written = mkdtempSync(path.join(tried, '.doctor-'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const advice =
      code === 'ENOSPC'
        ? ROOM
        : 'give the user that runs lodestone the right to write there, or mount it writable'
    return [problem('var', `${tried} cannot be written to: ${code}`, advice)]
  }
  try {
    const { bavail, bsize } = await statfs(tried)
    return [ok('var', `${tried} can be written to`), roomFinding(bavail * bsize), clockFinding(written, now)]
  } finally {
    rmSync(written, { recursive: true, force: true })
  }
}

function roomFinding(free: number): DoctorFinding {
  const described = `${(free / 1e9).toFixed(1)} GB are free`
  if (free < LEAST_FREE) return problem('disk', described, ROOM)
  if (free < LOW)
    return warning('disk', described, 'make room: a publication needs its version twice for a while')
  return ok('disk', described)
}

function clockFinding(folder: string, now: () => number): DoctorFinding {
  const file = path.join(folder, 'clock')
  const before = now()
  // An empty file: the disk may be full.
  closeSync(openSync(file, 'w'))
  const skew = Math.abs(statSync(file).mtimeMs - before) / 1000
  const described = new Date(before).toISOString()
  if (skew > MAX_SKEW) {
    const advice = 'set both clocks by the same source: sessions, tokens and quotas depend on them'
    return warning('clock', `${described}; that of the files is ${skew.toFixed(0)} s off`, advice)
  }
  const year = new Date(before).getUTCFullYear()
  return year < 2025 || year > 2100
    ? problem(
        'clock',
        `it says ${described}`,
        'set the clock: tokens and sessions would be expired or for ever',
      )
    : ok('clock', described)
}

/** Checks whether the ports are free, or used by a server of this portal. */
export async function diagnosePorts(config: Config, now: number): Promise<readonly DoctorFinding[]> {
  const { host, port, adminHost, adminPort } = config
  const running = runningServers(config.portal, now)
  if (running.length > 0) {
    const described = running.map(server => `process ${server.pid} on ${server.host}, port ${server.port}`)
    return [ok('ports', `a server runs: ${described.join('; ')}`)]
  }
  const required: readonly (readonly [setting: string, host: string, port: number])[] = [
    ['port', host, port],
    ...(adminPort === undefined ? [] : [['admin_port', adminHost, adminPort] as const]),
  ]
  return Promise.all(
    required.map(async ([setting, address, number]) => {
      const code = await listenError(address, number)
      return code === null
        ? ok('ports', `${setting} ${address}:${number} is free`)
        : problem(
            'ports',
            `${setting} ${address}:${number} cannot be had: ${code}`,
            `choose another ${setting}, or end who has it`,
          )
    }),
  )
}

/** Checks whether the public address is usable by other machines, and whether the proxies in front of it are configured. */
export function diagnoseBase({
  base,
  proxies = 0,
}: Pick<Config, 'base' | 'proxies'>): readonly DoctorFinding[] {
  const { protocol, hostname } = new URL(base)
  const isLocal = /^(localhost|127\.|\[::1\])/.test(hostname)
  if (isLocal) {
    const described = `${base} is an address of this machine alone`
    return proxies > 0
      ? [warning('base', described, 'set base to the public address: every IRI and link begins with it')]
      : [ok('base', `${described}; set base before others use the portal`)]
  }
  if (protocol === 'http:') {
    const advice =
      'use https: passwords and keys would be sent in the clear, and cookies are not marked as secure'
    return [warning('base', `${base} is not encrypted`, advice)]
  }
  if (proxies === 0) {
    const described = `${base} needs a proxy for TLS, and proxies is 0`
    const advice = 'set proxies to the number of proxies in front: else all clients count as one address'
    return [warning('base', described, advice)]
  }
  return [ok('base', `${base}, behind ${proxies} ${proxies === 1 ? 'proxy' : 'proxies'}`)]
}

/** The error of listening; null if it is possible. */
function listenError(host: string, port: number): Promise<string | null> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', error => resolve((error as NodeJS.ErrnoException).code ?? error.message))
    server.listen({ host, port }, () => server.close(() => resolve(null)))
  })
}
