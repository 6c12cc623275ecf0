import { TableClient } from '@azure/data-tables'

/**
 * The client of a service of OData 3.0 that pages by headers of its own: the next link is carried over into them and
 * back by a policy.
 */
const nextLinks = {
  name: 'nextLinks',
  async sendRequest(request, next) {
    const url = new URL(request.url)
    const token = url.searchParams.get('NextPartitionKey')
    if (token !== null) {
      url.searchParams.delete('NextPartitionKey')
      url.searchParams.delete('NextRowKey')
      url.searchParams.set('$skiptoken', token)
      request.url = url.href
    }
    const response = await next(request)
    const link = /"odata\.nextLink":"([^"]+)"/.exec(response.bodyAsText ?? '')?.[1]
    const passed = link === undefined ? null : new URL(link).searchParams.get('$skiptoken')
    if (passed !== null) {
      response.headers.set('x-ms-continuation-nextpartitionkey', passed)
      response.headers.set('x-ms-continuation-nextrowkey', passed)
    }
    return response
  },
}

/** JSON light of 3.0. */
export async function azureDataTables(base, sets) {
  for (const [set, comparison] of sets) {
    const client = new TableClient(`${base}/api/odata`, set, {
      allowInsecureConnection: true,
      additionalPolicies: [{ policy: nextLinks, position: 'perRetry' }],
    })
    for await (const entity of client.listEntities()) comparison.take(entity)
  }
}
