import type { Generation } from '../../formats/export-formats.ts'
import type { ParameterName } from './parameters.ts'
import type { SourceName } from './present.ts'

/** The answer of an operation: a named schema, a file in a selectable format, or any file. */
export type OperationAnswer =
  | { readonly type: 'json'; readonly schema: string }
  | { readonly type: 'export' | 'file' }

/** One address of the API. */
export interface ApiOperation {
  readonly id: string
  /** What it addresses: a list of datasets or one dataset. */
  readonly tag: 'Catalog' | 'Dataset'
  /** Where the datasets are; in the catalog by default. */
  readonly source?: SourceName
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly answer: OperationAnswer
  /** The one format, or the profiles of DCAT, that it writes, if its parameters are specific to them. */
  readonly format?: string
  readonly parameters: (generation: Generation) => readonly ParameterName[]
}

/** A row of the table of operations; those below a dataset are about it. */
type OperationRow = Omit<ApiOperation, 'tag' | 'parameters'> & Partial<Pick<ApiOperation, 'parameters'>>

/** Prefix of the names of the DCAT profiles. */
export const DCAT_PROFILES = 'dcat_'

const LOCALE = ['lang', 'timezone'] as const
const FILTERS = ['where', 'qv1', 'refine', 'exclude'] as const

/** Parameters of a list: with groups where the generation has them. */
function listed(generation: Generation, isGrouped: boolean): readonly ParameterName[] {
  const clauses = isGrouped
    ? (['select', 'group_by', 'order_by'] as const)
    : (['select', 'order_by'] as const)
  const limit = generation === 'explore-v2.1' ? 'all_groups_limit' : 'grouped_limit'
  const page = isGrouped ? ([limit, 'grouped_offset'] as const) : (['limit', 'offset'] as const)
  const old = generation === 'search-v2' ? (['sort', 'rows', 'start', 'include_app_metas'] as const) : []
  return [...clauses, ...FILTERS, ...page, ...old, ...LOCALE, ...more(generation)]
}

function more(generation: Generation): readonly ParameterName[] {
  return generation === 'explore-v2.1' ? ['include_links', 'include_app_metas'] : []
}

function exported(generation: Generation): readonly ParameterName[] {
  const groups = generation === 'explore-v2.1' ? (['group_by'] as const) : []
  return ['select', ...groups, 'order_by', ...FILTERS, 'export_limit', 'export_offset', ...LOCALE]
}

function exportedCatalog(generation: Generation): readonly ParameterName[] {
  return [...exported(generation), 'use_labels', 'compressed']
}

/** Parameters of tables of text; the later generation begins them with a byte order mark. */
function csv(generation: Generation): readonly ParameterName[] {
  const mark = generation === 'explore-v2.1' ? 'with_bom_usually' : 'with_bom'
  return ['delimiter', 'list_separator', 'quote_all', mark]
}

function gpx(generation: Generation): readonly ParameterName[] {
  const extension = generation === 'explore-v2.1' ? 'use_extension_usually' : 'use_extension'
  return ['name_field', 'description_field_list', extension]
}

/** Parameters of the list of a source as a file: it contains whole datasets. */
function exportedWhole(generation: Generation): readonly ParameterName[] {
  return exported(generation).filter(name => name !== 'select' && name !== 'group_by')
}

const json = (schema: string): OperationAnswer => ({ type: 'json', schema })
const exportFile: OperationAnswer = { type: 'export' }
const DATASET = '/catalog/datasets/{dataset_id}'

/** The operations on the catalog and its datasets, and the entry points of all sources. */
const ROWS: readonly OperationRow[] = [
  {
    id: 'getRoot',
    path: '/',
    summary: 'Entry point',
    description: 'Links to the sources of datasets: the catalog, monitoring and the network.',
    answer: json('links'),
  },
  {
    id: 'getCatalog',
    path: '/catalog',
    summary: 'The catalog as a source',
    description: 'Links to the resources of the catalog.',
    answer: json('links'),
  },
  {
    id: 'getMonitoring',
    source: 'monitoring',
    path: '/monitoring',
    summary: 'Monitoring as a source',
    description:
      'Links to the monitoring datasets: the same resources as below `/catalog` are below this path.',
    answer: json('links'),
  },
  {
    id: 'getNetwork',
    source: 'network',
    path: '/network',
    summary: 'Other portals as a source',
    description:
      'Links to the datasets of other portals: the same resources as below `/catalog` are below this path.',
    answer: json('links'),
  },
  {
    id: 'getDatasets',
    path: '/catalog/datasets',
    summary: 'Query the catalog',
    description: 'The datasets that match a condition, in pages.',
    answer: json('datasets'),
    parameters: generation => listed(generation, generation === 'explore-v2.1'),
  },
  {
    id: 'queryDatasets',
    path: '/catalog/query',
    summary: 'Query the catalog, without wrappers',
    description: 'The datasets that match a condition, or groups of them, each as a plain object.',
    answer: json('results'),
    parameters: generation => listed(generation, true),
  },
  {
    id: 'aggregateDatasets',
    path: '/catalog/aggregates',
    summary: 'Aggregate the catalog',
    description: 'Counts and other aggregates of the datasets, in total or by group.',
    answer: json('aggregations'),
    parameters: () => ['figures', 'group_by', 'figure_order', ...FILTERS, 'group_limit', ...LOCALE],
  },
  {
    id: 'getDatasetsFacets',
    path: '/catalog/facets',
    summary: 'Facets of the catalog',
    description: 'The values of the facets with the number of datasets that have each.',
    answer: json('facets'),
    parameters: () => ['facet', ...FILTERS, 'timezone'],
  },
  {
    id: 'listExportFormats',
    path: '/catalog/exports',
    summary: 'Export formats of the catalog',
    description: 'A link for each format in which the catalog can be exported.',
    answer: json('export_formats'),
  },
  {
    id: 'exportDatasets',
    path: '/catalog/exports/{format}',
    summary: 'Download the catalog',
    description: 'All datasets that match a condition, as a file.',
    answer: exportFile,
    parameters: exportedCatalog,
  },
  {
    id: 'exportCatalogCSV',
    path: '/catalog/exports/csv',
    summary: 'Download the catalog as CSV',
    description: 'A CSV file; takes the parameters that only CSV has.',
    answer: exportFile,
    format: 'csv',
    parameters: csv,
  },
  {
    id: 'exportCatalogDCAT',
    path: '/catalog/exports/dcat{dcat_ap_format}',
    summary: 'Download the catalog in a profile of DCAT',
    description: 'RDF in an application profile of DCAT, as national and European portals exchange it.',
    answer: exportFile,
    format: DCAT_PROFILES,
    parameters: () => ['include_exports', 'use_labels_in_exports'],
  },
  {
    id: 'getDataset',
    path: DATASET,
    summary: 'One dataset',
    description: 'The fields and the metadata of a dataset.',
    answer: json('dataset'),
    parameters: generation => ['select', ...LOCALE, ...more(generation)],
  },
  {
    id: 'getRecords',
    path: `${DATASET}/records`,
    summary: 'Query records',
    description: 'The records that match a condition, in pages, or groups of them.',
    answer: json('records'),
    parameters: generation => listed(generation, true),
  },
  {
    id: 'queryRecords',
    path: `${DATASET}/query`,
    summary: 'Query records, without wrappers',
    description: 'The records that match a condition, or groups of them, each as a plain object.',
    answer: json('results'),
    parameters: generation => listed(generation, true),
  },
  {
    id: 'aggregateRecords',
    path: `${DATASET}/aggregates`,
    summary: 'Aggregate records',
    description: 'Counts, sums, means and other aggregates of the records, in total or by group.',
    answer: json('aggregations'),
    parameters: () => ['figures', 'group_by', 'figure_order', ...FILTERS, 'group_limit', ...LOCALE],
  },
  {
    id: 'getRecord',
    path: `${DATASET}/records/{record_id}`,
    summary: 'One record',
    description: 'A record by its id.',
    answer: json('record'),
    parameters: generation => ['select', ...LOCALE, ...more(generation)],
  },
  {
    id: 'getRecordsFacets',
    path: `${DATASET}/facets`,
    summary: 'Facets of a dataset',
    description: 'The values of the facets with the number of records that have each.',
    answer: json('facets'),
    parameters: () => ['facet', ...FILTERS, ...LOCALE],
  },
  {
    id: 'listDatasetExportFormats',
    path: `${DATASET}/exports`,
    summary: 'Export formats of a dataset',
    description: 'A link for each format in which the dataset can be exported.',
    answer: json('export_formats'),
  },
  {
    id: 'exportRecords',
    path: `${DATASET}/exports/{format}`,
    summary: 'Download records',
    description: 'All records that match a condition, as a file.',
    answer: exportFile,
    parameters: generation => [...exportedCatalog(generation), 'epsg'],
  },
  {
    id: 'exportRecordsCSV',
    path: `${DATASET}/exports/csv`,
    summary: 'Download records as CSV',
    description: 'A CSV file; takes the parameters that only CSV has.',
    answer: exportFile,
    format: 'csv',
    parameters: generation => [...csv(generation), 'use_labels', 'compressed'],
  },
  {
    id: 'exportRecordsParquet',
    path: `${DATASET}/exports/parquet`,
    summary: 'Download records as Parquet',
    description: 'A Parquet file; takes the parameters that only Parquet has.',
    answer: exportFile,
    format: 'parquet',
    parameters: () => ['parquet_compression'],
  },
  {
    id: 'exportRecordsGPX',
    path: `${DATASET}/exports/gpx`,
    summary: 'Download records as GPX',
    description: 'A GPX file of waypoints; takes the parameters that only GPX has.',
    answer: exportFile,
    format: 'gpx',
    parameters: gpx,
  },
  {
    id: 'getDatasetAttachments',
    path: `${DATASET}/attachments`,
    summary: 'Attachments',
    description: 'The files that the publisher provides in addition to the records.',
    answer: json('attachments'),
  },
  {
    id: 'getAttachment',
    path: `${DATASET}/attachments/{attachment_id}`,
    summary: 'One attachment',
    description: 'The file itself.',
    answer: { type: 'file' },
  },
  {
    id: 'listMetadataTemplateTypes',
    path: '/catalog/metadata_templates',
    summary: 'Types of metadata templates',
    description: 'A link for each type.',
    answer: json('links'),
  },
  {
    id: 'listMetadataTemplates',
    path: '/catalog/metadata_templates/{type}',
    summary: 'Metadata templates',
    description: 'The templates of a type, each with its entries.',
    answer: json('templates'),
  },
  {
    id: 'getMetadataTemplate',
    path: '/catalog/metadata_templates/{type}/{template}',
    summary: 'One metadata template',
    description: 'The metadata that a dataset can have by this template.',
    answer: json('one_template'),
  },
]

const ENTRANCES_AND_CATALOG = ROWS.map(
  (row): ApiOperation => ({
    tag: row.path.startsWith(`${DATASET}/`) ? 'Dataset' : 'Catalog',
    parameters: () => [],
    ...row,
  }),
)

/** Ids of the operations of the catalog that other sources share. */
const SHARED: ReadonlySet<string> = new Set([
  'getDatasets',
  'aggregateDatasets',
  'getDatasetsFacets',
  'listExportFormats',
  'exportDatasets',
  'getDataset',
  'getRecords',
  'aggregateRecords',
  'getRecord',
  'getRecordsFacets',
  'listDatasetExportFormats',
  'exportRecords',
  'exportRecordsCSV',
  'getDatasetAttachments',
])

const ABOUT = {
  monitoring: 'The datasets of this source describe how the portal is used.',
  network:
    'The datasets of this source are those of the portals of the network, named by their id, `@` and the domain of ' +
    'their portal; records of other portals come from there, and their files are JSON only.',
} as const

function sharedWith(source: keyof typeof ABOUT, operation: ApiOperation): ApiOperation {
  const { id, path, summary, description } = operation
  const own = source.charAt(0).toUpperCase() + source.slice(1)
  return {
    ...operation,
    source,
    id: id.replace(/^[a-z]+/, verb => verb + own),
    path: path.replace('/catalog', `/${source}`),
    summary: `${own}: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}`,
    description: `${description} ${ABOUT[source]}`,
    ...(id === 'exportDatasets' ? { parameters: exportedWhole } : {}),
  }
}

/** Every operation of the REST APIs (REST 2); a document contains those that its API serves. */
export const OPERATIONS: readonly ApiOperation[] = [
  ...ENTRANCES_AND_CATALOG,
  ...(['monitoring', 'network'] as const).flatMap(source =>
    ENTRANCES_AND_CATALOG.filter(({ id }) => SHARED.has(id)).map(operation => sharedWith(source, operation)),
  ),
]
