import type { FastifyInstance } from 'fastify'
import { type ExportFormat, exportFormats } from '../../formats/export-formats.ts'
import type { CatalogRoute, DatasetRoute, Door } from './endpoint.ts'
import type { Link } from './present.ts'

export {
  EXPORT_FORMATS,
  type ExportFormat,
  exportFormats,
  type Generation,
  tableFormats,
} from '../../formats/export-formats.ts'

/** The lists of export formats: one link a format (query API, "Catalog export" and "Record export"). */
export function exportListRoutes(app: FastifyInstance, door: Door): void {
  const { dialect } = door.options
  const { root } = door.place

  app.get<CatalogRoute>('/catalog/exports', async (request, reply) => {
    const links = exportLinks(`${root}/catalog/exports`, exportFormats(dialect.name, 'catalog'))
    return door.answer(request, reply, door.asker(), { links })
  })

  app.get<DatasetRoute>('/catalog/datasets/:dataset/exports', async (request, reply) => {
    const { dataset } = door.dataset(request)
    const home = `${root}/catalog/datasets/${dataset.id}/exports`
    const links = exportLinks(home, exportFormats(dialect.name, dataset.fields))
    return door.answer(request, reply, door.asker(), { links })
  })
}

/** A link to the list itself and one to the file in each format. */
export function exportLinks(home: string, formats: readonly Pick<ExportFormat, 'name'>[]): readonly Link[] {
  return [
    { rel: 'self', href: home },
    ...formats.map(({ name }) => ({ rel: name, href: `${home}/${encodeURIComponent(name)}` })),
  ]
}
