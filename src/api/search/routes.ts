import { Readable } from 'node:stream'
import type { FastifyPluginAsync } from 'fastify'
import type { Catalog } from '../../catalog/catalog.ts'
import { turtle } from '../../formats/turtle.ts'
import { entityTag, isKnown } from '../../http/etag.ts'
import { answerFault, restBody } from '../../http/faults.ts'
import { datasetPrefixes } from '../../rdf/prefixes.ts'
import { recordTriples } from '../../records/triples.ts'
import type { Store } from '../../store/store.ts'

export interface SearchOptions {
  readonly catalog: Catalog
  readonly store: Store
  readonly base: string
}

interface ExportRoute {
  readonly Params: { readonly dataset: string }
}

/** What the Search API v2 has of its own: so far its Turtle export of a whole dataset (query API, "Record export"). */
export const search: FastifyPluginAsync<SearchOptions> = async (app, { catalog, store, base }) => {
  app.setErrorHandler(answerFault(restBody))

  app.get<ExportRoute>('/catalog/datasets/:dataset/exports/turtle', async (request, reply) => {
    const { dataset, version, target } = catalog.dataset(request.params.dataset)
    const tag = entityTag(version, 'turtle')
    reply.header('etag', tag).header('content-disposition', `attachment; filename="${dataset.id}.ttl"`)
    if (isKnown(request.headers['if-none-match'], tag)) return reply.code(304).send()
    const pieces = turtle(recordTriples(store, target), datasetPrefixes(base, dataset.id))
    return reply
      .type('text/turtle; charset=utf-8')
      .send(Readable.from(pieces, { objectMode: false, highWaterMark: 1 }))
  })
}
