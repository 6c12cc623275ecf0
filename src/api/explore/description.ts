import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServedDataset } from '../../catalog/served.ts'
import { isFresh } from '../../http/conditional.ts'
import { answerJson } from '../../http/json.ts'
import { answerConsole } from '../../site/api-console.ts'
import type { CatalogRoute, DatasetRoute, ExploreEndpoint } from './endpoint.ts'
import { representativeDataset, type SampleRecords, takeSample } from './examples.ts'
import { apiDocument, datasetOpenApi } from './openapi.ts'

/**
 * The self-description of the API: an OpenAPI document of the whole API, one for each dataset with its fields and the
 * values of its facets, and for each a console where a user tries the calls.
 */
export function selfDescription(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const samples = new Samples(endpoint)

  for (const name of ['swagger.json', 'openapi.json']) {
    app.get<CatalogRoute>(`/${name}`, async (request, reply) => {
      const visible = endpoint.visible(request)
      const { entries } = visible.current()
      const version = entries.map(entry => `${entry.dataset.id} ${entry.version}`).join('\n')
      return answer(request, reply, version, async () => {
        const telling = representativeDataset(entries)
        const sample = telling === null ? null : await samples.of(telling)
        return apiDocument(app, endpoint, visible, sample)
      })
    })
    app.get<DatasetRoute>(`/catalog/datasets/:dataset/${name}`, async (request, reply) => {
      const entry = endpoint.dataset(request)
      return answer(request, reply, entry.version, async () =>
        datasetOpenApi(app, endpoint, await samples.of(entry)),
      )
    })
  }
  app.get('/console', (_, reply) => answerConsole(reply))
  app.get<DatasetRoute>('/catalog/datasets/:dataset/console', (request, reply) => {
    endpoint.dataset(request)
    return answerConsole(reply)
  })

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    version: string,
    document: () => Promise<unknown>,
  ): Promise<FastifyReply> {
    if (isFresh(request, reply, `${endpoint.place.root}\n${version}`)) return reply.code(304).send()
    return answerJson(reply, await document())
  }
}

/** The samples that examples are built from, queried once for each version of a dataset. */
class Samples {
  private readonly endpoint: ExploreEndpoint
  private readonly byId = new Map<
    string,
    { readonly version: string; readonly sample: Promise<SampleRecords> }
  >()

  constructor(endpoint: ExploreEndpoint) {
    this.endpoint = endpoint
  }

  of(entry: ServedDataset): Promise<SampleRecords> {
    const { dataset, version } = entry
    const known = this.byId.get(dataset.id)
    if (known?.version === version) return known.sample
    const sample = takeSample(this.endpoint, entry)
    this.byId.set(dataset.id, { version, sample })
    sample.catch(() => this.byId.delete(dataset.id))
    return sample
  }
}
