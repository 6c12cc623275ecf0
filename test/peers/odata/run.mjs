/**
 * `node run.mjs [BASE] [CLIENT…]`: reads every data set of a served portal through clients that others wrote, and holds
 * every value against the JSON export of Explore. One line a client. SETS=a,b reads these only.
 */
import { azureDataTables } from './clients/azure-data-tables.mjs'
import { datajsAtom, datajsVerbose } from './clients/datajs.mjs'
import { odataClient } from './clients/odata-client.mjs'
import { odata2ts } from './clients/odata2ts.mjs'
import { odatajs } from './clients/odatajs.mjs'
import { sapCloudSdk } from './clients/sap-cloud-sdk.mjs'
import { tsODataClient } from './clients/ts-odata-client.mjs'
import { Comparison, datasetsOf, exported } from './portal.mjs'

const CLIENTS = {
  odatajs,
  'ts-odata-client': tsODataClient,
  odata2ts,
  'sap-cloud-sdk': sapCloudSdk,
  '@odata/client': odataClient,
  'datajs-atom': datajsAtom,
  'datajs-verbose': datajsVerbose,
  '@azure/data-tables': azureDataTables,
}

const [base = 'http://localhost:3000', ...asked] = process.argv.slice(2)
const wantedSets = process.env.SETS?.split(',')
const datasets = (await datasetsOf(base)).filter(({ id }) => wantedSets?.includes(id) ?? true)
const truths = new Map()
for (const { id } of datasets) truths.set(id, await exported(base, id))

let failed = 0
for (const [name, read] of Object.entries(CLIENTS)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  const sets = new Map(datasets.map(dataset => [dataset.id, new Comparison(dataset, truths.get(dataset.id))]))
  const begun = performance.now()
  const problem = await read(base, sets).then(
    () => null,
    error => error.stack ?? String(error),
  )
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  const comparisons = [...sets.values()]
  const wrong = comparisons.map(comparison => comparison.verdict()).filter(verdict => verdict !== null)
  const sum = key =>
    comparisons.reduce((total, comparison) => total + comparison[key], 0).toLocaleString('en')
  const told = problem ?? (wrong.length > 0 ? wrong.join('; ') : null)
  if (told !== null) failed += 1
  process.stdout.write(
    `${told === null ? 'ok    ' : 'FAILED'} ${name.padEnd(20)} ${sum('records').padStart(8)} records, ${sum('values').padStart(10)} values, ${seconds} s${told === null ? '' : `: ${told}`}\n`,
  )
}
process.exit(failed === 0 ? 0 : 1)
