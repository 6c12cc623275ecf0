import { setTimeout as sleep } from 'node:timers/promises'
import type { Accounts } from '../../src/accounts/accounts.ts'
import { openAccounts, openSharedAccounts } from '../../src/accounts/open.ts'
import type { Authenticated } from '../../src/model/principal.ts'

/** What accounts can be kept in. */
export type Kind = 'a file' | 'PostgreSQL'

/** Where a test that runs for either keeps its accounts, instead of a file: the address of an empty database. */
export const GIVEN_PLACE = process.env.TEST_ACCOUNTS

/**
 * Opens accounts in a file, or in a database by its address. Hashing a password costs little, but for a database: tests change
 * users meanwhile.
 */
export async function openAny(place: string, { now }: { readonly now: () => number }): Promise<Accounts> {
  return place.startsWith('postgres:')
    ? openSharedAccounts({ url: place }, { now })
    : openAccounts(place, { now, passwordPower: 4 })
}

/** Milliseconds after which every other process was told what one wrote to PostgreSQL; it is told within 1 or 2. */
const HEARD = 40

/** Accounts of another process: what was just written elsewhere is known there a moment later. */
export function elsewhere(accounts: Accounts, kind: Kind): Accounts {
  if (kind === 'a file') return accounts
  const later =
    (principal: Accounts['keys']['principal']) =>
    async (secret: string): Promise<Authenticated | null> => {
      await sleep(HEARD)
      return principal(secret)
    }
  const { keys, sessions, tokens } = accounts
  return {
    ...accounts,
    keys: { ...keys, principal: later(keys.principal) },
    sessions: { ...sessions, principal: later(sessions.principal) },
    tokens: { ...tokens, principal: later(tokens.principal) },
  }
}
