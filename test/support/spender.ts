import { openAny } from './accounts.ts'

/**
 * A process of its own that opens accounts at a moment, a second later redeems codes and refresh tokens which others
 * redeem, too, and prints for which it was given tokens.
 */
const [place = '', begin = '0', ...secrets] = process.argv.slice(2)
waitUntil(Number(begin))
const accounts = await openAny(place, { now: Date.now })
const { tokens } = accounts
waitUntil(Number(begin) + 1000)
const won: string[] = []
for (const secret of secrets) {
  const isCode = secret.length === 30
  if ((await (isCode ? tokens.redeemCode(secret) : tokens.redeemRefresh(secret))) !== null) won.push(secret)
}
process.stdout.write(JSON.stringify({ won, secret: accounts.secret.toString('hex') }))
await accounts.close()

function waitUntil(moment: number): void {
  while (Date.now() < moment);
}
