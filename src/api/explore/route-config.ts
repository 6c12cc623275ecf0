import type { FastifyInstance } from 'fastify'
import { configureRoutes, type RouteConfig } from '../../http/route-config.ts'
import { lookup } from '../../model/lookup.ts'
import type { Dialect } from '../../query/dialect.ts'

const GENERATIONS = {
  'search-v2': { endpoint: 'search', apiType: 'ods_v2' },
  'explore-v2.0': { endpoint: 'explore', apiType: 'ods_v2.0' },
  'explore-v2.1': { endpoint: 'explore', apiType: 'ods_v2.1' },
} as const satisfies Readonly<Record<Dialect['name'], RouteConfig>>

/** The operation that calls are recorded as, by their route below the source (REST 7.3). */
const OPERATIONS: Readonly<Record<string, string>> = {
  '': 'api_source',
  '/datasets': 'datasets_index',
  '/aggregates': 'aggregate_datasets',
  '/facets': 'datasets_facets',
  '/exports': 'datasets_exports_index',
  '/exports/:format': 'datasets_export',
  '/metadata_templates': 'metadata_template_index',
  '/metadata_templates/:type': 'metadata_template_type',
  '/metadata_templates/:type/:template': 'metadata_template_lookup',
  '/datasets/:dataset': 'dataset_lookup',
  '/datasets/:dataset/records': 'records_index',
  '/datasets/:dataset/records/:record': 'record_lookup',
  '/datasets/:dataset/aggregates': 'aggregate_records',
  '/datasets/:dataset/facets': 'records_facets',
  '/datasets/:dataset/exports': 'records_exports_index',
  '/datasets/:dataset/exports/:format': 'records_export',
  '/datasets/:dataset/query': 'records_index',
  '/query': 'datasets_index',
  '/datasets/:dataset/attachments': 'attachments_index',
  '/datasets/:dataset/attachments/:attachment': 'attachment_lookup',
}

/** Sets the configuration of the routes of a generation, with additional settings for those of an instance. */
export function configureExplore(
  app: FastifyInstance,
  generation: Dialect['name'],
  more: RouteConfig = {},
): void {
  configureRoutes(app, { ...GENERATIONS[generation], ...more })
  app.addHook('onRoute', route => {
    route.config = { ...recordedAs(route.routePath), ...route.config }
  })
}

function recordedAs(path: string): RouteConfig {
  if (path === '' || path === '/') return { operation: 'api_root' }
  const [, below] = /^\/(?:catalog|monitoring|network|opendatasoft)(\/.*)?$/.exec(path) ?? [null, path]
  const [, format] = /^\/datasets\/:dataset\/exports\/([^/:]+)$/.exec(below ?? '') ?? []
  if (format !== undefined) return { operation: 'records_export', format }
  const operation = lookup(OPERATIONS, below ?? '')
  return operation === undefined ? {} : { operation }
}
