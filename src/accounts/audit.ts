import { userInfo } from 'node:os'
import { currentActor } from '../runtime/work-client.ts'
import type { Accounts, Audit, AuditEvent } from './accounts.ts'
import { change, type Database, query } from './database.ts'

interface Row extends Omit<AuditEvent, 'moment'> {
  readonly id: number
  readonly moment: number
}

/** Maximum characters of a stored name. */
const MAX_LENGTH = 300

/** Events of a batch. */
const PAGE = 1000

const insert = change('INSERT INTO audit (moment, actor, action, subject, address) VALUES (?, ?, ?, ?, ?)')
const after = query<Row>(
  `SELECT id, moment, actor, action, subject, address FROM audit WHERE id > ? AND moment >= ? ORDER BY id LIMIT ${PAGE}`,
)

/** The append-only log of actions on accounts and data: triggers of the database enforce this. */
export function createAudit(database: Database, now: () => number): Audit {
  return {
    note: async (action, subject, given) => {
      const actor = given ?? currentActor() ?? localActor()
      const texts = [actor.name, action, subject, actor.address].map(text => text.slice(0, MAX_LENGTH))
      await database.writeCounts(() => insert(now(), ...texts))
    },
    async *events(since) {
      for (let last = 0; ; ) {
        const rows = await database.read(() => after.all(last, since))
        for (const { id: _, moment, ...row } of rows) yield { moment: new Date(moment).toISOString(), ...row }
        const end = rows.at(-1)
        if (end === undefined) return
        last = end.id
      }
    },
  }
}

function localActor() {
  let name = ''
  try {
    name = userInfo().username
  } catch {
    // A container may run under a number that has no name.
  }
  return { name: `local:${name}`, address: 'local' }
}

/** Accounts whose changes are recorded in the audit log, once they succeeded. */
export function auditedAccounts(accounts: Accounts): Accounts {
  const { users, keys, sessions, clients, tokens, secondFactors, passkeys, audit } = accounts
  /** Notes work that was done, unless it says that nothing was changed: by null or false. */
  const noted = async <T>(
    work: Promise<T>,
    action: string,
    subject: string | (() => Promise<string>),
  ): Promise<T> => {
    const done = await work
    if (done !== null && done !== false)
      await audit.note(action, typeof subject === 'string' ? subject : await subject())
    return done
  }
  const nameOf = async (user: number) => (await users.byId(user))?.name ?? String(user)
  const consentOf = async (user: number, client: string) =>
    `${await nameOf(user)}: ${(await clients.find(client))?.name ?? client}`
  return {
    ...accounts,
    users: {
      ...users,
      add: (name, ...more) => noted(users.add(name, ...more), 'user added', name),
      setPassword: (name, ...more) => noted(users.setPassword(name, ...more), 'password changed', name),
      setQuota: (name, quota) => noted(users.setQuota(name, quota), 'quota changed', `${name}: ${quota}`),
      grant: (name, dataset) => noted(users.grant(name, dataset), 'granted', `${name}: ${dataset}`),
      revoke: (name, dataset) => noted(users.revoke(name, dataset), 'grant revoked', `${name}: ${dataset}`),
      remove: name => noted(users.remove(name), 'user removed', name),
    },
    keys: {
      ...keys,
      create: (user, label) => noted(keys.create(user, label), 'key created', `${user}: ${label}`),
      // The argument may be the key itself.
      revoke: (given, user) =>
        noted(keys.revoke(given, user), 'key revoked', `${user ?? ''}: ${given.slice(0, 8)}`),
    },
    sessions: {
      ...sessions,
      endOthers: (user, token) =>
        noted(sessions.endOthers(user, token), 'sessions ended', () => nameOf(user)),
      endAll: (name, id) => noted(sessions.endAll(name, id), 'sessions ended', name),
    },
    secondFactors: {
      ...secondFactors,
      confirm: (user, ...given) =>
        noted(secondFactors.confirm(user, ...given), 'second factor added', () => nameOf(user)),
      renewCodes: user => noted(secondFactors.renewCodes(user), 'recovery codes renewed', () => nameOf(user)),
      remove: name => noted(secondFactors.remove(name), 'second factor removed', name),
    },
    passkeys: {
      ...passkeys,
      add: (user, label, given) =>
        noted(
          passkeys.add(user, label, given),
          'passkey added',
          async () => `${await nameOf(user)}: ${label}`,
        ),
      remove: (user, id) =>
        noted(
          passkeys.remove(user, id),
          'passkey removed',
          async () => `${await nameOf(user)}: ${id ?? 'all'}`,
        ),
    },
    clients: {
      ...clients,
      register: given => noted(clients.register(given), 'application registered', given.name),
      remove: (given, owner) => noted(clients.remove(given, owner), 'application removed', given),
    },
    tokens: {
      ...tokens,
      issueCode: grant =>
        noted(tokens.issueCode(grant), 'application authorized', () => consentOf(grant.user, grant.client)),
      withdraw: (user, client) =>
        noted(tokens.withdraw(user, client), 'authorization withdrawn', () => consentOf(user, client)),
    },
  }
}
