import { timingSafeEqual } from 'node:crypto'
import type { Client, Clients } from './accounts.ts'
import { change, type Database, type DatabaseScript, query } from './database.ts'
import { checkLabel, folded, invalidName, shownName, unknownName, unknownUser } from './names.ts'
import { hashOf, hashOfGiven, type RandomBytes, randomText } from './secrets.ts'
import { userIdOf } from './users.ts'

const ID_LENGTH = 24
const SECRET_LENGTH = 48

const MAX_CLIENTS = 50

interface Row {
  readonly id: string
  readonly name: string
  readonly type: Client['type']
  /** JSON array. */
  readonly redirect_uris: string
  readonly owner: string
  readonly created: number
}

const CLIENTS = `SELECT client.id, client.name, type, redirect_uris, account.name AS owner, client.created
  FROM client JOIN account ON account.id = client.owner`

const owner = query<{ readonly id: number; readonly clients: number }>(
  'SELECT id, (SELECT count(*) FROM client WHERE owner = account.id) AS clients FROM account WHERE folded = ?',
)
const insert = change(
  'INSERT INTO client (id, owner, name, type, secret, redirect_uris, created) VALUES (?, ?, ?, ?, ?, ?, ?)',
)
const all = query<Row>(`${CLIENTS} ORDER BY account.folded, client.created, client.rowid`)
const ofOwner = query<Row>(`${CLIENTS} WHERE account.folded = ? ORDER BY client.created, client.rowid`)
const byId = query<Row>(`${CLIENTS} WHERE client.id = ?`)
const secretOf = query<{ readonly secret: Uint8Array }>('SELECT secret FROM client WHERE id = ?')
const meant = query<{ readonly id: string }>(
  `SELECT client.id FROM client JOIN account ON account.id = client.owner
    WHERE (CAST(?1 AS TEXT) IS NULL OR account.folded = ?1) AND (client.id = ?2 OR client.name = ?2)
    ORDER BY client.id = ?2 DESC LIMIT 2`,
)
const remove = change('DELETE FROM client WHERE id = ?')

function* findClient(id: string): DatabaseScript<Client | null> {
  const row = yield* byId.get(id)
  return row === undefined ? null : clientOf(row)
}

/** Applications that users authorise (RFC 6749, section 2). */
export function createClients(database: Database, randomBytes: RandomBytes, now: () => number): Clients {
  return {
    register: async given => {
      const name = checkLabel('The name of an application', given.name, 1)
      const uris = [...new Set(given.redirectUris)]
      if (uris.length === 0 || uris.length > MAX_REDIRECT_URIS)
        throw invalidName(
          `An application has 1 to ${MAX_REDIRECT_URIS} redirect URIs: ${uris.length} were found`,
        )
      for (const uri of uris) checkRedirectUri(uri, given.type)
      const [id, secret] = [randomText(randomBytes, ID_LENGTH), randomText(randomBytes, SECRET_LENGTH)]
      const client = await database.write(function* () {
        const found = yield* owner.get(folded(given.owner))
        if (found === undefined) throw unknownUser(given.owner)
        if (found.clients >= MAX_CLIENTS)
          throw invalidName(`A user has at most ${MAX_CLIENTS} applications: remove one that is not used`)
        yield* insert(id, found.id, name, given.type, hashOf(secret), JSON.stringify(uris), now())
        return yield* findClient(id)
      })
      if (client === null) throw unknownName('The application was removed while it was registered')
      return { client, secret }
    },
    list: async user => {
      const rows = await database.read(function* () {
        if (user === undefined) return yield* all.all()
        yield* userIdOf(user)
        return yield* ofOwner.all(folded(user))
      })
      return rows.map(clientOf)
    },
    find: async id => database.read(() => findClient(id)),
    verifySecret: async (id, secret) => {
      const stored = (await database.read(() => secretOf.get(id)))?.secret
      const given = hashOfGiven(secret) ?? hashOf('')
      return timingSafeEqual(given, stored ?? NO_SECRET) && stored !== undefined
    },
    remove: async (given, user) => {
      await database.write(function* () {
        const [first, second] = yield* meant.all(user === undefined ? null : folded(user), given)
        if (first === undefined) throw unknownName(`There is no application ${shownName(given)}`)
        if (first.id !== given && second !== undefined)
          throw invalidName(`Several applications are named ${shownName(given)}: give the id of one`)
        yield* remove(first.id)
      })
    },
  }
}

/** A value that is the hash of no secret. */
const NO_SECRET = Buffer.alloc(32)

function clientOf({ id, name, type, redirect_uris: uris, owner, created }: Row): Client {
  const redirectUris = JSON.parse(uris) as readonly string[]
  return { id, name, type, redirectUris, owner, created: new Date(created).toISOString() }
}

/** Maximum characters of a redirect URI, and redirect URIs of an application. */
const REDIRECT_URI_LENGTH = 2000
export const MAX_REDIRECT_URIS = 20

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Refuses URIs that no code may be sent to (RFC 6749, section 3.1.2; RFC 8252, sections 7 and 8.3): relative addresses,
 * fragments, user info, http elsewhere than on this machine, and schemes that are not the application's own. Such a
 * scheme contains a dot, as a reversed domain name does, and requires a public application.
 */
export function checkRedirectUri(uri: string, type: 'confidential' | 'public'): void {
  const reason = refusal(uri, type)
  if (reason !== null) throw invalidName(`The redirect URI ${shownName(uri)} ${reason}`)
}

/** An address of this machine, its port apart from the rest. */
const LOOPBACK_ADDRESS = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::(\d{1,5}))?((?:[/?].*)?)$/s

/**
 * True if a code may be sent to a URI: it equals one that the application registered, character by character. For an http
 * address of this machine the port is ignored, for a local application listens on any free one (RFC 8252, section 7.3;
 * RFC 9700, section 4.1.3).
 */
export function isRegisteredUri(given: string, registered: readonly string[]): boolean {
  if (registered.includes(given)) return true
  const required = withoutPort(given)
  return required !== null && registered.some(uri => withoutPort(uri) === required)
}

/** An http address of this machine without its port; null for any other. */
function withoutPort(uri: string): string | null {
  const [, origin, port, rest = ''] = LOOPBACK_ADDRESS.exec(uri) ?? []
  const isPort = port === undefined || (Number(port) > 0 && Number(port) < 65_536)
  return origin === undefined || !isPort ? null : origin + rest
}

function refusal(uri: string, type: 'confidential' | 'public'): string | null {
  if (uri.length > REDIRECT_URI_LENGTH)
    return `has ${uri.length} characters: at most ${REDIRECT_URI_LENGTH} are taken`
  if (!/^[\x21-\x7e]+$/.test(uri) || /[\\"<>^`{|}]/.test(uri)) return 'has characters that a URI cannot have'
  if (uri.includes('#')) return 'has a fragment'
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri))
    return 'is relative: it begins with https:// where it is absolute'
  if (!URL.canParse(uri)) return 'cannot be read'
  const { protocol, hostname, username, password, pathname } = new URL(uri)
  if (username !== '' || password !== '' || /^[^:]+:\/\/[^/?]*@/.test(uri)) return 'has user info'
  if (protocol === 'https:' || protocol === 'http:') {
    if (!/^https?:\/\/[^/?]/i.test(uri) || hostname === '') return 'names no host'
    if (protocol === 'http:' && !LOOPBACK.has(hostname))
      return 'is http, which only localhost may have: use https'
    return null
  }
  if (!protocol.includes('.')) return `has the scheme ${protocol} which is not taken: use https`
  if (type === 'confidential') return 'has a scheme of its own, which only a public application can have'
  return hostname === '' && pathname === '' ? 'names nothing after its scheme' : null
}
