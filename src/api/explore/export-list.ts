import type { FastifyInstance } from 'fastify'
import { type ExportFormat, exportFormats } from '../../formats/export-formats.ts'
import type { CatalogRoute, DatasetRoute, ExploreEndpoint } from './endpoint.ts'
import type { PageLink } from './present.ts'

export {
  EXPORT_FORMATS,
  type ExportFormat,
  exportFormats,
  type Generation,
  tableFormats,
} from '../../formats/export-formats.ts'

/** The lists of export formats: one link a format (REST 2.5). */
export function exportListRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const { dialect } = endpoint.options
  const { root } = endpoint.place

  app.get<CatalogRoute>('/catalog/exports', async (request, reply) => {
    const links = exportLinks(`${root}/catalog/exports`, exportFormats(dialect.name, 'catalog'))
    return endpoint.answer(request, reply, endpoint.executor(), { links })
  })

  app.get<DatasetRoute>('/catalog/datasets/:dataset/exports', async (request, reply) => {
    const { dataset } = endpoint.dataset(request)
    const home = `${root}/catalog/datasets/${dataset.id}/exports`
    const links = exportLinks(home, exportFormats(dialect.name, dataset.fields))
    return endpoint.answer(request, reply, endpoint.executor(), { links })
  })
}

/** A link to the list itself and one to the file in each format. */
export function exportLinks(
  home: string,
  formats: readonly Pick<ExportFormat, 'name'>[],
): readonly PageLink[] {
  return [
    { rel: 'self', href: home },
    ...formats.map(({ name }) => ({ rel: name, href: `${home}/${encodeURIComponent(name)}` })),
  ]
}
