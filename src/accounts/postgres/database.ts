import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Fault } from '../../errors/errors.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import type { Database, DatabaseScript, MaybePromise, ScriptStep } from '../database.ts'
import { ACCOUNTS_UNAVAILABLE } from '../faults.ts'
import { faultOf, isBroken } from './faults.ts'
import { Freshness, type Listener, type ListenerEvents } from './freshness.ts'
import { CHANNEL, LOCK, POSTGRES_MIGRATIONS, POSTGRES_SCHEMA, postgresSql } from './migrations.ts'

/** Maximum connections of one process, in addition to the one that listens. */
const CONNECTIONS = 4

/** Timeouts in milliseconds: to connect, of one statement, of a check for changes, to close. */
const [CONNECTING, STATEMENT, CHECK, CLOSING] = [3000, 5000, 2000, 2000]

/** Milliseconds after which the database ends an idle transaction, so that its lock is released. */
const IDLE = 10_000

/** Address of a PostgreSQL database of accounts. */
export interface PostgresPlace {
  /** `postgres://user:password@host:port/database`, with parameters such as `sslmode`. */
  readonly url: string
  /** Replaces that of the address. */
  readonly password?: string
}

/**
 * Accounts in PostgreSQL, which several Lodestones share. Writes are serialised by an advisory lock, as in a file,
 * and notify all others if cached values depend on them.
 */
export class PostgresDatabase implements Database {
  readonly settleIds: readonly ScriptStep[] = SETTLE_IDS
  private readonly pool: pg.Pool
  private readonly where: string
  private readonly freshness: Freshness
  private readonly texts = new Map<string, string>()
  private isClosed = false
  /** When connections of the pool were last used. */
  private readonly used = new WeakMap<pg.PoolClient, number>()

  /** Connects, and creates or migrates the tables; several processes may do so concurrently. Faults: AccountsUnavailable. */
  static async open(place: PostgresPlace): Promise<PostgresDatabase> {
    const database = new PostgresDatabase(place)
    try {
      await database.migrate()
      return database
    } catch (error) {
      await database.close()
      throw error
    }
  }

  private constructor(place: PostgresPlace) {
    const config = configOf(place)
    this.where = whereOf(place.url)
    this.pool = new pg.Pool({
      ...config,
      max: CONNECTIONS,
      idleTimeoutMillis: 60_000,
      allowExitOnIdle: true,
    })
    // A lost connection is replaced when one is needed; its user gets the error from the query.
    this.pool.on('error', () => undefined)
    this.pool.on('connect', client => client.on('error', () => undefined))
    const refuse = (error: unknown) => this.refuse(error)
    const listen = async (heard: ListenerEvents): Promise<Listener> => {
      const { readGeneration, close } = await listener(config, heard).catch(refuse)
      return { readGeneration: () => readGeneration().catch(refuse), close }
    }
    this.freshness = new Freshness(listen, () => performance.now())
  }

  generation(): MaybePromise<number> {
    return this.freshness.generation()
  }

  isCurrent(generation: number): boolean {
    return this.freshness.isCurrent(generation)
  }

  async read<T>(work: () => DatabaseScript<T>): Promise<T> {
    return this.withClient(client => this.run(client, work()))
  }

  async snapshot<T>(work: () => DatabaseScript<T>): Promise<T> {
    return this.transact('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work)
  }

  async write<T>(work: () => DatabaseScript<T>): Promise<T> {
    return this.transact(BEGIN_WRITING, work)
  }

  async writeCounts<T>(work: () => DatabaseScript<T>): Promise<T> {
    return this.transact(BEGIN_WRITING, work)
  }

  /** Does not wait for a database that does not answer. */
  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    const closed = ignoreRejection(
      Promise.all([this.freshness.close(), this.pool.end()]),
      'the database notices by itself that nobody is there',
    )
    await Promise.race([closed, sleep(CLOSING, undefined, { ref: false })])
  }

  private async transact<T>(begin: string, work: () => DatabaseScript<T>): Promise<T> {
    return this.withClient(async client => {
      await client.query(begin)
      const result = await this.run(client, work()).catch(async error => {
        if (!isBroken(error)) await client.query('ROLLBACK')
        throw error
      })
      try {
        const described = (await client.query(
          'SELECT value FROM generation; COMMIT',
        )) as unknown as pg.QueryResult[]
        this.freshness.note(described[0]?.rows[0]?.value)
      } catch (error) {
        // It is unknown whether it was written.
        this.freshness.distrust()
        throw error
      }
      return result
    })
  }

  private async withClient<T>(use: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.connect()
    try {
      const result = await use(client)
      client.release()
      return result
    } catch (error) {
      client.release(isBroken(error))
      return this.refuse(error)
    }
  }

  /** A working connection: an idle one may have been closed, for example by a restart of the database. */
  private async connect(): Promise<pg.PoolClient> {
    for (let attempt = 0; ; attempt++) {
      const client = await this.pool.connect().catch(error => this.refuse(error))
      const idle = performance.now() - (this.used.get(client) ?? Number.NEGATIVE_INFINITY)
      this.used.set(client, performance.now())
      if (idle < 1000 || idle === Number.POSITIVE_INFINITY) return client
      try {
        await client.query({ text: 'SELECT', query_timeout: CHECK } as pg.QueryConfig)
        return client
      } catch (error) {
        client.release(true)
        if (attempt >= CONNECTIONS) return this.refuse(error)
      }
    }
  }

  private async run<T>(client: pg.PoolClient, work: DatabaseScript<T>): Promise<T> {
    let state = work.next()
    while (state.done !== true) {
      const { type, sql, values } = state.value
      const { rows, rowCount } = await client.query(this.textOf(sql), values.map(bound))
      state = work.next(type === 'get' ? rows[0] : type === 'all' ? rows : (rowCount ?? 0))
    }
    return state.value
  }

  private textOf(sql: string): string {
    const known = this.texts.get(sql)
    if (known !== undefined) return known
    if (this.texts.size >= 200) this.texts.clear()
    const text = postgresSql(sql)
    this.texts.set(sql, text)
    return text
  }

  private async migrate(): Promise<void> {
    await this.withClient(async client => {
      // A statement that waits for another process, which creates the same tables, may take a while.
      await client.query(BEGIN_WRITING)
      const [found] = (
        await client.query(`SELECT to_regnamespace('${POSTGRES_SCHEMA}') IS NOT NULL AS found`)
      ).rows
      if (!found.found) await client.query(`CREATE SCHEMA ${POSTGRES_SCHEMA}`)
      await client.query('CREATE TABLE IF NOT EXISTS version (version bigint NOT NULL)')
      const { rows } = await client.query('SELECT version FROM version')
      const version: number = rows[0]?.version ?? 0
      const newest = POSTGRES_MIGRATIONS.length
      if (version > newest) {
        const reason = `the database of accounts was written by a newer Lodestone: its schema is ${version}, this program knows ${newest}`
        throw new Fault(ACCOUNTS_UNAVAILABLE, { reason }, { hint: `Run that version. It is ${this.where}.` })
      }
      for (const step of POSTGRES_MIGRATIONS.slice(version)) await client.query(step)
      if (version < newest) {
        await client.query('DELETE FROM version')
        await client.query('INSERT INTO version VALUES ($1)', [newest])
      }
      await client.query('COMMIT')
    })
  }

  private refuse(error: unknown): never {
    throw faultOf(error, this.where)
  }
}

const BEGIN_WRITING = `BEGIN; SELECT pg_advisory_xact_lock(${LOCK})`

/** Ids are never assigned twice, including those of imported rows. */
const SETTLE_IDS: readonly ScriptStep[] = [
  ['account', 'id'],
  ['api_key', 'id'],
  ['session', 'id'],
  ['passkey', 'id'],
  ['client', 'rowid'],
  ['family', 'rowid'],
].map(([table, id]) => {
  const sequence = `'${POSTGRES_SCHEMA}.${table}_${id}_seq'`
  const next = `greatest(nextval(${sequence}), (SELECT coalesce(max(${id}), 0) + 1 FROM ${table}))`
  return { type: 'all', sql: `SELECT setval(${sequence}, ${next}, false)`, values: [] }
})

/** Replaces NUL, which texts of PostgreSQL cannot contain, by a character that does not occur in stored values. */
function bound(value: ScriptStep['values'][number]): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '\ufffd')
  return value instanceof Uint8Array ? Buffer.from(value) : value
}

/** Numbers beyond 53 bits do not occur. */
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, format as 'text'),
}

function configOf({ url, password }: PostgresPlace): pg.ClientConfig {
  const address = new URL(url)
  if (password !== undefined) address.password = encodeURIComponent(password)
  const { searchParams } = address
  // With TLS the certificate is always verified, also with later versions of the driver.
  if (
    !searchParams.has('uselibpqcompat') &&
    /^(prefer|require|verify-ca)$/.test(searchParams.get('sslmode') ?? '')
  )
    searchParams.set('sslmode', 'verify-full')
  const options = searchParams.get('options')
  searchParams.set('options', `${options ?? ''} -c search_path=${POSTGRES_SCHEMA}`.trim())
  return {
    connectionString: address.href,
    application_name: 'lodestone',
    connectionTimeoutMillis: CONNECTING,
    query_timeout: STATEMENT + 1000,
    statement_timeout: STATEMENT,
    lock_timeout: STATEMENT,
    idle_in_transaction_session_timeout: IDLE,
    keepAlive: true,
    types: TYPES,
  }
}

/** The address of the database for messages: without user and password. */
function whereOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

/** A connection that is notified of changes. */
async function listener(config: pg.ClientConfig, { changed, lost }: ListenerEvents): Promise<Listener> {
  const client = new pg.Client(config)
  client.on('error', lost)
  client.on('end', lost)
  client.on('notification', changed)
  try {
    await client.connect()
    await client.query(`LISTEN ${CHANNEL}`)
  } catch (error) {
    void ignoreRejection(client.end(), 'the error that ended listening is thrown')
    throw error
  }
  const readGeneration = { text: 'SELECT value FROM generation', query_timeout: CHECK } as pg.QueryConfig
  return {
    readGeneration: async () => (await client.query(readGeneration)).rows[0]?.value,
    close: () => client.end(),
  }
}
