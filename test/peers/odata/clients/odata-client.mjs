import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Asks for pages by `$skip`, gets one entity by its key and counts. */
export async function odataClient(base, sets) {
  const { OData } = require('@odata/client')
  const client = OData.New4({ serviceEndpoint: `${base}/api/odata/` })
  for (const [set, comparison] of sets) {
    const entities = client.getEntitySet(set)
    const total = await entities.count()
    if (total !== comparison.wanted.length) throw new Error(`${set}: ${total} are counted`)
    let first
    for (let skip = 0; skip < total; ) {
      const page = await entities.query(client.newOptions().skip(skip).top(10_000))
      first ??= page[0]
      for (const entity of page) comparison.take(entity)
      if (page.length === 0) break
      skip += page.length
    }
    const one = await entities.retrieve(first.recordid)
    if (one.recordid !== first.recordid) throw new Error(`${set}: the key gave ${one.recordid}`)
  }
}
