import type { MaybePromise } from './maybe-promise.ts'

/** Minimum interval between recorded uses of the same key or session. */
const EVERY = 60_000

/** Milliseconds until a use is written, and maximum uses of one transaction. */
const WRITE_DELAY = 15_000
const MAX_BATCH = 1000

/** When keys or sessions were last used: recorded in memory, written in batches, never while a request waits. */
export interface LastUses {
  /** @param written the time in the database, null if it was never used */
  note(id: number, written: number | null, now: number): void
  /** The last known use, even if it is not written yet. */
  latest(id: number, written: number | null): number | null
  /** Writes all recorded uses. */
  flush(): Promise<void>
  /** Stops the timer. */
  stop(): void
}

/** @param write writes uses in one transaction; if it fails, they are retained and retried */
export function createLastUses(
  write: (uses: readonly (readonly [id: number, moment: number])[]) => MaybePromise<void>,
): LastUses {
  const noted = new Map<number, number>()
  let timer: NodeJS.Timeout | undefined
  const latest = (id: number, written: number | null) => noted.get(id) ?? written
  const writeSome = async () => {
    const some = [...noted].slice(0, MAX_BATCH)
    await write(some)
    for (const [id, moment] of some) if (noted.get(id) === moment) noted.delete(id)
  }
  const schedule = (delay: number) => {
    timer ??= setTimeout(async () => {
      timer = undefined
      try {
        await writeSome()
        if (noted.size > 0) schedule(100)
      } catch {
        schedule(WRITE_DELAY)
      }
    }, delay).unref()
  }
  return {
    note: (id, written, now) => {
      const known = latest(id, written)
      if (known !== null && now - known < EVERY) return
      noted.set(id, now)
      schedule(WRITE_DELAY)
    },
    latest,
    flush: async () => {
      while (noted.size > 0) await writeSome()
    },
    stop: () => clearTimeout(timer),
  }
}
