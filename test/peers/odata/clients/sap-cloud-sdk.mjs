import { createRequire } from 'node:module'
import path from 'node:path'
import { run, workshop } from './generated.mjs'

const require = createRequire(import.meta.url)

/** Generates a client from `$metadata` and reads with it. */
export async function sapCloudSdk(base, sets) {
  const folder = await workshop(base, 'sap')
  await run('@sap-cloud-sdk/generator/dist/cli.js', ['-i', 'in', '-o', 'out', '-t', '--overwrite'], folder)
  const portal = require(path.join(folder, 'out/portal/index.js'))
  const service = portal.portal()
  const destination = { url: `${base}/api/odata` }
  for (const [set, comparison] of sets) {
    const api = Object.getOwnPropertyNames(Object.getPrototypeOf(service))
      .filter(name => name.endsWith('Api') && name !== 'initApi')
      .map(name => service[name])
      .find(({ entityConstructor }) => plain(entityConstructor._entityName) === plain(set))
    if (api === undefined) throw new Error(`no API for ${set}`)
    const ask = request => request.execute(destination)
    const total = await ask(api.requestBuilder().getAll().count())
    if (total !== comparison.wanted.length) throw new Error(`${set}: ${total} are counted`)
    let first
    for (let skip = 0; skip < total; ) {
      const page = await ask(api.requestBuilder().getAll().skip(skip).top(10_000))
      first ??= page[0]
      for (const entity of page) {
        const names = new Map(Object.keys(entity).map(name => [plain(name), name]))
        comparison.take(entity, name => entity[names.get(plain(name))])
      }
      if (page.length === 0) break
      skip += page.length
    }
    const one = await ask(api.requestBuilder().getByKey(first.recordid))
    if (one.recordid !== first.recordid) throw new Error(`${set}: the key gave ${one.recordid}`)
    const filtered = await ask(
      api.requestBuilder().getAll().filter(api.schema.RECORDID.equals(first.recordid)),
    )
    if (filtered.length !== 1) throw new Error(`${set}: ${filtered.length} of one key`)
  }
}

/** A name as both sides of the generator write it but for capitals and underscores. */
const plain = name => name.toLowerCase().replace(/[-_]/g, '')
