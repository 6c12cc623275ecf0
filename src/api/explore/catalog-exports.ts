import type { FastifyInstance } from 'fastify'
import type { CatalogEntry } from '../../catalog/catalog-dataset.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import type { VisibleDatasets } from '../../catalog/visible.ts'
import { Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { type CatalogDescription, dataJson, rss } from '../../formats/catalog-description.ts'
import { DCAT_PREFIXES, dcatTriples } from '../../formats/dcat.ts'
import { EXPORT_FORMATS, exportFormats, TABLE_WRITERS } from '../../formats/export-formats.ts'
import { rdfxml } from '../../formats/rdfxml.ts'
import type { Table, TableRow } from '../../formats/table.ts'
import { turtle } from '../../formats/turtle.ts'
import { setNoStore } from '../../http/conditional.ts'
import { invalid, many, refuseParameters } from '../../http/parameters.ts'
import { begun } from '../../http/pieces.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Route } from '../../http/route-config.ts'
import { lookup } from '../../model/lookup.ts'
import { type AnswerPage, answerQuery, countExportedRows, exportObjects } from '../../query/execute/answer.ts'
import { columnsOf, type ResultColumn } from '../../query/execute/columns.ts'
import { inTurns } from '../../runtime/work-client.ts'
import { type CatalogDescriptionOptions, describeCatalog } from './describe-catalog.ts'
import type { ExploreEndpoint } from './endpoint.ts'
import { sendFile } from './exports.ts'
import { datasetObject, presentDataset, splitSelect } from './present.ts'
import { type CatalogSource, readExport, readExportPage, readParameter } from './read-parameters.ts'

type CatalogWriter = (catalog: CatalogDescription) => AsyncIterable<string>

const dcatXml: CatalogWriter = catalog => rdfxml(dcatTriples(catalog), DCAT_PREFIXES)

/** The formats of catalogs but the national profiles of DCAT-AP, which are all answered with their common part, `rdf`. */
const CATALOG_WRITERS: Readonly<Record<string, CatalogWriter>> = {
  rss,
  'data.json': dataJson,
  ttl: catalog => turtle(dcatTriples(catalog), DCAT_PREFIXES),
  rdf: dcatXml,
}

/** Exports of all datasets that match a query (REST 6.2). */
export function catalogExportRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const { base, dialect, title, description = '' } = endpoint.options
  const { place } = endpoint

  app.get<Route<'format'>>('/catalog/exports/:format', async (request, reply) => {
    const { query } = request
    const { format: name } = request.params
    const format = exportFormats(dialect.name, 'catalog').find(known => known.name === name)
    const writeCatalog = name.startsWith('dcat') ? dcatXml : lookup(CATALOG_WRITERS, name)
    const writeTable = lookup(TABLE_WRITERS, name)
    if (format === undefined || (writeCatalog ?? writeTable) === undefined)
      throw new Fault(NOT_FOUND_RESOURCE, { kind: 'export format', id: name.slice(0, 100) })
    const { compressed, ...options } = readExport(query, endpoint.isFlat)
    const extension = format.extension ?? name
    const file = {
      name: extension === 'data.json' ? extension : `catalog.${extension}`,
      mediaType: format.mediaType,
      compressed,
    }
    setNoStore(reply)
    const visible = endpoint.visible(request)
    if (writeCatalog !== undefined) {
      const about = readDescriptionOptions(query, endpoint)
      const self = `${place.root}/catalog/exports/${name}`
      const portal = { base, title, description, place }
      const catalog = describeCatalog(await findEntries(query, endpoint, visible), self, {
        ...portal,
        ...about,
      })
      return sendFile(reply, inTurns(writeCatalog(catalog)), file)
    }
    const table = await catalogTable(query, endpoint, visible, name)
    const rows = await begun(table.rows)
    const pieces = writeTable?.({ ...table, rows }, { ...options, numericDates: !dialect.isoKeys }) ?? rows
    return sendFile(reply, pieces as AsyncIterable<string | Uint8Array>, file, rows)
  })
}

async function readQuery(query: QueryParameters, endpoint: ExploreEndpoint, visible: VisibleDatasets) {
  const source = await endpoint.catalogSource(visible, query)
  const { clauses, filter } = endpoint.readFiltered(query, source)
  const question = { ...clauses, filter, ...readExportPage(query) }
  return { source, question, context: endpoint.context(source, clauses), timezone: clauses.timezone }
}

async function findEntries(
  query: QueryParameters,
  endpoint: ExploreEndpoint,
  visible: VisibleDatasets,
): Promise<readonly ServedDataset[]> {
  refuseParameters(query, ['select', 'group_by'], 'this format describes whole datasets')
  const { dialect } = endpoint.options
  const executor = endpoint.executor()
  const { source, question, context, timezone } = await readQuery(query, endpoint, visible)
  const plan = endpoint.planCatalog({ ...question, select: 'datasetid' }, context, executor)
  const byId = new Map(source.entries.map(entry => [entry.dataset.id, entry]))
  const requested = { target: source.target, style: { dialect, timezone } }
  const { rows } = await answerQuery(plan, requested, executor)
  return rows.flatMap(({ id }) => byId.get(id ?? '') ?? [])
}

/** Reads which distributions of datasets are listed, and how (REST 6.2). */
function readDescriptionOptions(
  query: QueryParameters,
  endpoint: ExploreEndpoint,
): Pick<CatalogDescriptionOptions, 'formats' | 'useLabels'> {
  const generation = endpoint.options.dialect.name
  const known = EXPORT_FORMATS.filter(
    ({ sources, generations }) => sources.includes('dataset') && generations.includes(generation),
  ).map(({ name }) => name)
  const names = many(query, 'include_exports')
    .flatMap(text => text.split(','))
    .map(name => name.trim())
    .filter(name => name !== '')
  const unknown = names.find(name => !known.includes(name))
  if (unknown !== undefined) throw invalid('include_exports', unknown, `one of ${known.join(', ')}`)
  return {
    formats: names.length === 0 ? null : names,
    useLabels: readParameter(query, 'use_labels_in_exports'),
  }
}

interface CatalogTable extends Table {
  readonly rows: AsyncGenerator<readonly TableRow[]>
}

/** The catalog as a table: in JSON, datasets as in the list of datasets; in other formats, their metadata in columns. */
async function catalogTable(
  query: QueryParameters,
  endpoint: ExploreEndpoint,
  visible: VisibleDatasets,
  format: string,
): Promise<CatalogTable> {
  if (!endpoint.isFlat) refuseParameters(query, ['group_by'], 'exports are grouped from v2.1 on')
  const { dialect } = endpoint.options
  const { source, question, context, timezone } = await readQuery(query, endpoint, visible)
  const executor = endpoint.executor()
  const isJson = format === 'json' || format === 'jsonl'
  const { requested: select, shown: parts } = splitSelect(question.select, dialect)
  const plan = endpoint.planCatalog({ ...question, select }, context, executor)
  const isSelected = question.select !== undefined
  const requested = { target: source.target, style: { dialect, timezone, isJsonText: !isJson } }
  const about = { name: 'catalog', title: new URL(endpoint.options.base).host }
  const answer = async () => {
    const { rows, total } = await answerQuery(plan, requested, executor)
    return { total, rows: select === undefined ? rows.map(row => ({ ...row, object: {} })) : rows }
  }
  if (plan.type === 'records' && isJson) {
    const present = (entry: CatalogEntry, object: TableRow) => {
      const selected = isSelected ? { object, shown: parts } : undefined
      return presentDataset(
        entry,
        endpoint.presentation(query, entry, source.statistics),
        selected,
      ) as TableRow
    }
    return { ...about, columns: [], rows: describedRows(source, answer, present) }
  }
  const columns = columnsOf(plan, dialect)
  if (plan.type === 'records' && parts.length > 0) {
    const present = (entry: CatalogEntry, object: TableRow) => {
      const selected = { object, shown: parts }
      const described = datasetObject(entry, endpoint.presentation(query, entry), selected)
      return { ...described, ...Object.fromEntries(parts.map(part => [part, cellValue(described[part])])) }
    }
    const shown = parts.map((key): ResultColumn => {
      return { key, label: key, type: key === 'data_visible' ? 'boolean' : 'text', multivalued: false }
    })
    const cached = [...(select === undefined ? [] : columns), ...shown]
    return { ...about, columns: cached, rows: describedRows(source, answer, present) }
  }
  const cached = isSelected || plan.type === 'groups' ? columns : metaColumns(columns)
  const count = () => countExportedRows(plan, requested, executor)
  return { ...about, columns: cached, rows: exportObjects(plan, requested, executor), count }
}

/** A part of a dataset as the value of a table cell: JSON if it is no scalar. */
function cellValue(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}

/** The columns of templates, those of DCAT first, and the id of the dataset last (REST 6.2). */
function metaColumns(columns: readonly ResultColumn[]): readonly ResultColumn[] {
  const first = ['dcat', 'default']
  const rank = ({ key }: ResultColumn) => {
    const place = first.indexOf(key.slice(0, key.indexOf('.')))
    return place < 0 ? first.length : place
  }
  const metas = columns.filter(({ key }) => key.includes('.'))
  return [...metas.sort((a, b) => rank(a) - rank(b)), ...columns.filter(({ key }) => key === 'datasetid')]
}

async function* describedRows(
  source: CatalogSource,
  answer: () => Promise<AnswerPage>,
  present: (entry: CatalogEntry, object: TableRow) => TableRow,
): AsyncGenerator<readonly TableRow[]> {
  const byId = new Map(source.entries.map(entry => [entry.dataset.id, entry]))
  const { rows } = await answer()
  yield rows.flatMap(({ id, object }) => {
    const entry = byId.get(id ?? '')
    return entry === undefined ? [] : [present(entry, object)]
  })
}
