import path from 'node:path'
import { openAccounts } from '../../src/accounts/open.ts'

/** Opens accounts on a read-only disk, and prints what is possible then. */
const [disk = '', key = ''] = process.argv.slice(2)
const accounts = openAccounts(path.join(disk, 'accounts.sqlite'), { now: Date.now })
const user = (await accounts.keys.principal(key))?.name
const added = await accounts.users.add('bob', 'a password that is long enough').then(
  () => 'added',
  error => `${error.code}: ${error.message}`,
)
await accounts.close()
process.stdout.write(JSON.stringify([user, added]))
