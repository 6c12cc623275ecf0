import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { exportFormats } from '../../formats/export-formats.ts'
import { isFresh } from '../../http/conditional.ts'
import { answerFault, restBody } from '../../http/faults.ts'
import { answerVersions } from '../../http/memento.ts'
import { configureRoutes, type Route, type RouteConfig } from '../../http/route-config.ts'
import type { Attachment } from '../../model/dataset.ts'
import { lookup } from '../../model/lookup.ts'
import { type MetadataTemplate, TEMPLATE_TYPES, TEMPLATES } from '../../model/templates.ts'
import { attachmentNamed, type OpenAttachment, openAttachment } from '../../publishing/attachments.ts'
import type { Dialect } from '../../query/dialect.ts'
import { catalogExportRoutes } from './catalog-exports.ts'
import { selfDescription } from './description.ts'
import { ExploreEndpoint, type ExploreOptions } from './endpoint.ts'
import { exportListRoutes, tableExportRoutes } from './exports.ts'
import { rdfExportRoutes } from './rdf-exports.ts'
import { catalogRoutes, facetRoutes, recordRoutes } from './records.ts'

/**
 * The Explore API in its two generations (REST 1) and the
 * resources that the Search API v2 has in common with it: catalog, datasets, records, aggregates, facets, exports.
 */
export const explore: FastifyPluginAsync<ExploreOptions> = async (app, options) => {
  app.setErrorHandler(answerFault(restBody))
  configureExplore(app, options.dialect.name)
  if (options.versions !== undefined) answerVersions(app, options.versions)
  const endpoint = new ExploreEndpoint(options)
  catalogRoutes(app, endpoint)
  recordRoutes(app, endpoint)
  facetRoutes(app, endpoint)
  rootRoutes(app, endpoint)
  templateRoutes(app, endpoint)
  attachmentRoutes(app, endpoint)
  const { name } = options.dialect
  exportListRoutes(app, endpoint, exportFormats(name, 'catalog'), ({ fields }) => exportFormats(name, fields))
  catalogExportRoutes(app, endpoint)
  rdfExportRoutes(app, endpoint)
  tableExportRoutes(app, endpoint)
  selfDescription(app, endpoint)
}

/** The entry points of the Search API, and the links they return (REST 7.1). */
const SEARCH_ROOTS = {
  '/': ['catalog', 'monitoring', 'network'],
  '/catalog': ['datasets', 'exports', 'metadata_templates'],
}
const EXPLORE_ROOTS = {
  '/': ['catalog', 'monitoring', 'opendatasoft'],
  '/catalog': ['datasets', 'exports', 'facets'],
}

/** The entry points of an API: its sources, and the resources of the catalog (REST 7.1). */
export function rootRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const roots = endpoint.options.dialect.name === 'search-v2' ? SEARCH_ROOTS : EXPLORE_ROOTS
  for (const [path, relations] of Object.entries(roots)) {
    const home = `${endpoint.place.root}${path === '/' ? '' : path}`
    const links = [{ rel: 'self', href: home }, ...relations.map(rel => ({ rel, href: `${home}/${rel}` }))]
    app.get<Route>(path, async (_, reply) => endpoint.answer(reply, { links }))
  }
}

/** Metadata templates, which only the Search API v2 lists (REST 2.8). */
function templateRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  if (endpoint.options.dialect.name !== 'search-v2') return
  const home = `${endpoint.place.root}/catalog/metadata_templates`
  const up = { rel: 'metadata_templates', href: home }

  app.get<Route>('/catalog/metadata_templates', async (_, reply) => {
    const types = TEMPLATE_TYPES.map(({ type, label }) => ({ rel: label, href: `${home}/${type}` }))
    return endpoint.answer(reply, {
      links: [{ rel: 'self', href: home }, ...types],
    })
  })

  app.get<Route<'type'>>('/catalog/metadata_templates/:type', async (request, reply) => {
    const type = typeNamed(request.params.type)
    const body = {
      links: [{ rel: 'self', href: `${home}/${type}` }, up],
      metadata_templates: TEMPLATES.filter(each => each.type === type).map(template => ({
        links: [{ rel: 'self', href: `${home}/${type}/${template.name}` }],
        // The key is spelled like this in the answer that is specified, and nowhere else.
        matadata_template: template,
      })),
    }
    return endpoint.answer(reply, body)
  })

  app.get<Route<'type' | 'template'>>(
    '/catalog/metadata_templates/:type/:template',
    async (request, reply) => {
      const type = typeNamed(request.params.type)
      const template = templateNamed(type, request.params.template)
      const links = [
        { rel: 'self', href: `${home}/${type}/${template.name}` },
        { rel: type, href: `${home}/${type}` },
        up,
      ]
      return endpoint.answer(reply, { links, metadata_template: template })
    },
  )
}

function typeNamed(name: string): string {
  const found = TEMPLATE_TYPES.find(({ type }) => type === name)
  if (found === undefined) throw unknown('metadata template type', name)
  return found.type
}

function templateNamed(type: string, name: string): MetadataTemplate {
  const found = TEMPLATES.find(template => template.type === type && template.name === name)
  if (found === undefined) throw unknown('metadata template', name)
  return found
}

function unknown(kind: string, id: string): Fault {
  return new Fault(NOT_FOUND_RESOURCE, { kind, id: id.slice(0, 100) })
}

/** Attachments of datasets: their list and the files themselves (REST 2.6). */
function attachmentRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const { portal } = endpoint.options
  const datasets = `${endpoint.place.root}/catalog/datasets`

  app.get<Route<'dataset'>>('/catalog/datasets/:dataset/attachments', async (request, reply) => {
    const { dataset } = endpoint.dataset(request)
    const home = `${datasets}/${dataset.id}`
    const links = [
      { rel: 'self', href: `${home}/attachments` },
      { rel: 'dataset', href: home },
    ]
    const attachments = dataset.attachments.map(each => presentAttachment(each, `${home}/attachments`))
    return endpoint.answer(reply, { links, attachments })
  })

  app.get<Route<'dataset' | 'attachment'>>(
    '/catalog/datasets/:dataset/attachments/:attachment',
    async (request, reply) => {
      const { dataset } = endpoint.dataset(request)
      const { attachment: id } = request.params
      const attachment = attachmentNamed(dataset, id)
      if (attachment === undefined || portal === undefined) throw noAttachment(id)
      const file = await openAttachment(portal, dataset, attachment)
      if (file === null) {
        request.log.warn({ dataset: dataset.id, path: attachment.path }, 'attachment cannot be served')
        throw noAttachment(id)
      }
      if (isFresh(request, reply, file.version)) {
        await file.close()
        return reply.code(304).send()
      }
      return reply.headers(fileHeaders(attachment, file)).send(file.content())
    },
  )
}

/** One item of the list, in both generations (OpenAPI of v2.0 and v2.1, schema "attachment"). */
function presentAttachment({ id, title, mimetype }: Attachment, home: string): unknown {
  const href = `${home}/${encodeURIComponent(id)}`
  return { href, metas: { 'mime-type': mimetype, title, url: href, id } }
}

/**
 * A file comes from the publisher, so it is not trusted: browsers save it, and if one opens it nevertheless, it gets an
 * opaque origin and runs no scripts (CSP Level 3, section 6.3.2, "sandbox").
 */
function fileHeaders({ mimetype }: Attachment, { name, bytes }: OpenAttachment): Record<string, string> {
  return {
    'content-type': MEDIA_TYPE.test(mimetype) ? mimetype : 'application/octet-stream',
    'content-length': String(bytes),
    'content-disposition': contentDisposition(name),
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
  }
}

/** A media type with parameters: no other text of dataset.yaml may reach a header (RFC 9110, section 8.3.1). */
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?: *; *[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[\w !#$&^.+-]*"))*$/

/** A name for saving, once in ASCII and once whole (RFC 6266, section 4.3; RFC 8187). */
function contentDisposition(name: string): string {
  const plain = name.normalize('NFC').replace(/[^\w .()+-]/gu, '_')
  const escaped = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  const whole = encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, escaped)
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`
}

function noAttachment(id: string): Fault {
  return new Fault(NOT_FOUND_RESOURCE, { kind: 'attachment', id: id.slice(0, 100) })
}

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
