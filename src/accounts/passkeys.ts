import { createHmac } from 'node:crypto'
import { change, type Database, query } from './database.ts'
import { checkLabel, invalidName, unknownName } from './names.ts'

/** Maximum passkeys of a user. */
const MAX_PASSKEYS = 20

/** A passkey in lists; times are ISO 8601 in UTC. */
export interface Passkey {
  readonly id: number
  readonly label: string
  readonly created: string
  /** Null if it was never used. */
  readonly lastUse: string | null
}

/** What is needed to check a signature of a passkey. */
export interface PasskeyCredential {
  readonly id: number
  readonly user: number
  /** The credential id, in base64url. */
  readonly credential: string
  /** A COSE key. */
  readonly publicKey: Uint8Array
  /** Signature counter, if its authenticator has one; 0 otherwise. */
  readonly counter: number
  readonly transports: readonly string[]
}

/** Passkeys of local users (Web Authentication, Level 3): public keys, so nothing is secret. Users are given by their ids. */
export interface Passkeys {
  /** The user handle for authenticators: it reveals nothing about the user (section 14.6.1). Base64url. */
  handle(user: number): string
  list(user: number): Promise<readonly Passkey[]>
  credentials(user: number): Promise<readonly PasskeyCredential[]>
  /** Faults: AccountInvalid for an invalid label, one passkey too many, and a credential that is registered already. */
  add(user: number, label: string, given: Omit<PasskeyCredential, 'id' | 'user'>): Promise<void>
  /** Null for an unknown one. */
  find(credential: string): Promise<PasskeyCredential | null>
  /** Records a use; false if the counter did not increase, which indicates a cloned passkey (section 7.2, step 22). */
  use(id: number, counter: number): Promise<boolean>
  /** Faults: AccountUnknown, AccountInvalid for an invalid label. */
  rename(user: number, id: number, label: string): Promise<void>
  /** One of them, or all. Faults: AccountUnknown. */
  remove(user: number, id?: number): Promise<void>
}

interface Row extends Omit<PasskeyCredential, 'transports'> {
  readonly transports: string
  readonly label: string
  readonly created: number
  readonly used: number | null
}

const COLUMNS =
  'id, account AS user, credential, public_key AS "publicKey", counter, transports, label, created, used'
const ofUser = query<Row>(`SELECT ${COLUMNS} FROM passkey WHERE account = ? ORDER BY id`)
const find = query<Row>(`SELECT ${COLUMNS} FROM passkey WHERE credential = ?`)
const count = query<{ readonly count: number }>('SELECT count(*) AS count FROM passkey WHERE account = ?')
const insert = change(
  `INSERT INTO passkey (account, credential, public_key, counter, transports, label, created, used)
    VALUES (?, ?, ?, ?, ?, ?, ?, NULL) ON CONFLICT (credential) DO NOTHING`,
)
const use = change(
  `UPDATE passkey SET counter = ?1, used = ?2
    WHERE id = ?3 AND (counter < ?1 OR (counter = 0 AND CAST(?1 AS BIGINT) = 0))`,
)
const rename = change('UPDATE passkey SET label = ? WHERE account = ? AND id = ?')
const removeOne = change('DELETE FROM passkey WHERE account = ? AND id = ?')
const removeAll = change('DELETE FROM passkey WHERE account = ?')

export function createPasskeys(database: Database, portalSecret: Buffer, now: () => number): Passkeys {
  return {
    handle: user => createHmac('sha256', portalSecret).update(`passkey user\n${user}`).digest('base64url'),
    list: async user =>
      (await database.read(() => ofUser.all(user))).map(({ id, label, created, used }) => ({
        id,
        label,
        created: new Date(created).toISOString(),
        lastUse: used === null ? null : new Date(used).toISOString(),
      })),
    credentials: async user => (await database.read(() => ofUser.all(user))).map(credentialOf),
    add: async (user, given, { credential, publicKey, counter, transports }) => {
      const label = checkLabel('A label', given, 1)
      await database.write(function* () {
        if (((yield* count.get(user))?.count ?? 0) >= MAX_PASSKEYS)
          throw invalidName(`A user has at most ${MAX_PASSKEYS} passkeys: remove one that is not used`)
        const key = Buffer.from(publicKey)
        const added = yield* insert(user, credential, key, counter, transports.join(' '), label, now())
        if (added === 0) throw invalidName('This passkey is registered already')
      })
    },
    find: async credential => {
      const row = await database.read(() => find.get(credential))
      return row === undefined ? null : credentialOf(row)
    },
    use: async (id, counter) => (await database.writeCounts(() => use(counter, now(), id))) > 0,
    rename: async (user, id, given) => {
      const label = checkLabel('A label', given, 1)
      if ((await database.write(() => rename(label, user, id))) === 0)
        throw unknownName('There is no such passkey')
    },
    remove: async (user, id) => {
      const removed = await database.write(() => (id === undefined ? removeAll(user) : removeOne(user, id)))
      if (id !== undefined && removed === 0) throw unknownName('There is no such passkey')
    },
  }
}

function credentialOf({ id, user, credential, publicKey, counter, transports }: Row): PasskeyCredential {
  const names = transports.split(' ').filter(name => name !== '')
  return { id, user, credential, publicKey: new Uint8Array(publicKey), counter, transports: names }
}
