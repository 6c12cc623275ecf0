import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** How far a thread that does long work stands back from those that answer, in steps of `nice`. */
const BACKGROUND = 10

/**
 * Lets this thread stand back while it does long work, so that those that answer others have the processors first.
 * Where the system cannot give a thread a priority of its own, or not take it back again, nothing happens.
 */
export class ThreadPriority {
  private readonly thread = threadId()
  private depth = 0

  /** May be entered while it is in force. */
  standBack(): void {
    this.depth += 1
    if (this.depth === 1 && this.thread !== null) setPriority(this.thread, BACKGROUND)
  }

  comeBack(): void {
    this.depth -= 1
    if (this.depth === 0 && this.thread !== null) setPriority(this.thread, 0)
  }
}

/** The number of this thread, where its priority can be set; Linux alone has one for each thread. */
function threadId(): number | null {
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
