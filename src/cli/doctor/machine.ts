import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { RELEASE } from '../../config/release.ts'
import { type DoctorFinding, ok, problem, warning } from './finding.ts'

/** The oldest supported version of Node. */
const OLDEST: readonly [number, number] = [20, 19]

/** Free bytes of a disk below which publishing may fail at any moment, and below which it soon will. */
const [LEAST_FREE, LOW] = [50e6, 1e9]

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
    const advice = 'give the user that runs lodestone the right to write there, or mount it writable'
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
  if (free < LEAST_FREE) return problem('disk', described, 'make room: nothing can be published or counted')
  if (free < LOW)
    return warning('disk', described, 'make room: a publication needs its version twice for a while')
  return ok('disk', described)
}

function clockFinding(folder: string, now: () => number): DoctorFinding {
  const file = path.join(folder, 'clock')
  const before = now()
  const handle = openSync(file, 'w')
  writeSync(handle, 'x')
  closeSync(handle)
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
