import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Libsql from 'libsql'
import { openAccounts } from '../../src/accounts/open.ts'
import { percentile, type Row, under } from './table.ts'

const [USERS, KEYS_A_USER, CALLS] = [10_000, 5, 20_000]
export const KEYS = USERS * KEYS_A_USER

/** How long it takes to find who a credential stands for, among 10,000 users with grants and 50,000 keys. */
export async function benchAccounts(): Promise<readonly Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-accounts-'))
  const file = path.join(folder, 'accounts.sqlite')
  const begun = 1_790_000_000_000
  const accounts = openAccounts(file, { now: () => begun + performance.now() })
  try {
    fillAccounts(file, begun)
    const client = (
      await accounts.clients.register({
        name: 'bench',
        owner: 'user-0',
        redirectUris: ['https://bench.example/'],
        type: 'confidential',
      })
    ).client.id
    const grant = { client, redirectUri: 'https://bench.example/', scope: 'all', challenge: null }
    const [tokens, sessions]: [string[], string[]] = [[], []]
    for (let user = 1; user <= 1000; user++) {
      const descent = await accounts.tokens.findCode(await accounts.tokens.issueCode({ ...grant, user }))
      const issued = descent === null ? null : await accounts.tokens.issue(descent)
      tokens.push(issued?.accessToken ?? '')
      sessions.push((await accounts.sessions.begin(user)).token)
    }
    const keys = Array.from({ length: KEYS }, (_, at) => keyOf(at))
    const untrusted = keys.map(key => `${key}-`)
    return [
      ...rows('key', keys, key => accounts.keys.principal(key) !== null),
      ...rows('unknown key', untrusted, key => accounts.keys.principal(key) === null),
      ...rows('access token', tokens, token => accounts.tokens.principal(token) !== null),
      ...rows('session', sessions, token => accounts.sessions.principal(token) !== null),
    ]
  } finally {
    await accounts.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function rows(
  what: string,
  credentials: readonly string[],
  check: (credential: string) => boolean,
): readonly Row[] {
  const times: number[] = []
  for (let call = 0; call < CALLS; call++) {
    const credential = credentials[(call * 7919) % credentials.length] ?? ''
    const begun = performance.now()
    const right = check(credential)
    times.push((performance.now() - begun) * 1000)
    if (!right) throw new Error(`${what}: wrong answer for call ${call}`)
  }
  return [
    under(`who a credential stands for, ${what}, p50`, percentile(times, 0.5), 60, 'µs'),
    { what: `who a credential stands for, ${what}, p99`, value: `${percentile(times, 0.99).toFixed(1)} µs` },
  ]
}

/** The key with a number, below `KEYS`, of accounts that were filled. */
export function keyOf(at: number): string {
  return `key${at}`.padEnd(48, 'x')
}

/** Users, grants and keys as the commands would make them, without 10,000 times scrypt. */
export function fillAccounts(file: string, now: number): void {
  const database = new Libsql(file)
  database.exec('BEGIN IMMEDIATE')
  const user = database.prepare('INSERT INTO account (name, folded, password, created) VALUES (?, ?, ?, ?)')
  const grant = database.prepare('INSERT INTO user_grant (account, dataset) VALUES (?, ?)')
  const key = database.prepare(
    'INSERT INTO api_key (account, hash, hint, label, created) VALUES (?, ?, ?, ?, ?)',
  )
  for (let at = 0; at < USERS; at++) {
    user.run([`user-${at}`, `user-${at}`, '', now])
    for (let dataset = 0; dataset < 5; dataset++) grant.run([at + 1, `dataset-${(at + dataset) % 40}`])
    for (let each = 0; each < KEYS_A_USER; each++) {
      const hash = createHash('sha256')
        .update(keyOf(at * KEYS_A_USER + each))
        .digest()
      key.run([at + 1, hash, 'key', '', now])
    }
  }
  database.exec('COMMIT')
  database.close()
}
