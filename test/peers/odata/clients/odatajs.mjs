import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Apache Olingo's JavaScript client, with the types of `$metadata`. */
export async function odatajs(base, sets) {
  const { oData } = require('odatajs/index.js')
  const root = `${base}/api/odata`
  const service = await read(oData, `${root}/`)
  const metadata = await read(oData, `${root}/$metadata`, oData.metadataHandler)
  const names = service.value.map(({ name }) => name)
  if (!(metadata.dataServices.schema.length > 0)) throw new Error('no schema was read')
  for (const [set, comparison] of sets) {
    if (!names.includes(set)) throw new Error(`the service document does not name ${set}`)
    let url = `${root}/${service.value.find(({ name }) => name === set).url}`
    while (url !== undefined) {
      const feed = await read(oData, url, undefined, metadata)
      for (const entity of feed.value) comparison.take(entity)
      url = feed['@odata.nextLink']
    }
  }
}

function read(oData, requestUri, handler, metadata) {
  const headers = {
    'OData-MaxVersion': '4.0',
    Accept: handler ? 'application/xml' : 'application/json',
    // In Node it cuts characters in two where a long answer comes in pieces.
    Prefer: 'odata.maxpagesize=100',
  }
  return new Promise((resolve, reject) =>
    oData.read(
      { requestUri, headers },
      data => resolve(data),
      error =>
        reject(
          new Error(`${error.message} ${error.response?.statusCode} ${error.response?.body?.slice(0, 300)}`),
        ),
      handler,
      undefined,
      metadata,
    ),
  )
}
