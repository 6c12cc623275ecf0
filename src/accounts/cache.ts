import { LRUCache } from 'lru-cache'
import type { Authenticated } from '../model/principal.ts'
import { type Database, type DatabaseScript, type MaybePromise, thenMaybe } from './database.ts'
import { hashOfGiven } from './secrets.ts'

/** Maximum number of cached credentials. */
const MAX_CACHED = 20_000

/** Cache of principals by the hashes of their credentials, valid until something is written. */
export interface CachedEntry<T> {
  /** What a credential stands for; null for an unknown one. @param isGood false for a cached entry that has to be looked up again */
  find(credential: string, isGood?: (cached: T) => boolean): MaybePromise<T | null>
}

export function createCache<T extends object>(
  database: Database,
  load: (hash: Buffer) => DatabaseScript<T | null>,
): CachedEntry<T> {
  const cached = new LRUCache<string, T>({ max: MAX_CACHED })
  let generation = Number.NaN
  const look = (hash: Buffer, current: number, isGood: (cached: T) => boolean): MaybePromise<T | null> => {
    if (current !== generation) cached.clear()
    generation = current
    const name = hash.toString('latin1')
    const known = cached.get(name)
    if (known !== undefined && isGood(known)) return known
    return thenMaybe(
      database.read(() => load(hash)),
      found => {
        if (!database.isCurrent(current)) return found
        if (found === null) cached.delete(name)
        else cached.set(name, found)
        return found
      },
    )
  }
  return {
    find: (credential, isGood = () => true) => {
      const hash = hashOfGiven(credential)
      return hash === null ? null : thenMaybe(database.generation(), current => look(hash, current, isGood))
    },
  }
}

/** Columns of a user, with which one statement returns the principal of a credential with its grants. */
export interface PrincipalRow {
  readonly user: number
  readonly name: string
  readonly quota: number | null
  /** JSON array. */
  readonly grants: string
  /** 0 or 1. */
  readonly hasPassword: number
}

/** The columns of PrincipalRow, for statements that join the table `account`. */
export const PRINCIPAL_COLUMNS = `account.id AS user, account.name, account.quota,
  CASE WHEN password = '' THEN 0 ELSE 1 END AS "hasPassword",
  (SELECT json_group_array(dataset) FROM user_grant WHERE user_grant.account = account.id) AS grants`

export function principalOf(row: PrincipalRow, by: Authenticated['by']): Authenticated {
  const { user: id, name, quota } = row
  const grants = new Set(JSON.parse(row.grants) as readonly string[])
  return {
    type: 'user',
    id,
    name,
    grants,
    quota,
    by,
    ...(row.hasPassword === 1 ? {} : { hasNoPassword: true }),
  }
}
