import { pipeline } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ServedDataset } from '../../catalog/served.ts'
import { Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { type ExportFormat, exportFormats, TABLE_WRITERS } from '../../formats/export-formats.ts'
import { projector, WGS84 } from '../../formats/projection.ts'
import type { ExportOptions, Table, TableColumn } from '../../formats/table.ts'
import { invalid, refuseParameters } from '../../http/parameters.ts'
import { begun, streamed } from '../../http/pieces.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Route } from '../../http/route-config.ts'
import { ODSQL_ERROR } from '../../language/odsql/faults.ts'
import type { Dataset } from '../../model/dataset.ts'
import { lookup } from '../../model/lookup.ts'
import { titleOf } from '../../model/metadata.ts'
import { countExportedRows, exportObjects } from '../../query/execute/answer.ts'
import { columnsOf } from '../../query/execute/columns.ts'
import type { Executor } from '../../query/execute/executor.ts'
import { planOdsql } from '../../query/pipeline.ts'
import type { Query } from '../../query/plan.ts'
import type { ExploreEndpoint } from './endpoint.ts'
import type { PageLink } from './present.ts'
import { readExport, readExportPage } from './read-parameters.ts'

/** Maximum number of groups that are sorted by an aggregate (REST 6.5). */
const MAX_SORTED = 20_000

/** Formats in which the values of `json_format` are JSON. */
const JSON_FORMATS: ReadonlySet<string> = new Set(['json', 'jsonl', 'geojson'])

/** All rows of a query as a file in one of the formats of tables (REST 6.1). */
export function tableExportRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const { dialect } = endpoint.options
  const { source: home } = endpoint.place

  app.get<Route<'dataset' | 'format'>>(
    `/${home}/datasets/:dataset/exports/:format`,
    async (request, reply) => {
      const { query } = request
      const entry = endpoint.dataset(request)
      const { id, fields } = entry.dataset
      const name = request.params.format
      const format = exportFormats(dialect.name, fields).find(known => known.name === name)
      const writer = lookup(TABLE_WRITERS, name)
      if (format === undefined || writer === undefined)
        throw new Fault(NOT_FOUND_RESOURCE, { kind: 'export format', id: name.slice(0, 100) })
      if (!endpoint.isFlat) refuseParameters(query, ['group_by'], 'exports are grouped from v2.1 on')
      const options = readExport(query, endpoint.isFlat)
      if (options.epsg !== WGS84 && projector(options.epsg) === null)
        throw invalid('epsg', options.epsg, 'the EPSG code of a known reference system')
      const executor = endpoint.executor()
      const { plan, clauses } = planExport(query, entry, endpoint, executor)
      refuseLongOrder(plan)
      const columns = columnsOf(plan, dialect)
      refuseUnknown(options, columns)
      const style = { dialect, timezone: clauses.timezone, isJsonText: !JSON_FORMATS.has(name) }
      const requested = { target: entry.target, style }
      if (endpoint.isKnown(reply, `${entry.version} ${format.name}`)) return reply.code(304).send()
      const rows = await begun(exportObjects(plan, requested, executor))
      const table: Table = {
        name: id,
        title: titleOf(entry.dataset),
        columns,
        rows,
        count: () => countExportedRows(plan, requested, executor),
      }
      const escapesFormulas = endpoint.options.csvFormulas === 'escaped'
      const pieces = writer(table, { ...options, numericDates: !dialect.isoKeys, escapesFormulas })
      const { compressed } = options
      const file = { name: `${id}.${format.extension ?? name}`, mediaType: format.mediaType, compressed }
      return sendFile(reply, pieces, file, rows)
    },
  )
}

function refuseUnknown(
  { nameField, descriptionFields }: Pick<ExportOptions, 'nameField' | 'descriptionFields'>,
  columns: readonly TableColumn[],
): void {
  const known = columns.map(({ key }) => key)
  const expected = 'a field of the export'
  if (nameField !== null && !known.includes(nameField)) throw invalid('name_field', nameField, expected)
  const other = descriptionFields?.find(name => !known.includes(name))
  if (other !== undefined) throw invalid('description_field_list', other, expected)
}

function refuseLongOrder(plan: Query): void {
  const isSorted = plan.type === 'groups' && plan.orderBy.some(({ value }) => value.type !== 'key')
  if (!isSorted || plan.limit === null || plan.limit <= MAX_SORTED) return
  throw new Fault(ODSQL_ERROR, {
    reason: `aggregation function in order by is not supported with a limit > ${MAX_SORTED}. Please remove the order by or set a limit parameter lower than ${MAX_SORTED + 1}.`,
    clause: 'order_by',
  })
}

/**
 * The lists of export formats: one link a format (REST 2.5).
 *
 * @param listed the formats of the list of datasets
 * @param formatsOf those of a dataset
 */
export function exportListRoutes(
  app: FastifyInstance,
  endpoint: ExploreEndpoint,
  listed: readonly FormatName[],
  formatsOf: (dataset: Dataset) => readonly FormatName[],
): void {
  const { root, source } = endpoint.place
  const home = `${root}/${source}`

  app.get<Route>(`/${source}/exports`, async (_, reply) =>
    endpoint.answer(reply, { links: exportLinks(`${home}/exports`, listed) }),
  )

  app.get<Route<'dataset'>>(`/${source}/datasets/:dataset/exports`, async (request, reply) => {
    const { dataset } = endpoint.dataset(request)
    const links = exportLinks(`${home}/datasets/${dataset.id}/exports`, formatsOf(dataset))
    return endpoint.answer(reply, { links })
  })
}

type FormatName = Pick<ExportFormat, 'name'>

/** A link to the list itself and one to the file in each format. */
function exportLinks(home: string, formats: readonly FormatName[]): readonly PageLink[] {
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
  const stream = streamed(pieces, source)
  const disposition = (file: string) => `attachment; filename="${file}"`
  if (!compressed) return reply.type(mediaType).header('content-disposition', disposition(name)).send(stream)
  return reply
    .type('application/gzip')
    .header('content-disposition', disposition(`${name}.gz`))
    .send(pipeline(stream, createGzip(), () => undefined))
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
