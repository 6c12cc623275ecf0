/**
 * `node run.mjs [BASE] [CLIENT…]`: reads every data set of a served portal through clients that others wrote, and holds
 * every value against the JSON export of Explore. One line a client; one that is not there is skipped, with what is missing.
 * SETS=a,b reads these only.
 */
import { existsSync } from 'node:fs'
import { olingo, python, Skipped } from './clients/foreign.mjs'
import { Comparison, datasetsOf, exported } from './portal.mjs'

/** A client from npm: its module is loaded when its turn comes. */
const npm = (file, name) => async (base, sets) => {
  if (!existsSync(new URL('node_modules/.package-lock.json', import.meta.url)))
    throw new Skipped('npm install')
  const module = await import(`./clients/${file}.mjs`)
  return module[name](base, sets)
}

const CLIENTS = {
  odatajs: npm('odatajs', 'odatajs'),
  'ts-odata-client': npm('ts-odata-client', 'tsODataClient'),
  odata2ts: npm('odata2ts', 'odata2ts'),
  'sap-cloud-sdk': npm('sap-cloud-sdk', 'sapCloudSdk'),
  '@odata/client': npm('odata-client', 'odataClient'),
  'datajs-atom': npm('datajs', 'datajsAtom'),
  'datajs-verbose': npm('datajs', 'datajsVerbose'),
  '@azure/data-tables': npm('azure-data-tables', 'azureDataTables'),
  'olingo-v4-json': olingo('v4', 'json'),
  'olingo-v4-atom': olingo('v4', 'atom'),
  'olingo-v3-json': olingo('v3', 'json'),
  'olingo-v3-atom': olingo('v3', 'atom'),
  'olingo-v2-json': olingo('v2', 'json'),
  'olingo-v2-atom': olingo('v2', 'atom'),
  'python-odata': python('read_python_odata.py', 'odata', 'v4'),
  pyodata: python('read_pyodata.py', 'pyodata', 'v2'),
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
  const error = await Promise.resolve()
    .then(() => read(base, sets))
    .then(
      () => null,
      thrown => thrown,
    )
  if (error instanceof Skipped) {
    process.stdout.write(`skipped ${name}: ${error.message}\n`)
    continue
  }
  const problem = error === null ? null : (error.stack ?? String(error))
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
