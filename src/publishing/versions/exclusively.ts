import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { threadId } from 'node:worker_threads'
import { isOfRunningProcess, PROCESS_NAME } from '../../runtime/processes.ts'

/** In the folder of a dataset while a process puts a version in force, or withdraws it: names that process. */
const LOCK = 'lock'

/** Milliseconds after which a lock is taken from whoever has it, and between two looks at it. */
const [MAX_AGE, PAUSE] = [5000, 5]

let taken = 0

/**
 * Does something, of some milliseconds, with the folder of a dataset while no other process does. A lock of a process that died is
 * taken over at once, and any other one that is older than five seconds.
 */
export function exclusively<T>(home: string, work: () => T): T {
  const lock = path.join(home, LOCK)
  const own = `${PROCESS_NAME} ${threadId} ${++taken}`
  const end = Date.now() + MAX_AGE
  while (!take(lock, own)) {
    const text = textOf(lock)
    if (text !== null && (isAbandoned(lock, text) || Date.now() > end)) remove(lock, text, own)
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE)
  }
  try {
    return work()
  } finally {
    if (textOf(lock) === own) rmSync(lock, { force: true })
  }
}

/** False if there is a lock. */
function take(lock: string, own: string): boolean {
  try {
    writeFileSync(lock, own, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    // It may be there without its text, as on a full disk.
    if (textOf(lock) === '') rmSync(lock, { force: true })
    throw error
  }
}

/** True for the lock of a process that died; one without a name is just being written. */
function isAbandoned(lock: string, text: string): boolean {
  const { mtimeMs } = statSync(lock, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
  return Math.abs(Date.now() - mtimeMs) > MAX_AGE || (text !== '' && !isOfRunningProcess(text, mtimeMs))
}

/** Removes a lock, unless it is another one by now. */
function remove(lock: string, text: string, own: string): void {
  // The name of the process lets the rest of a process that dies here be removed.
  const aside = `${lock}.${own.replaceAll(' ', '-')}.new`
  try {
    renameSync(lock, aside)
    if (textOf(aside) === text) rmSync(aside, { force: true })
    else renameSync(aside, lock)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** The text of a lock, null where there is none; empty for one that may not be read, as of another user. */
function textOf(lock: string): string | null {
  try {
    return readFileSync(lock, 'utf8')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : ''
  }
}
