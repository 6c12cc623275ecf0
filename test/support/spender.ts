import { openAccounts } from '../../src/accounts/open.ts'

/**
 * A process of its own that opens accounts at a moment, half a second later spends codes and refresh tokens which others
 * spend, too, and prints which it was given.
 */
const [file = '', begin = '0', ...secrets] = process.argv.slice(2)
waitUntil(Number(begin))
const accounts = openAccounts(file, { now: Date.now })
const { tokens } = accounts
waitUntil(Number(begin) + 500)
const won = secrets.filter(secret =>
  secret.length === 30 ? tokens.spendCode(secret) : tokens.spendRefresh(secret),
)
process.stdout.write(JSON.stringify({ won, secret: accounts.secret.toString('hex') }))
accounts.close()

function waitUntil(moment: number): void {
  while (Date.now() < moment);
}
