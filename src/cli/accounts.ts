import type { Accounts } from '../accounts/accounts.ts'
import { openAccountsOf } from '../accounts/open.ts'
import type { Config } from '../config/config.ts'

/** Runs work on the accounts of a portal, and closes them in any case. */
export async function withAccounts<T>(
  config: Config,
  work: (accounts: Accounts) => T | Promise<T>,
): Promise<T> {
  const accounts = await openAccountsOf(config, { now: Date.now })
  try {
    return await work(accounts)
  } finally {
    await accounts.close()
  }
}

/** Prints JSON on standard output. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

/** Prints rows in aligned columns under their titles; nothing if there are none. */
export function printColumns(titles: readonly string[], rows: readonly (readonly string[])[]): void {
  if (rows.length === 0) return
  const widths = titles.map((title, at) =>
    Math.max(title.length, ...rows.map(row => [...(row[at] ?? '')].length)),
  )
  for (const row of [titles, ...rows]) {
    const cells = row.map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - [...cell].length))
    process.stdout.write(`${cells.join('  ').trimEnd()}\n`)
  }
}
