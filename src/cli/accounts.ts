import type { Accounts } from '../accounts/accounts.ts'
import { openAccountsOf } from '../accounts/open.ts'
import type { Config } from '../config/config.ts'
import { escapedText, printText } from './print.ts'

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

/** Prints rows in aligned columns under their titles; nothing if there are none. */
export function printColumns(titles: readonly string[], given: readonly (readonly string[])[]): void {
  if (given.length === 0) return
  const rows = given.map(row => row.map(escapedText))
  const widths = titles.map((title, at) =>
    Math.max(title.length, ...rows.map(row => [...(row[at] ?? '')].length)),
  )
  for (const row of [titles, ...rows]) {
    const cells = row.map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - [...cell].length))
    printText(`${cells.join('  ').trimEnd()}\n`)
  }
}
