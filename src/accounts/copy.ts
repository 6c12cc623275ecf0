import {
  change,
  type DatabaseScript,
  forRows,
  query,
  type ScriptStep,
  type SqlValue,
} from './database-script.ts'

/**
 * All tables with their columns, referenced ones first, and the column that orders the rows. The audit log is not among them:
 * a restore does not undo what happened here.
 */
const TABLES = [
  ['setting', ['name', 'value'], 'name'],
  ['account', ['id', 'name', 'folded', 'password', 'quota', 'created'], 'id'],
  ['user_grant', ['account', 'dataset', 'issuer'], 'account, dataset'],
  ['api_key', ['id', 'account', 'hash', 'hint', 'label', 'created', 'used'], 'id'],
  ['session', ['id', 'account', 'hash', 'created', 'used'], 'id'],
  ['client', ['id', 'owner', 'name', 'type', 'secret', 'redirect_uris', 'created'], 'rowid'],
  ['consent', ['account', 'client', 'scope', 'granted'], 'account, client'],
  ['family', ['id', 'account', 'client', 'scope', 'created', 'revoked'], 'rowid'],
  ['code', ['hash', 'family', 'redirect_uri', 'challenge', 'method', 'expires', 'spent'], 'hash'],
  ['access_token', ['hash', 'family', 'expires'], 'hash'],
  ['refresh_token', ['hash', 'family', 'spent'], 'hash'],
  ['identity', ['issuer', 'subject', 'account'], 'issuer, subject'],
  ['second_factor', ['account', 'secret', 'confirmed', 'step'], 'account'],
  ['recovery_code', ['account', 'hash'], 'account, hash'],
  [
    'passkey',
    ['id', 'account', 'credential', 'public_key', 'counter', 'transports', 'label', 'created', 'used'],
    'id',
  ],
  ['call_count', ['day', 'subject', 'calls'], 'day, subject'],
] as const

type TableRow = Readonly<Record<string, SqlValue>>

/** All data of accounts, by the names of tables. */
export type AccountsCopy = ReadonlyMap<string, readonly TableRow[]>

/** Reads everything. */
export function* readAll(): DatabaseScript<AccountsCopy> {
  const copy = new Map<string, readonly TableRow[]>()
  for (const [table, columns, order] of TABLES)
    copy.set(
      table,
      yield* query<TableRow>(`SELECT ${columns.join(', ')} FROM ${table} ORDER BY ${order}`).all(),
    )
  return copy
}

/** Replaces all data by a copy. */
export function* replaceAll(copy: AccountsCopy, settleIds: readonly ScriptStep[]): DatabaseScript<void> {
  for (const [table] of TABLES.toReversed()) yield* change(`DELETE FROM ${table}`)()
  for (const [table, columns] of TABLES) {
    const insert = (rows: string) => `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${rows} RETURNING 1`
    const placeholders = `(${columns.map(() => '?').join(', ')})`
    const rows = (copy.get(table) ?? []).map(row => columns.map(column => row[column] ?? null))
    yield* forRows(insert, placeholders, rows)
  }
  for (const step of settleIds) yield step
}
