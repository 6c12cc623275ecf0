import { readdirSync, readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** How far a thread that does long work stands back from those that answer, in steps of `nice`. */
const BACKGROUND = 10

/** The same of the threads on which the engine compiles. */
const ENGINE = 5

/**
 * The number by which the system knows the calling thread, for setting its priority. Null where it cannot be set, or not be
 * taken back; Linux alone has a priority for each thread.
 */
export function prioritisedThread(): number | null {
  try {
    const thread = Number(/\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1])
    if (!Number.isSafeInteger(thread)) return null
    setPriority(thread, 1)
    setPriority(thread, 0)
    return thread
  } catch {
    return null
  }
}

/** Has a thread of this process stand back for those that answer others, which then have the processors first, or come back. */
export function standBack(thread: number | null, stands = true): void {
  if (thread === null) return
  try {
    setPriority(thread, stands ? BACKGROUND : 0)
  } catch {
    // The thread has ended.
  }
}

/**
 * Has the threads that the process has so far stand back for its first one, and for those that begin later: the engine compiles
 * on as many as four of them at a time, and a request waits for both processors of a small machine meanwhile. They also
 * collect garbage, read files and hash passwords. On other systems than Linux they do not.
 */
export function standBackEngineThreads(): void {
  for (const thread of threadsOfProcess())
    if (thread !== process.pid)
      try {
        setPriority(thread, ENGINE)
      } catch {
        // The thread has ended.
      }
}

function threadsOfProcess(): readonly number[] {
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    return []
  }
}
