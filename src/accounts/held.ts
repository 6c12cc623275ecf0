import type { Database } from './database.ts'
import { type Soon, soonThen } from './soon.ts'
import type { Work } from './work.ts'

/** What credentials stand for that is held in memory, of those that are in use. */
const MOST_HELD = 20_000

/** What credentials stand for, by their hashes: looked up once, and held as long as nothing is written. */
export interface Held<T> {
  /** @param isGood false for what is held and has to be looked up again */
  find(hash: Buffer, isGood?: (held: T) => boolean): Soon<T | null>
}

export function createHeld<T>(database: Database, load: (hash: Buffer) => Work<T | null>): Held<T> {
  const held = new Map<string, T>()
  let generation = Number.NaN
  const look = (hash: Buffer, current: number, isGood: (held: T) => boolean): Soon<T | null> => {
    if (current !== generation || held.size >= MOST_HELD) held.clear()
    generation = current
    const name = hash.toString('latin1')
    const known = held.get(name)
    if (known !== undefined && isGood(known)) return known
    return soonThen(
      database.read(() => load(hash)),
      found => {
        if (!database.isCurrent(current)) return found
        if (found === null) held.delete(name)
        else held.set(name, found)
        return found
      },
    )
  }
  return {
    find: (hash, isGood = () => true) =>
      soonThen(database.generation(), current => look(hash, current, isGood)),
  }
}
