import type { MaybePromise } from './maybe-promise.ts'

/** How often a use of the same key or session is noted. */
const EVERY = 60_000

/** How soon after a use it is written, and how many are written in one transaction. */
const MAYBE = 15_000
const AT_ONCE = 1000

/** When keys or sessions were last used: noted in memory, written in batches, never on the way of a request. */
export interface LastUses {
  /** @param written what the database has, null where it was never used */
  note(id: number, written: number | null, now: number): void
  /** The last use that is known, also where it is not written yet. */
  latest(id: number, written: number | null): number | null
  /** Writes all that is noted. */
  flush(): Promise<void>
  /** No more timers. */
  stop(): void
}

/** @param write writes uses in one transaction; where it fails, they are stored and tried again */
export function createLastUses(
  write: (uses: readonly (readonly [id: number, moment: number])[]) => MaybePromise<void>,
): LastUses {
  const noted = new Map<number, number>()
  let timer: NodeJS.Timeout | undefined
  const latest = (id: number, written: number | null) => noted.get(id) ?? written
  const writeSome = async () => {
    const some = [...noted].slice(0, AT_ONCE)
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
        schedule(MAYBE)
      }
    }, delay).unref()
  }
  return {
    note: (id, written, now) => {
      const known = latest(id, written)
      if (known !== null && now - known < EVERY) return
      noted.set(id, now)
      schedule(MAYBE)
    },
    latest,
    flush: async () => {
      while (noted.size > 0) await writeSome()
    },
    stop: () => clearTimeout(timer),
  }
}
