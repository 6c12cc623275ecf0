import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import vm from 'node:vm'
import { DOMParser, XMLSerializer } from '@xmldom/xmldom'

const require = createRequire(import.meta.url)

/** The client of OData 3.0 for browsers, in a window that is not one. */
function load() {
  const document = new DOMParser().parseFromString('<html/>', 'text/xml')
  const window = {
    DOMParser,
    XMLSerializer,
    document,
    setTimeout,
    clearTimeout,
    JSON,
    location: { protocol: 'http:', host: '' },
  }
  window.window = window
  vm.runInNewContext(readFileSync(require.resolve('datajs/lib/datajs.js'), 'utf8'), window)
  return window.OData
}

/** Requests as its own client makes them, by fetch; `seen` is told every body. */
const httpClient = seen => ({
  request({ requestUri, headers }, success, error) {
    const failed = reason => error({ message: String(reason) })
    fetch(requestUri, { headers })
      .then(async answer => {
        const named = Object.fromEntries(answer.headers)
        const response = {
          requestUri,
          statusCode: answer.status,
          statusText: answer.statusText,
          headers: { 'Content-Type': named['content-type'], DataServiceVersion: named.dataserviceversion },
          body: await answer.text(),
        }
        seen(response.body)
        if (answer.ok) success(response)
        else error({ message: `${answer.status} ${response.body.slice(0, 300)}` })
      }, failed)
      .catch(failed)
    return { abort() {} }
  },
})

async function readAll(base, sets, { service: serviceType, feed: feedType, listsOf }) {
  const OData = load()
  let body = ''
  const client = httpClient(text => {
    body = text
  })
  const read = (requestUri, Accept, handler, metadata) =>
    new Promise((resolve, reject) =>
      OData.read(
        { requestUri, headers: { Accept, MaxDataServiceVersion: '3.0' }, recognizeDates: true },
        resolve,
        error => reject(new Error(error.message)),
        handler,
        client,
        metadata,
      ),
    )
  const root = `${base}/api/odata`
  const metadata = await read(`${root}/$metadata`, 'application/xml', OData.metadataHandler)
  if (!(metadata.dataServices.schema.length > 0)) throw new Error('no schema was read')
  const service = await read(`${root}/`, serviceType)
  const places = new Map(
    service.workspaces
      .flatMap(({ collections }) => collections)
      .map(({ href }) => [decodeURIComponent(href.replace(/^.*\//, '')), href]),
  )
  for (const [set, comparison] of sets) {
    if (!places.has(set)) throw new Error(`the service document does not name ${set}`)
    let url = places.get(set)
    while (url !== undefined) {
      const feed = await read(url, feedType, undefined, metadata)
      const lists = listsOf(body)
      for (const [index, entity] of feed.results.entries())
        comparison.take(entity, name => lists[index]?.[name] ?? entity[name])
      url = feed.__next
    }
  }
}

/** Collections of the entries of a feed by name: this client knows none in Atom and keeps the last element of each. */
function collectionsOf(body) {
  const elements = node => Array.from(node.childNodes).filter(({ nodeType }) => nodeType === 1)
  const document = new DOMParser().parseFromString(body, 'text/xml')
  return Array.from(document.getElementsByTagName('m:properties')).map(properties =>
    Object.fromEntries(
      elements(properties)
        .filter(each => each.getAttribute('m:type').startsWith('Collection('))
        .map(each => [each.localName, elements(each).map(({ textContent }) => textContent)]),
    ),
  )
}

/** Feeds of Atom and a service document of AtomPub. */
export const datajsAtom = (base, sets) =>
  readAll(base, sets, {
    service: 'application/atomsvc+xml',
    feed: 'application/atom+xml',
    listsOf: collectionsOf,
  })

/** Verbose JSON. */
export const datajsVerbose = (base, sets) =>
  readAll(base, sets, {
    service: 'application/json;odata=verbose',
    feed: 'application/json;odata=verbose',
    listsOf: () => [],
  })
