import { lookup } from '../model/lookup.ts'
import type { RdfFormat } from '../model/rdf-format.ts'
import { words } from '../model/words.ts'

/** The formats of files with records, and their extensions. */
const EXTENSIONS_OF = {
  csv: 'csv txt',
  tsv: 'tsv tab',
  json: 'json',
  jsonl: 'jsonl ndjson geojsonl geojsons',
  geojson: 'geojson',
  xlsx: 'xlsx xlsm',
  ods: 'ods',
  spreadsheetml: 'xls',
  parquet: 'parquet geoparquet pq',
  shapefile: 'shp',
  geopackage: 'gpkg sqlite db',
  flatgeobuf: 'fgb',
  kml: 'kml',
  gpx: 'gpx',
  xml: 'xml',
} as const

/** A format of files with records. */
export type SourceFormat = keyof typeof EXTENSIONS_OF

export const SOURCE_FORMATS = Object.keys(EXTENSIONS_OF) as readonly SourceFormat[]

const EXTENSIONS: ReadonlyMap<string, SourceFormat> = new Map(
  SOURCE_FORMATS.flatMap(format => words(EXTENSIONS_OF[format]).map(extension => [extension, format])),
)

/** The format by file name, also with `.gz`; undefined for an unknown extension. */
export function formatOf(name: string): SourceFormat | undefined {
  const extension = /\.([a-z0-9]+)(?:\.gz)?$/i.exec(name)?.[1]?.toLowerCase()
  return extension === undefined ? undefined : EXTENSIONS.get(extension)
}

const RDF_EXTENSIONS: Readonly<Record<string, RdfFormat>> = {
  ttl: 'turtle',
  turtle: 'turtle',
  n3: 'turtle',
  nt: 'ntriples',
  nq: 'nquads',
  trig: 'trig',
  rdf: 'rdfxml',
  owl: 'rdfxml',
  jsonld: 'jsonld',
}

/** The endings of files of data. */
export const DATA_ENDINGS: readonly string[] = [...EXTENSIONS.keys(), ...Object.keys(RDF_EXTENSIONS)]

/** The RDF syntaxes, as named by `format`. */
export const RDF_FORMATS: readonly RdfFormat[] = [...new Set(Object.values(RDF_EXTENSIONS))]

/** The RDF syntax by file name, also with `.gz`; undefined for an unknown extension. */
export function rdfFormatNamed(name: string): RdfFormat | undefined {
  const extension = /\.([a-z0-9]+)(?:\.gz)?$/i.exec(name)?.[1]?.toLowerCase()
  return extension === undefined ? undefined : lookup(RDF_EXTENSIONS, extension)
}

/** Options for reading a source. */
export interface SourceOptions {
  /** One character, or \t for a tab, for CSV and TSV. */
  readonly delimiter?: string
  /** The quote character of CSV and TSV; an empty text if there is none. */
  readonly quote?: string
  /** Characters of each column but the last, `7, 14`, for a CSV whose columns are aligned with blanks. */
  readonly widths?: string
  /** utf-8, utf-16le, latin-1, macintosh, windows-1250 …; by default detected from the bytes. */
  readonly encoding?: string
  /** The line (for workbooks the row) of the header of a table; 0 if there is none. The first by default. */
  readonly header?: number
  /** Rows at the end of a table that are no records: totals, sources, notes. */
  readonly footer?: number
  /** Name or number (from 1) of the sheet of a workbook, or name of the layer of a GeoPackage. */
  readonly sheet?: string | number
  /** Cells of a sheet: `B3:F200`, `B:F`. */
  readonly range?: string
  /** Path of the data member of a ZIP archive. */
  readonly file?: string
  /** JSON Pointer to the array of records, for JSON, GeoJSON and modules; path of the element of a record, for XML. */
  readonly records?: string
}

const TABLE = ['header', 'footer'] as const

/** Options that each kind of source supports; all kinds of files support `file`. */
export const UNDERSTOOD: Readonly<Record<SourceFormat | 'module', readonly (keyof SourceOptions)[]>> = {
  csv: ['delimiter', 'quote', 'widths', 'encoding', ...TABLE],
  tsv: ['delimiter', 'quote', 'widths', 'encoding', ...TABLE],
  json: ['encoding', 'records', ...TABLE],
  jsonl: ['encoding'],
  geojson: ['encoding', 'records'],
  xlsx: ['sheet', 'range', ...TABLE],
  ods: ['sheet', 'range', ...TABLE],
  spreadsheetml: ['sheet', 'range', ...TABLE],
  parquet: [],
  shapefile: ['encoding'],
  geopackage: ['sheet'],
  flatgeobuf: [],
  kml: [],
  gpx: [],
  xml: ['records'],
  module: ['records'],
}

/** True for an RDF syntax. */
export function isRdfFormat(format: string): format is RdfFormat {
  return (RDF_FORMATS as readonly string[]).includes(format)
}
