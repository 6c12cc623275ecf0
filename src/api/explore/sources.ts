import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import type { Monitoring } from '../../catalog/monitoring.ts'
import type { Network } from '../../catalog/network.ts'
import type { VisibleDatasets } from '../../catalog/visible.ts'
import { Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { tableFormats } from '../../formats/export-formats.ts'
import { jsonArray } from '../../formats/json.ts'
import { setNoStore } from '../../http/conditional.ts'
import { answerFault, restBody } from '../../http/faults.ts'
import { JSON_TYPE } from '../../http/json.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Route } from '../../http/route-config.ts'
import type { Dialect } from '../../query/dialect.ts'
import { exportObjects } from '../../query/execute/answer.ts'
import { planOdsql } from '../../query/pipeline.ts'
import { ExploreEndpoint, type ExploreOptions } from './endpoint.ts'
import { exportListRoutes, sendFile, tableExportRoutes } from './exports.ts'
import { type NetworkName, presentDataset } from './present.ts'
import { passOn } from './proxy.ts'
import { readExportPage, readParameter } from './read-parameters.ts'
import { catalogRoutes, facetRoutes, recordRoutes } from './records.ts'
import { configureExplore } from './routes.ts'

/** The sources other than the catalog. */
export interface Sources {
  readonly monitoring: Monitoring
  readonly network: Network
}

export interface SourcesOptions extends ExploreOptions {
  readonly sources: Sources
}

/** Names of the network: `network` only in the first generation, `opendatasoft` in all (REST 7.1). */
const NETWORK_NAMES = {
  'search-v2': ['network', 'opendatasoft'],
  'explore-v2.0': ['opendatasoft'],
  'explore-v2.1': ['opendatasoft'],
} as const satisfies Readonly<Record<Dialect['name'], readonly NetworkName[]>>

/**
 * The sources other than the catalog: usage statistics of the portal, and the datasets of other portals (REST 7).
 */
export const sources: FastifyPluginAsync<SourcesOptions> = async (app, options) => {
  app.setErrorHandler(answerFault(restBody))
  configureExplore(app, options.dialect.name, { isUse: false })
  const { monitoring, network } = options.sources
  await app.register(async scope => {
    scope.addHook('preHandler', request => monitoring.refresh(request.principal))
    sourceRoutes(
      scope,
      new ExploreEndpoint({ ...options, catalog: monitoring, source: 'monitoring' }),
      () => false,
    )
  })
  await app.register(async scope => {
    scope.addHook('preHandler', () => network.refresh())
    passOn(scope, network, options.path)
    const { usage } = options
    const counted = usage === undefined ? {} : { usage: (id: string) => usage(network.localId(id)) }
    for (const source of NETWORK_NAMES[options.dialect.name]) {
      const endpoint = new ExploreEndpoint({ ...options, ...counted, catalog: network, source })
      sourceRoutes(scope, endpoint, id => network.federated(id) !== null)
    }
  })
}

/**
 * The resources of a source: those of the catalog, except the files that only the catalog serves.
 *
 * @param isElsewhere true for the id of a dataset of another portal
 */
function sourceRoutes(
  app: FastifyInstance,
  endpoint: ExploreEndpoint,
  isElsewhere: (id: string) => boolean,
): void {
  const { root, source } = endpoint.place
  const home = `${root}/${source}`
  const links = ['', '/datasets', '/exports'].map(part => ({
    rel: part === '' ? 'self' : part.slice(1),
    href: home + part,
  }))
  app.get<Route>(`/${source}`, async (_, reply) => endpoint.answer(reply, { links }))
  catalogRoutes(app, endpoint)
  recordRoutes(app, endpoint)
  facetRoutes(app, endpoint)
  tableExportRoutes(app, endpoint)
  exportRoutes(app, endpoint, isElsewhere)
}

/** The export formats of lists of datasets, and of records of other portals. */
const JSON_ONLY = [{ name: 'json' }]

/** The list of datasets as a file, and the lists of exports (REST 7.1). */
function exportRoutes(
  app: FastifyInstance,
  endpoint: ExploreEndpoint,
  isElsewhere: (id: string) => boolean,
): void {
  const { dialect } = endpoint.options
  const { root, source } = endpoint.place
  const home = `${root}/${source}`

  exportListRoutes(app, endpoint, JSON_ONLY, ({ id, fields }) =>
    isElsewhere(id) ? JSON_ONLY : tableFormats(dialect.name, fields),
  )

  app.get<Route<'dataset'>>(`/${source}/datasets/:dataset/attachments`, async (request, reply) => {
    const { id } = endpoint.visible(request).dataset(request.params.dataset).dataset
    const links = [
      { rel: 'self', href: `${home}/datasets/${id}/attachments` },
      { rel: 'dataset', href: `${home}/datasets/${id}` },
    ]
    return endpoint.answer(reply, { links, attachments: [] })
  })

  app.get<Route<'format'>>(`/${source}/exports/:format`, async (request, reply) => {
    const { format } = request.params
    if (format !== 'json')
      throw new Fault(NOT_FOUND_RESOURCE, { kind: 'export format', id: format.slice(0, 100) })
    const { query } = request
    const described = await exportDatasets(query, endpoint, endpoint.visible(request))
    const compressed = readParameter(query, 'compressed')
    const file = { name: `${source}.json`, mediaType: JSON_TYPE, compressed }
    return sendFile(setNoStore(reply), jsonArray(described), file)
  })
}

/** The datasets of a source that match a query, each with its description, in bounded chunks. */
async function exportDatasets(
  query: QueryParameters,
  endpoint: ExploreEndpoint,
  visible: VisibleDatasets,
): Promise<AsyncIterable<readonly unknown[]>> {
  const executor = endpoint.executor()
  const { dialect } = endpoint.options
  const source = await endpoint.catalogSource(visible, query)
  const { clauses, filter } = endpoint.readFiltered(query, source)
  const all = { ...readExportPage(query), select: 'datasetid', groupBy: undefined }
  const plan = planOdsql({ ...clauses, ...all, filter }, endpoint.context(source, clauses), executor.watch)
  const byId = new Map(source.entries.map(entry => [entry.dataset.id, entry]))
  const found = exportObjects(
    plan,
    { target: source.target, style: { dialect, timezone: clauses.timezone } },
    executor,
  )
  const described = ({ datasetid }: Readonly<Record<string, unknown>>) => {
    const entry = byId.get(String(datasetid))
    return entry === undefined ? [] : [presentDataset(entry, endpoint.presentation(query, entry))]
  }
  return mapped(found, rows => rows.flatMap(described))
}

async function* mapped<From, To>(pieces: AsyncIterable<From>, map: (piece: From) => To): AsyncGenerator<To> {
  for await (const piece of pieces) yield map(piece)
}
