import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openAccounts } from '../../src/accounts/open.ts'

/** Opens accounts on a small disk of its own while that is full, and prints what is possible then and once there is room. */
const [disk = ''] = process.argv.slice(2)
const [file, filling] = [path.join(disk, 'accounts.sqlite'), path.join(disk, 'filling')]
const open = () => openAccounts(file, { now: Date.now })
const before = open()
await before.users.add('ann', 'a password that is long enough')
const { key } = await before.keys.create('ann', 'test')
await before.close()
try {
  for (;;) writeFileSync(filling, Buffer.alloc(4096), { flag: 'a' })
} catch {
  // It is full now.
}
const accounts = open()
const userOf = async () => (await accounts.keys.principal(key))?.name
const added = () =>
  accounts.users.add('bob', 'a password that is long enough').then(
    () => 'added',
    error => `${error.code}: ${error.message}`,
  )
const full = [await userOf(), await added()]
rmSync(filling)
await sleep(1100)
const withRoom = [await userOf(), await added(), await userOf()]
await accounts.close()
process.stdout.write(JSON.stringify({ full, withRoom }))
