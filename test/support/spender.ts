import { openAny } from './accounts.ts'

/**
 * A process of its own that opens accounts when it is told to, by a line, then redeems codes and refresh tokens which others redeem,
 * too, and prints for which it was given tokens. It says `ready` when it waits for a line.
 */
const [place = '', ...secrets] = process.argv.slice(2)
await toldTo()
const accounts = await openAny(place, { now: Date.now })
const { tokens } = accounts
await toldTo()
const won: string[] = []
for (const secret of secrets) {
  const isCode = secret.length === 30
  if ((await (isCode ? tokens.redeemCode(secret) : tokens.redeemRefresh(secret))) !== null) won.push(secret)
}
process.stdout.write(JSON.stringify({ won, secret: accounts.secret.toString('hex') }))
await accounts.close()
process.stdin.destroy()

function toldTo(): Promise<void> {
  process.stdout.write('ready\n')
  return new Promise(resolve => process.stdin.once('data', () => resolve()))
}
