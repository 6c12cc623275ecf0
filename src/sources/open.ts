import { nearest } from '../model/nearest.ts'
import type { RdfFormat } from '../model/rdf-format.ts'
import { csvSource, tsvSource } from './csv.ts'
import { geojsonSource } from './geojson.ts'
import { jsonSource } from './json.ts'
import { jsonlSource } from './jsonl.ts'
import { moduleSource } from './module.ts'
import { filesOfModule, moduleFiles, packageFile, pathWithin } from './packages.ts'
import type { Source } from './source.ts'
import { ENCODINGS, encodingNamed, type TextFile } from './text.ts'
import { misconfigured } from './unreadable.ts'

/** Formats whose records are read from a file. */
export const SOURCE_FORMATS = ['csv', 'tsv', 'json', 'jsonl', 'geojson'] as const

/** A format whose records are read from a file. */
export type SourceFormat = (typeof SOURCE_FORMATS)[number]

/** How a source is to be read. */
export interface SourceOptions {
  /** One character, or \t for a tab, for CSV and TSV. */
  readonly delimiter?: string
  /** utf-8, utf-16le or latin-1; by default utf-8, or what the byte order mark says. */
  readonly encoding?: string
  /** JSON Pointer to the array of records, for JSON, GeoJSON and modules. */
  readonly records?: string
}

/** What dataset.yaml says of a source: exactly one of path, package and module. */
export interface SourceSpec {
  /** Path of a file, within the folder of the dataset. */
  readonly path?: string
  /** Path of a file in an installed npm package: `vega-datasets/data/airports.csv`. */
  readonly package?: string
  /** An installed npm package that exports an array. */
  readonly module?: string
  /** By default what the name of the file says. */
  readonly format?: SourceFormat | RdfFormat
  readonly options?: SourceOptions
}

/** Where the paths of a source begin. */
export interface SourceFolders {
  readonly datasetFolder: string
  readonly portalFolder: string
}

/** Options that a kind of source understands. */
const UNDERSTOOD: Readonly<Record<SourceFormat | 'module', readonly string[]>> = {
  csv: ['delimiter', 'encoding'],
  tsv: ['delimiter', 'encoding'],
  json: ['encoding', 'records'],
  jsonl: ['encoding'],
  geojson: ['encoding', 'records'],
  module: ['records'],
}

/** The format that the name of a file tells, also where it ends with `.gz`; undefined where it tells none. */
export function formatOf(name: string): SourceFormat | undefined {
  const extension = /\.([a-z]+)(?:\.gz)?$/i.exec(name)?.[1]?.toLowerCase()
  switch (extension) {
    case 'csv':
    case 'json':
    case 'jsonl':
    case 'geojson':
      return extension
    case 'tsv':
    case 'tab':
      return 'tsv'
    case 'ndjson':
      return 'jsonl'
    default:
      return undefined
  }
}

/**
 * Opens a source; nothing of it is read yet. Throws ConfigInvalid for a spec that does not make sense or leads out of
 * the dataset's folder, and SourceUnreadable for a file or package that is not there.
 */
export function openSource(spec: SourceSpec, from: SourceFolders): Source {
  const place = placeOf(spec)
  const options = spec.options ?? {}
  if (place.kind === 'module') {
    checkOptions(options, 'module')
    return moduleSource(place.path, from.portalFolder, options.records)
  }
  const format = spec.format ?? formatOf(place.path)
  if (format === undefined || !isRecordFormat(format))
    throw misconfigured(
      format === undefined
        ? `The name ${JSON.stringify(place.path)} does not tell a format.`
        : `${JSON.stringify(format)} is not a format of records.`,
      `format: ${SOURCE_FORMATS.join(', ')}`,
    )
  checkOptions(options, format)
  return openFile({ path: fileOf(place, from), name: place.path, ...encodingOf(options) }, format, options)
}

/**
 * Absolute paths of the files whose content decides whether a source changed: the file itself; for a module its
 * package.json, the file that is loaded, and the files at the top of its package.
 */
export function sourceFiles(spec: SourceSpec, from: SourceFolders): readonly string[] {
  const place = placeOf(spec)
  return place.kind === 'module'
    ? filesOfModule(moduleFiles(place.path, from.portalFolder))
    : [fileOf(place, from)]
}

function isRecordFormat(format: string): format is SourceFormat {
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

function openFile(file: TextFile, format: SourceFormat, options: SourceOptions): Source {
  const delimiter = options.delimiter === '\\t' ? '\t' : options.delimiter
  switch (format) {
    case 'csv':
      return csvSource(file, delimiter)
    case 'tsv':
      return tsvSource(file, delimiter)
    case 'json':
      return jsonSource(file, options.records)
    case 'jsonl':
      return jsonlSource(file)
    case 'geojson':
      return geojsonSource(file, options.records)
    default:
      return format satisfies never
  }
}

function checkOptions(options: SourceOptions, kind: SourceFormat | 'module'): void {
  for (const option of Object.keys(options)) {
    if (UNDERSTOOD[kind].includes(option)) continue
    const near = nearest(option, UNDERSTOOD[kind])
    throw misconfigured(
      `The option ${JSON.stringify(option)} means nothing for ${kind}.`,
      near === undefined ? `Options: ${UNDERSTOOD[kind].join(', ')}` : `Did you mean ${near}?`,
    )
  }
  const { delimiter } = options
  if (delimiter !== undefined && delimiter !== '\\t' && (delimiter.length !== 1 || /["\r\n]/.test(delimiter)))
    throw misconfigured('A delimiter is one character, no quote and no line end.')
}

function encodingOf(options: SourceOptions): Pick<TextFile, 'encoding'> {
  if (options.encoding === undefined) return {}
  const encoding = encodingNamed(options.encoding)
  if (encoding !== undefined) return { encoding }
  throw misconfigured(
    `The encoding ${JSON.stringify(options.encoding)} is not known.`,
    `encoding: ${ENCODINGS.join(', ')}`,
  )
}
