import type { FastifyInstance } from 'fastify'
import type { ServedDataset } from '../../catalog/served.ts'
import { datasetShapes } from '../../catalog/shapes.ts'
import { descriptionAddress, shapesAddress } from '../../catalog/void.ts'
import { Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { entityTag, isFresh } from '../../http/conditional.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Principal } from '../../model/principal.ts'
import { descriptionFormat, writeDescription } from './formats.ts'

interface Context {
  readonly base: string
  readonly dataset: (id: string, principal: Principal, version: string | null) => ServedDataset
}

interface Route {
  readonly Params: { readonly dataset: string }
  readonly Querystring: QueryParameters
}

/** The SHACL shapes of a dataset at `/api/shapes/{dataset}` (Linked data 4.3). */
export function addShapes(app: FastifyInstance, { base, dataset }: Context): void {
  app.get<Route>('/api/shapes/:dataset', async (request, reply) => {
    const entry = dataset(request.params.dataset, request.principal, request.version)
    const { id } = entry.dataset
    const format = descriptionFormat(request.query, request.headers.accept)
    const shapes = datasetShapes(entry, base)
    if (shapes === null) throw new Fault(NOT_FOUND_RESOURCE, { kind: 'shapes graph', id })
    const links = [
      `<${shapesAddress(base, id)}>; rel="canonical"`,
      `<${descriptionAddress(base, id)}>; rel="describedby"`,
    ]
    reply.header('link', links.join(', '))
    if (isFresh(request, reply, entityTag(shapes), format.type)) return reply.code(304).send()
    return reply.type(`${format.type}; charset=utf-8`).send(await writeDescription(format, shapes))
  })
}
