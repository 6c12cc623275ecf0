import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ServedDataset } from '../../catalog/served.ts'
import { type ExportFormat, exportFormats } from '../../formats/export-formats.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Route } from '../../http/route-config.ts'
import type { Executor } from '../../query/execute/executor.ts'
import { planOdsql } from '../../query/pipeline.ts'
import { forSameClient } from '../../runtime/work-client.ts'
import type { ExploreEndpoint } from './endpoint.ts'
import type { PageLink } from './present.ts'
import { readExportPage } from './read-parameters.ts'

/** The lists of export formats: one link a format (REST 2.5). */
export function exportListRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const { dialect } = endpoint.options
  const { root } = endpoint.place

  app.get<Route>('/catalog/exports', async (_, reply) => {
    const links = exportLinks(`${root}/catalog/exports`, exportFormats(dialect.name, 'catalog'))
    return endpoint.answer(reply, { links })
  })

  app.get<Route<'dataset'>>('/catalog/datasets/:dataset/exports', async (request, reply) => {
    const { dataset } = endpoint.dataset(request)
    const home = `${root}/catalog/datasets/${dataset.id}/exports`
    const links = exportLinks(home, exportFormats(dialect.name, dataset.fields))
    return endpoint.answer(reply, { links })
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

interface ExportFile {
  readonly name: string
  readonly mediaType: string
  /** The file itself is compressed with gzip. */
  readonly compressed: boolean
}

/**
 * Streams a file. An error after the first byte closes the connection, so that a truncated file never looks complete.
 *
 * @param source what the pieces are made of, if that has begun
 */
export function sendFile(
  reply: FastifyReply,
  pieces: AsyncIterable<string | Uint8Array>,
  { name, mediaType, compressed }: ExportFile,
  source?: AsyncIterator<unknown>,
): FastifyReply {
  const stream = Readable.from(forSameClient(pieces, source), { objectMode: false, highWaterMark: 64 * 1024 })
  const disposition = (file: string) => `attachment; filename="${file}"`
  if (!compressed) return reply.type(mediaType).header('content-disposition', disposition(name)).send(stream)
  return reply
    .type('application/gzip')
    .header('content-disposition', disposition(`${name}.gz`))
    .send(pipeline(stream, createGzip(), () => undefined))
}

/**
 * Waits for the first chunk: an error before it is thrown here, and answered as a fault. Who leaves before that chunk is read ends
 * the chunks as well, and what they have open.
 */
export async function begunExport<Piece>(pieces: AsyncGenerator<Piece>): Promise<AsyncGenerator<Piece>> {
  const next = pieces.next.bind(pieces)
  let first: IteratorResult<Piece> | null = await next()
  return Object.assign(pieces, {
    next: async () => {
      const result = first ?? (await next())
      first = null
      return result
    },
  })
}

/** The query of the records of a dataset for a file. */
export function planExport(
  query: QueryParameters,
  entry: ServedDataset,
  endpoint: ExploreEndpoint,
  executor: Executor,
) {
  const source = endpoint.datasetSource(entry)
  const { clauses, filter } = endpoint.readFiltered(query, source)
  const question = { ...clauses, ...readExportPage(query), filter }
  return { plan: planOdsql(question, endpoint.context(source, clauses), executor.watch), clauses }
}
