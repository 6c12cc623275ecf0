import { readdirSync, readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Lower priority of a thread with long work, in steps of `nice`. */
const BACKGROUND = 10

/** Lower priority of the threads on which the engine compiles. */
const ENGINE = 5

/**
 * The system id of the calling thread, for setting its priority. Null if the priority cannot be set, or not be restored; only
 * Linux has a priority for each thread.
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

/** Lowers the priority of a thread of this process, so that threads that answer requests run first, or restores it. */
export function standBack(thread: number | null, stands = true): void {
  if (thread === null) return
  try {
    setPriority(thread, stands ? BACKGROUND : 0)
  } catch {
    // The thread has ended.
  }
}

/**
 * Lowers the priority of all current threads of the process but the main thread, relative to it and to threads that start later:
 * the engine compiles on up to four of them in parallel, and a request would wait for both processors of a small machine
 * meanwhile. They also collect garbage, read files and hash passwords. It has no effect on systems other than Linux.
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
