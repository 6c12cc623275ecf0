import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { benchAccounts } from './accounts.ts'
import { benchAuthentication } from './authentication.ts'
import { benchDatasets } from './datasets.ts'
import { benchFragments } from './fragments.ts'
import { benchMapping } from './mapping.ts'
import { benchOData } from './odata.ts'
import { benchPortal } from './portal.ts'
import { benchQuestions } from './questions/bench.ts'
import { placesPortal } from './questions/places.ts'
import { benchRest } from './rest.ts'
import { demonstration } from './support.ts'
import { printTable, type Row } from './table.ts'

/**
 * `npm run bench`: what Lodestone does, on the demonstration portal, beside the bars that it is held to. Names of parts ask for
 * these alone; `million` (the questions over a million records) and `datasets` (a thousand of them) are asked by their names only; `--portal` names a folder
 * that is measured in place of a fresh copy, and `--json` prints the figures as JSON.
 */
const { values, positionals } = parseArgs({
  options: { portal: { type: 'string' }, json: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const portal =
  values.portal === undefined ? await demonstration() : { folder: values.portal, remove: () => undefined }
const parts: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  questions: () => benchQuestions(portal, 'cities', 'small'),
  mapping: benchMapping,
  portal: () => benchPortal(portal),
  rest: () => benchRest(portal),
  odata: () => benchOData(portal),
  fragments: () => benchFragments(portal),
  accounts: benchAccounts,
  authentication: benchAuthentication,
}
const LONG_PARTS: ReadonlySet<string> = new Set(['million', 'datasets'])
try {
  const rows: Row[] = []
  const unknown = positionals.filter(name => !LONG_PARTS.has(name) && !Object.hasOwn(parts, name))
  if (unknown.length > 0)
    throw new Error(`${unknown[0]}: no part; there are ${[...Object.keys(parts), ...LONG_PARTS]}`)
  for (const [name, bench] of Object.entries(parts))
    if (positionals.length === 0 || positionals.includes(name)) rows.push(...(await bench()))
  if (positionals.includes('million')) {
    const folder = values.portal ?? placesPortal(1_000_000)
    rows.push(...(await benchQuestions({ folder, remove: () => undefined }, 'places', 'large')))
    if (values.portal === undefined) rmSync(folder, { recursive: true, force: true })
  }
  if (positionals.includes('datasets')) rows.push(...(await benchDatasets()))
  if (values.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`)
  else printTable(rows)
} finally {
  portal.remove()
}
process.exit(0)
