import type { FastifyInstance } from 'fastify'
import { Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { exportFormats } from '../../formats/export-formats.ts'
import { projector, WGS84 } from '../../formats/projection.ts'
import type { Table } from '../../formats/table.ts'
import { TABLE_WRITERS } from '../../formats/writers.ts'
import { invalid, refuseParameters } from '../../http/parameters.ts'
import type { Route } from '../../http/route-config.ts'
import { ODSQL_ERROR } from '../../language/odsql/faults.ts'
import { lookup } from '../../model/lookup.ts'
import { titleOf } from '../../model/metadata.ts'
import { countExportedRows, exportObjects } from '../../query/execute/answer.ts'
import { columnsOf } from '../../query/execute/columns.ts'
import type { Query } from '../../query/plan.ts'
import type { ExploreEndpoint } from './endpoint.ts'
import { begunExport, planExport, sendFile } from './export-list.ts'
import { readExport } from './read-parameters.ts'

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
      refuseUnknown(
        options,
        columns.map(({ key }) => key),
      )
      const style = { dialect, timezone: clauses.timezone, isJsonText: !JSON_FORMATS.has(name) }
      const requested = { target: entry.target, style }
      if (endpoint.isKnown(reply, `${entry.version} ${format.name}`)) return reply.code(304).send()
      const rows = await begunExport(exportObjects(plan, requested, executor))
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
  {
    nameField,
    descriptionFields,
  }: { readonly nameField: string | null; readonly descriptionFields: readonly string[] | null },
  known: readonly string[],
): void {
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
