import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Follows next links by itself. */
export async function tsODataClient(base, sets) {
  const { ODataQuery } = require('ts-odata-client/index.js')
  for (const [set, comparison] of sets) {
    const query = ODataQuery.forV4(`${base}/api/odata/${set}`)
    let first
    for await (const entity of query) {
      first ??= entity
      comparison.take(entity)
    }
    const one = await query.getAsync(first.recordid)
    if (one.recordid !== first.recordid) throw new Error(`${set}: the key gave ${one.recordid}`)
    const counted = await query
      .filter(entity => entity.recordid.$equals(first.recordid))
      .getManyWithCountAsync()
    if (counted['@odata.count'] !== 1)
      throw new Error(`${set}: ${counted['@odata.count']} records of one key`)
  }
}
