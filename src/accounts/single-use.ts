import type { Database } from './database.ts'
import { change } from './database-script.ts'
import { hashOf } from './secrets.ts'

/** What is accepted once: assertions of identity providers, challenges. All who share the accounts know of it. */
export interface SingleUse {
  /**
   * Consumes something until it expires by itself; false where it was consumed before.
   *
   * @param what names it, with its kind; stored as a hash
   * @param expires milliseconds since 1970: the caller refuses it afterwards, so it may be forgotten then
   */
  consume(what: string, expires: number): Promise<boolean>
}

const insert = change('INSERT INTO single_use (hash, expires) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING')

export function createSingleUse(database: Database): SingleUse {
  return {
    consume: async (what, expires) =>
      (await database.writeCounts(() => insert(hashOf(what), Math.ceil(expires)))) > 0,
  }
}
