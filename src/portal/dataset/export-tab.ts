import { exportFormats } from '../../formats/export-formats.ts'
import { lookup } from '../../model/lookup.ts'
import { type Html, html } from '../../site/html.ts'
import { type LinkParameters, messageKey, type PageContext } from '../../site/page-context.ts'
import { hiddenFields, languageField, listOptions } from '../parts/form-fields.ts'
import { apiParameters, isEverything, selectionParameters } from '../selection.ts'
import { graphSizes, type Sizes, tableSizes } from './export-sizes.ts'
import { endpointAddress, endpointPaths, type Tab, type TabContext } from './tab.ts'

/** Number of records from which sizes of files are estimated. */
const SAMPLE = 100

const SEPARATORS = [
  { value: ';', label: messageKey('Semicolon') },
  { value: ',', label: messageKey('Comma') },
  { value: '\\t', label: messageKey('Tab') },
  { value: '|', label: messageKey('Bar') },
] as const

/** The records of a selection as files of every format that the API offers. */
export const exportTab: Tab = {
  name: 'export',
  label: 'Export',
  isFiltered: true,
  parameters: ['delimiter', 'use_labels'],
  render: async context => {
    const { pageContext, entry, selection } = context
    const offered = new Set(exportFormats('explore-v2.1', entry.dataset.fields).map(({ name }) => name))
    const groups = FORMAT_GROUPS.filter(({ isRdf }) => entry.content === 'records' || isRdf)
      .map(group => ({ ...group, formats: group.formats.filter(({ name }) => offered.has(name)) }))
      .filter(({ formats }) => formats.length > 0)
    const { total, sizes } = await measured(context, groups)
    const options = optionsOf(context)
    const cards = groups.map(group => formatGroup(context, group, sizes, options))
    return {
      body: html`${summary(context, total)}
${entry.content === 'records' ? optionsForm(context, options) : ''}
${cards}
<p class="take-away"><span>${pageContext.t('This page as')}</span> <a href="${endpointAddress(pageContext, endpointPaths(entry.dataset.id).exports, {}).href}">JSON</a></p>
${entry.content === 'rdf' || isEverything(selection) ? '' : html`<p class="soft">${pageContext.t('The addresses of these files contain the filter: when they are opened later, they have the records of that day.')}</p>`}`,
    }
  },
}

async function measured(
  { entry, queryService, source, selection, pageContext }: TabContext,
  groups: readonly FormatGroup[],
): Promise<{ readonly total: number; readonly sizes: Sizes }> {
  if (entry.content === 'rdf') return { total: 0, sizes: await graphSizes(entry) }
  const sample = await queryService.find(
    source,
    selection,
    { limit: SAMPLE, offset: 0 },
    pageContext.language,
  )
  const tables = groups.flatMap(({ isRdf, formats }) => (isRdf ? [] : formats.map(({ name }) => name)))
  const share = entry.statistics.records === 0 ? 1 : sample.total / entry.statistics.records
  const graphs = Object.entries(await graphSizes(entry)).map(
    ([name, size]) => [name, Math.round(size * share)] as const,
  )
  return {
    total: sample.total,
    sizes: { ...(await tableSizes(entry, sample, tables)), ...Object.fromEntries(graphs) },
  }
}

function summary({ pageContext, entry, selection }: TabContext, total: number): Html {
  const { t } = pageContext
  const text =
    entry.content === 'rdf'
      ? t.many('All of the dataset: {n} triple', 'All of the dataset: {n} triples', entry.triples)
      : isEverything(selection)
        ? t.many('All of the dataset: {n} record', 'All of the dataset: {n} records', total)
        : t.many('What is filtered: {n} record', 'What is filtered: {n} records', total)
  return html`<h2 class="first">${text}</h2>`
}

function optionsOf({ query }: TabContext): LinkParameters {
  const separator = SEPARATORS.find(({ value }) => value === query.delimiter)?.value
  return { delimiter: separator, use_labels: query.use_labels === 'true' ? 'true' : undefined }
}

function optionsForm({ pageContext, selection, path }: TabContext, options: LinkParameters): Html {
  const { t } = pageContext
  const named = (value: unknown) => (value === ';' ? '' : String(value ?? ''))
  const separators = listOptions(
    SEPARATORS.map(({ value, label }) => [named(value), t(label)]),
    named(options.delimiter),
  )
  const checked = options.use_labels === undefined ? '' : html` checked`
  return html`<form class="options" action="${pageContext.href(path('export'))}" method="get">${hiddenFields(selectionParameters({ ...selection, page: 1, view: {} }))}${languageField(pageContext)}
<label>${t('Separator of CSV')} <select name="delimiter">${separators}</select></label>
<label class="check"><input type="checkbox" name="use_labels" value="true"${checked}> ${t('Labels as names of columns')}</label>
<button class="plain">${t('Apply')}</button></form>`
}

function formatGroup(
  context: TabContext,
  { label, formats, isRdf = false }: FormatGroup,
  sizes: Sizes,
  options: LinkParameters,
): Html {
  const items = formats.map(
    format => html`<li>${formatCard(context, format, isRdf, lookup(sizes, format.name), options)}</li>
`,
  )
  return html`<h3>${context.pageContext.t(label)}</h3><ul class="exports">${items}</ul>`
}

function formatCard(
  { pageContext, entry, selection }: TabContext,
  { name, title, description }: ShownFormat,
  isRdf: boolean,
  size: number | undefined,
  options: LinkParameters,
): Html {
  const { t } = pageContext
  const parameters = {
    ...(entry.content === 'rdf' ? {} : apiParameters(selection)),
    ...(name === 'csv' ? options : isRdf ? {} : { use_labels: options.use_labels }),
  }
  const { href } = endpointAddress(
    pageContext,
    `${endpointPaths(entry.dataset.id).exports}/${name}`,
    parameters,
  )
  const about =
    size === undefined
      ? ''
      : html` <span class="size">${t('about {size}', { size: sizeText(pageContext, size) })}</span>`
  return html`<a href="${href}" rel="nofollow" download>${title}</a>${about}<p>${t(description.label)}</p>`
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

function sizeText({ number }: PageContext, bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  const value = bytes / 1000 ** power
  return number(value, {
    style: 'unit',
    unit: UNITS[power] ?? 'byte',
    // The short name of a byte has no plural.
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: value < 10 && power > 0 ? 1 : 0,
  })
}

interface FormatGroup {
  readonly label: string
  /** True for RDF, whose files have all triples of the records. */
  readonly isRdf?: boolean
  readonly formats: readonly ShownFormat[]
}

interface ShownFormat {
  /** Its name in addresses. */
  readonly name: string
  readonly title: string
  readonly description: { readonly label: string }
}

/** The formats that the page offers, in groups; the API defines which of them a dataset has. */
const FORMAT_GROUPS: readonly FormatGroup[] = [
  {
    label: 'Spreadsheets',
    formats: [
      format('csv', 'CSV', { label: 'Text with a separator: opens in every spreadsheet and program.' }),
      format('xlsx', 'Excel', { label: 'A workbook with typed cells, for Excel, LibreOffice and Numbers.' }),
    ],
  },
  {
    label: 'Maps and geographic information systems',
    formats: [
      format('geojson', 'GeoJSON', { label: 'For maps on the web, QGIS and most programs that draw maps.' }),
      format('shp', 'Shapefile', { label: 'A ZIP archive for ArcGIS, QGIS and older systems.' }),
      format('kml', 'KML', { label: 'For Google Earth and other globes.' }),
      format('gpx', 'GPX', { label: 'Waypoints for navigation devices and hiking maps.' }),
      format('fgb', 'FlatGeobuf', { label: 'Binary features: small, and quick to read for GDAL and QGIS.' }),
    ],
  },
  {
    label: 'Programs and analysis',
    formats: [
      format('json', 'JSON', { label: 'One array of objects, for programs of every language.' }),
      format('jsonl', 'JSON Lines', { label: 'One object a line: for streams and very large files.' }),
      format('parquet', 'Parquet', { label: 'Typed columns, for pandas, DuckDB, Spark and R.' }),
    ],
  },
  {
    label: 'Linked data (RDF)',
    isRdf: true,
    formats: [
      format('turtle', 'Turtle', { label: 'The triples in the syntax that is easiest to read.' }),
      format('n3', 'N-Triples', { label: 'One triple a line: quickest to load into a triple store.' }),
      format('jsonld', 'JSON-LD', { label: 'RDF for programs that read JSON.' }),
      format('rdfxml', 'RDF/XML', { label: 'RDF for tools that read XML.' }),
    ],
  },
]

function format(name: string, title: string, description: ShownFormat['description']): ShownFormat {
  return { name, title, description }
}
