import { createRequire } from 'node:module'
import path from 'node:path'
import { run, workshop } from './generated.mjs'

const require = createRequire(import.meta.url)

/** Generates a client from `$metadata` and reads with it. */
export async function odata2ts(base, sets) {
  const folder = await workshop(base, 'odata2ts')
  const args = [
    '-s',
    'in/portal.xml',
    '-o',
    'out',
    '-m',
    'service',
    '-e',
    'js',
    '-t',
    'tsconfig.json',
    '-name',
    'Portal',
  ]
  await run('@odata2ts/odata2ts/lib/run-cli.js', args, folder)
  const { PortalService } = require(path.join(folder, 'out/PortalService.js'))
  const { FetchClient } = require('@odata2ts/http-client-fetch')
  const service = new PortalService(new FetchClient(), `${base}/api/odata`)
  for (const [set, comparison] of sets) {
    const entities = member(service, set)
    const total = comparison.wanted.length
    let first
    for (let skip = 0; skip < total; ) {
      const { data } = await entities().query(builder => builder.skip(skip).top(10_000).count())
      if (data['@odata.count'] !== total) throw new Error(`${set}: ${data['@odata.count']} are counted`)
      first ??= data.value[0]
      for (const entity of data.value) comparison.take(entity)
      if (data.value.length === 0) break
      skip += data.value.length
    }
    const { data: one } = await entities(first.recordid).query()
    if (one.recordid !== first.recordid) throw new Error(`${set}: the key gave ${one.recordid}`)
    const filtered = await entities().query((builder, entity) =>
      builder.filter(entity.recordid.eq(first.recordid)),
    )
    if (filtered.data.value.length !== 1) throw new Error(`${set}: ${filtered.data.value.length} of one key`)
  }
}

/** The method of an entity set; names that are no names of methods were changed by the generator. */
function member(service, set) {
  const plain = name => name.toLowerCase().replace(/[^a-z0-9]/g, '')
  const name = Object.getOwnPropertyNames(Object.getPrototypeOf(service)).find(
    each => plain(each) === plain(set),
  )
  if (name === undefined) throw new Error(`no method for ${set}`)
  return id => service[name](id)
}
