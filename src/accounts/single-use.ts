import type { Database } from './database.ts'
import { change } from './database-script.ts'
import { hashOf } from './secrets.ts'

/** Values that are accepted once: assertions of identity providers, challenges. Shared with all processes of the accounts. */
export interface SingleUse {
  /**
   * Consumes a value until it expires; false if it was consumed before.
   *
   * @param what identifies it, with its kind; stored as a hash
   * @param expires milliseconds since 1970: the caller refuses it afterwards, so it may be deleted then
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
