import { nearest } from '../model/did-you-mean.ts'
import type { RdfFormat } from '../model/rdf-format.ts'
import { type DataFile, fileText, openData } from './data-file.ts'
import { flatgeobufSource } from './files/flatgeobuf.ts'
import { geopackageSource } from './files/geopackage.ts'
import { gpxSource } from './files/gpx.ts'
import { kmlSource } from './files/kml.ts'
import { odsGrid } from './files/ods.ts'
import { parquetSource } from './files/parquet.ts'
import { shapefileParts, shapefileSource } from './files/shapefile.ts'
import { spreadsheetmlGrid } from './files/spreadsheetml.ts'
import { cellRange } from './files/workbook.ts'
import { xlsxGrid } from './files/xlsx.ts'
import { xmlSource } from './files/xml.ts'
import {
  formatOf,
  rdfFormatNamed,
  SOURCE_FORMATS,
  type SourceFormat,
  type SourceOptions,
  UNDERSTOOD,
} from './formats.ts'
import { featureLinesSource, geojsonSource } from './json/geojson.ts'
import { jsonlSource, jsonSource } from './json/json.ts'
import { jsonGrid, membersSource } from './json/json-records.ts'
import { moduleSource } from './module.ts'
import { filesOfModule, moduleFiles, packageFile, pathWithin } from './packages.ts'
import { refuseWebPage, sniffFormat } from './sniff.ts'
import { misconfigured, type RecordSource } from './source.ts'
import { csvGrid, csvSource } from './tables/csv.ts'
import { alignedGrid } from './tables/fixed-width.ts'
import { type Grid, tableSource } from './tables/grid.ts'
import { encodingNamed } from './text/decode.ts'

export { formatOf, SOURCE_FORMATS, type SourceFormat, type SourceOptions } from './formats.ts'

/** The source in dataset.yaml: exactly one of path, package and module. */
export interface SourceSpec {
  readonly path?: string
  /** Path of a file in an installed npm package: `vega-datasets/data/airports.csv`. */
  readonly package?: string
  /** An installed npm package that exports an array. */
  readonly module?: string
  /** By default detected from the file name, or from its first bytes. */
  readonly format?: SourceFormat | RdfFormat
  readonly options?: SourceOptions
}

/** The folders that the paths of a source are relative to. */
export interface SourceFolders {
  readonly datasetFolder: string
  readonly portalFolder: string
}

/** The file of a source, with its format. */
export interface OpenedFile {
  readonly path: string
  readonly data: DataFile
  readonly format: SourceFormat | RdfFormat
}

/**
 * Opens a source; only the first bytes of its data are read yet. Throws ConfigInvalid for an invalid spec, or one that leads out
 * of the dataset's folder, and SourceUnreadable for a file or package that is missing or is no data.
 */
export function openSource(spec: SourceSpec, from: SourceFolders): RecordSource {
  const place = placeOf(spec)
  const options = spec.options ?? {}
  if (place.kind === 'module') {
    checkOptions(options, 'module')
    return moduleSource(place.path, from.portalFolder, options.records)
  }
  const given = spec.format ?? formatOf(place.path)
  if (given !== undefined && isRecordFormat(given)) checkOptions(options, given)
  const opened = openFile(spec, from)
  const { format } = opened
  if (!isRecordFormat(format))
    throw misconfigured(
      `${JSON.stringify(format)} is not a format of records.`,
      `format: ${SOURCE_FORMATS.join(', ')}`,
      'format',
    )
  checkOptions(options, format)
  return sourceOf(opened, format, options)
}

/** Opens the file of a source; its format is the declared one, else detected from its bytes and its name. */
export function openFile(spec: SourceSpec, from: SourceFolders): OpenedFile {
  const place = placeOf(spec)
  const path = fileOf(place, from)
  const data = openData(path, place.path, spec.options?.file)
  const encoding = encodingNamed(spec.options?.encoding ?? '')
  if (spec.format === 'csv' || spec.format === 'tsv') refuseWebPage(data, encoding)
  const format = spec.format ?? sniffFormat(data, formatOf(data.base) ?? rdfFormatNamed(data.base), encoding)
  return { path, data, format }
}

/**
 * Absolute paths of the files that determine whether a source changed: the file itself, with the other parts of a shapefile; for
 * a module its package.json, its entry file, and the files at the top of its package.
 */
export function sourceFiles(spec: SourceSpec, from: SourceFolders): readonly string[] {
  const place = placeOf(spec)
  if (place.kind === 'module') return filesOfModule(moduleFiles(place.path, from.portalFolder))
  const path = fileOf(place, from)
  return /\.shp$/i.test(path) ? [path, ...shapefileParts(path)] : [path]
}

/** True for a format of records, false for the RDF syntaxes. */
export function isRecordFormat(format: string): format is SourceFormat {
  return (SOURCE_FORMATS as readonly string[]).includes(format)
}

interface Place {
  readonly kind: 'path' | 'package' | 'module'
  readonly path: string
}

function placeOf(spec: SourceSpec): Place {
  const kinds = ['path', 'package', 'module'] as const
  const places = kinds.flatMap(kind => (spec[kind] === undefined ? [] : [{ kind, path: spec[kind] }]))
  const [place] = places
  if (place === undefined || places.length > 1)
    throw misconfigured('A source has exactly one of path, package and module.')
  return place
}

function fileOf(place: Place, from: SourceFolders): string {
  return place.kind === 'package'
    ? packageFile(place.path, from.portalFolder)
    : pathWithin(from.datasetFolder, place.path)
}

function sourceOf(opened: OpenedFile, format: SourceFormat, options: SourceOptions): RecordSource {
  const { data, path } = opened
  const encoding = encodingOf(options)
  const text = () => fileText(data, encoding)
  switch (format) {
    case 'csv':
    case 'tsv':
      if (isMessy(options)) return tableSource(gridOf(opened, format, options), layoutOf(options))
      return csvSource(text(), delimiterOf(options) ?? (format === 'tsv' ? '\t' : undefined))
    case 'json':
      if (options.header !== undefined) return tableSource(gridOf(opened, format, options), layoutOf(options))
      return options.records?.endsWith('/*') === true
        ? membersSource(text(), options.records.slice(0, -2))
        : jsonSource(text(), options.records)
    case 'jsonl':
      return featureLinesSource(jsonlSource(text()))
    case 'geojson':
      return geojsonSource(text(), options.records)
    case 'xlsx':
    case 'ods':
    case 'spreadsheetml':
      return tableSource(gridOf(opened, format, options), layoutOf(options))
    case 'parquet':
      return parquetSource(data)
    case 'shapefile':
      return shapefileSource(data, path, encoding)
    case 'geopackage':
      return geopackageSource(data, options.sheet)
    case 'flatgeobuf':
      return flatgeobufSource(data)
    case 'kml':
      return kmlSource(data)
    case 'gpx':
      return gpxSource(data)
    case 'xml':
      return xmlSource(data, options.records)
  }
}

/** Formats of rows of cells, whose table has to be found between titles and notes. */
export const GRID_FORMATS = ['csv', 'tsv', 'json', 'xlsx', 'ods', 'spreadsheetml'] as const

export type GridFormat = (typeof GRID_FORMATS)[number]

/** The rows of cells of a file, including header and titles. Throws ConfigInvalid for an invalid range. */
export function gridOf({ data }: OpenedFile, format: GridFormat, options: SourceOptions): Grid {
  const range = cellRange(options.range)
  if (range === undefined)
    throw misconfigured(
      `${JSON.stringify(options.range)} is no range of cells.`,
      'options: { range: B3:F200 }',
      'options.range',
    )
  switch (format) {
    case 'csv':
    case 'tsv': {
      const delimiter = delimiterOf(options) ?? (format === 'tsv' ? '\t' : ',')
      const { quote, widths } = options
      if (widths !== undefined) return alignedGrid(fileText(data, encodingOf(options)), widths)
      return csvGrid(fileText(data, encodingOf(options)), {
        delimiter,
        ...(quote === undefined ? {} : { quote }),
      })
    }
    case 'json':
      return jsonGrid(fileText(data, encodingOf(options)), options.records ?? '', options.header !== 0)
    case 'xlsx':
      return xlsxGrid(data, options, range)
    case 'ods':
      return odsGrid(data, options, range)
    case 'spreadsheetml':
      return spreadsheetmlGrid(data, options, range)
  }
}

/** True if options select a table that is not the whole file: it is then read leniently. */
function isMessy({ header, footer, quote, widths }: SourceOptions): boolean {
  return header !== undefined || widths !== undefined || footer !== undefined || quote !== undefined
}

function layoutOf({ header = 1, footer = 0 }: SourceOptions) {
  return { header, footer }
}

function delimiterOf({ delimiter }: SourceOptions): string | undefined {
  return delimiter === '\\t' ? '\t' : delimiter
}

function checkOptions(options: SourceOptions, kind: SourceFormat | 'module'): void {
  const understood: readonly string[] = kind === 'module' ? UNDERSTOOD.module : [...UNDERSTOOD[kind], 'file']
  for (const option of Object.keys(options)) {
    if (understood.includes(option)) continue
    const near = nearest(option, understood)
    throw misconfigured(
      `The option ${JSON.stringify(option)} means nothing for ${kind}.`,
      near === undefined ? `Options: ${understood.join(', ')}` : `Did you mean ${near}?`,
      `options.${option}`,
    )
  }
  const { delimiter, quote } = options
  if (delimiter !== undefined && delimiter !== '\\t' && (delimiter.length !== 1 || /["\r\n]/.test(delimiter)))
    throw misconfigured(
      'A delimiter is one character, no quote and no line end.',
      undefined,
      'options.delimiter',
    )
  if (quote !== undefined && (quote.length > 1 || quote === delimiter))
    throw misconfigured(
      'A quote is one character and not the delimiter, or an empty text for none.',
      undefined,
      'options.quote',
    )
  encodingOf(options)
}

/** The declared encoding, as named by `encodingNamed`; undefined without one. Throws ConfigInvalid for an unknown one. */
export function encodingOf(options: SourceOptions): string | undefined {
  if (options.encoding === undefined) return undefined
  const encoding = encodingNamed(options.encoding)
  if (encoding !== undefined) return encoding
  throw misconfigured(
    `The encoding ${JSON.stringify(options.encoding)} is not known.`,
    'encoding: utf-8, utf-16le, latin-1, windows-1250, macintosh, shift_jis or another of the Encoding Standard',
    'options.encoding',
  )
}
