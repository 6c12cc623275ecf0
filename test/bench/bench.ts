import { benchAccounts } from './accounts.ts'
import { benchAuthentication } from './authentication.ts'
import { benchFragments } from './fragments.ts'
import { benchMapping } from './mapping.ts'
import { benchOData } from './odata.ts'
import { benchPortal } from './portal.ts'
import { benchQueries } from './queries.ts'
import { benchRest } from './rest.ts'
import { benchStore } from './store.ts'
import { demonstration } from './support.ts'
import { printTable } from './table.ts'

/**
 * `npm run bench`: what Lodestone does in a second, on the demonstration portal, beside the bars that it is held to.
 * `--json` prints the figures as JSON.
 */
const portal = await demonstration()
try {
  const rows = [
    ...(await benchMapping()),
    ...(await benchPortal(portal)),
    ...(await benchStore(portal)),
    ...(await benchQueries(portal)),
    ...(await benchRest(portal)),
    ...(await benchOData(portal)),
    ...(await benchFragments(portal)),
    ...(await benchAccounts()),
    ...(await benchAuthentication()),
  ]
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`)
  else printTable(rows)
} finally {
  portal.remove()
}
process.exit(0)
