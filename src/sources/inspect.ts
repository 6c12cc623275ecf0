import { Fault } from '../errors/errors.ts'
import type { RdfFormat } from '../model/rdf-format.ts'
import { fileText } from './data-file.ts'
import { chooseSheet } from './files/choose-sheet.ts'
import { xmlRecordPath } from './files/xml.ts'
import { type Inference, inferColumns } from './infer.ts'
import { findJsonRecords } from './json/json-records.ts'
import {
  encodingOf,
  GRID_FORMATS,
  type GridFormat,
  gridOf,
  isRecordFormat,
  type OpenedFile,
  openFile,
  openSource,
  type SourceFolders,
  type SourceFormat,
  type SourceOptions,
  type SourceSpec,
} from './open.ts'
import { unreadable } from './source.ts'
import { messyDelimiter, oneColumnDelimiter } from './tables/delimiter.ts'
import { alignedWidths } from './tables/fixed-width.ts'
import { type DetectedLayout, detectLayout } from './tables/layout.ts'
import { decoderOf, encodingNamed } from './text/decode.ts'
import { detectEncoding } from './text/text.ts'

/** The result of inspecting a source: its complete options, and the fields of its records. */
export interface Inspection extends Inference {
  readonly source: SourceSpec
  /** Notes about what was left out, chosen or assumed. */
  readonly diagnostics: readonly string[]
}

/**
 * Detects how a source is to be read and which fields it has: format, encoding, delimiter, the line of the header, rows at the
 * end that are no records, the array or element of the records. Declared options are kept. Throws SourceUnreadable and
 * ConfigInvalid as {@link openSource} does.
 */
export async function inspectSource(spec: SourceSpec, from: SourceFolders): Promise<Inspection> {
  if (spec.module !== undefined) {
    const inference = await inferColumns(openSource(spec, from))
    return { source: spec, diagnostics: [], ...inference }
  }
  const opened = openFile(spec, from)
  const { format } = opened
  if (!isRecordFormat(format))
    return { source: { ...spec, format }, diagnostics: [], rows: 0, fields: [], columns: [] }
  // Invalid options are refused before they are used.
  if (spec.format !== undefined) openSource(spec, from)
  const { options, diagnostics } = await completed(opened, format, spec.options ?? {})
  const source: SourceSpec = {
    ...spec,
    format,
    ...(Object.keys(options).length > 0 ? { options } : {}),
  }
  const records = openSource(source, from)
  const inference = withoutNameless(await inferColumns(records))
  return { source, diagnostics: [...diagnostics, ...(records.warnings?.() ?? [])], ...inference }
}

/**
 * The options of an inspected source as they stay true for later files: a footer that was detected is left out, because the next
 * file may have another one or none. See {@link detectFooter}.
 */
export function lastingOptions(found: SourceSpec, given: SourceOptions = {}): SourceOptions | undefined {
  if (found.options === undefined || given.footer !== undefined) return found.options
  const { footer: _, ...options } = found.options
  return Object.keys(options).length === 0 ? undefined : options
}

/** The number of rows at the end of a source that are totals or notes; 0 for other sources than tables of rows. */
export async function detectFooter(spec: SourceSpec, from: SourceFolders): Promise<number> {
  if (spec.module !== undefined) return 0
  const opened = openFile(spec, from)
  const format = GRID_FORMATS.find(it => it === opened.format)
  if (format === undefined) return 0
  // Invalid options are refused before they are used.
  openSource(spec, from)
  return (await detectLayout(gridOf(opened, format, spec.options ?? {}))).footer
}

/** The inference without nameless columns that have no value: empty columns of a sheet next to the table. */
function withoutNameless(inference: Inference): Inference {
  const nameless = new Set(
    inference.columns
      .filter(({ column, filled }) => filled === 0 && /^column_\d+$/.test(column))
      .map(({ field }) => field),
  )
  if (nameless.size === 0 || nameless.size === inference.columns.length) return inference
  return {
    ...inference,
    fields: inference.fields.filter(({ name }) => !nameless.has(name)),
    columns: inference.columns.filter(({ field }) => !nameless.has(field)),
  }
}

/** The format of the file of a source: detected from its bytes and name, unless it is declared. Throws as {@link openSource} does. */
export function inspectFormat(spec: SourceSpec, from: SourceFolders): SourceFormat | RdfFormat | 'module' {
  return spec.module === undefined ? openFile(spec, from).format : 'module'
}

const GML =
  'the file is GML, of which elements are read as texts and no geometries: save it as GeoJSON or GeoPackage for maps'

interface Completed {
  readonly options: SourceOptions
  readonly diagnostics: readonly string[]
}

async function completed(opened: OpenedFile, format: SourceFormat, given: SourceOptions): Promise<Completed> {
  switch (format) {
    case 'csv':
    case 'tsv':
      return completeCsv(opened, format, given)
    case 'xlsx':
    case 'ods':
    case 'spreadsheetml':
      return completeGrid(opened, format, given, [])
    case 'json':
      return completeJson(opened, given)
    case 'jsonl':
    case 'geojson':
      return withEncoding(opened, given)
    case 'xml':
      return {
        options: { ...given, records: given.records ?? (await xmlRecordPath(opened.data)) },
        diagnostics: headText(opened, undefined).includes('http://www.opengis.net/gml') ? [GML] : [],
      }
    case 'parquet':
    case 'shapefile':
    case 'geopackage':
    case 'flatgeobuf':
    case 'kml':
    case 'gpx':
      return { options: given, diagnostics: [] }
  }
}

async function withEncoding({ data }: OpenedFile, given: SourceOptions): Promise<Completed> {
  if (given.encoding !== undefined) return { options: given, diagnostics: [] }
  const encoding = await detectEncoding(fileText(data, undefined))
  return encoding === 'utf-8'
    ? { options: given, diagnostics: [] }
    : { options: { ...given, encoding }, diagnostics: [`the text is ${encoding}`] }
}

const oneColumn = (sign: string) =>
  `${JSON.stringify(sign)} was taken for a sign within the values of one column: where it separates columns, say so: delimiter: '${sign}'`

/** Characters of the beginning of a table from which its delimiter is detected. */
const HEAD_CHARACTERS = 40_000

async function completeCsv(
  opened: OpenedFile,
  format: 'csv' | 'tsv',
  given: SourceOptions,
): Promise<Completed> {
  const { options, diagnostics } = await withEncoding(opened, given)
  if (options.widths !== undefined) return completeGrid(opened, format, options, diagnostics)
  const head = headText(opened, options.encoding)
  const { delimiter } = options
  const found =
    delimiter ??
    (format === 'tsv' && head.includes('\t') ? '\t' : messyDelimiter(head, head.length < HEAD_CHARACTERS))
  if (found === ' ' && delimiter === undefined && isAligned(head)) {
    const widths = await alignedWidths(fileText(opened.data, encodingOf(options)))
    if (widths !== null) return completeGrid(opened, format, { ...options, widths }, diagnostics)
    throw unreadable(
      'The columns are aligned with blanks, and no blank parts them in all lines.',
      { file: opened.data.name },
      'Take out titles and notes, or save it as CSV, with a comma or tab between the columns.',
    )
  }
  const isOpen = delimiter === undefined && options.header === undefined
  const single = isOpen ? oneColumnDelimiter(head, found, head.length < HEAD_CHARACTERS) : null
  return completeGrid(opened, format, { ...options, delimiter: single ?? found }, [
    ...diagnostics,
    ...(single === null ? [] : [oneColumn(found)]),
  ])
}

/** True if most lines of a text have several blanks between words, as in tables of fixed width. */
function isAligned(head: string): boolean {
  const lines = head.split(/\r\n|\r|\n/).filter(line => line.trim() !== '')
  return lines.filter(line => /\S {2,}\S/.test(line)).length > lines.length / 2
}

function headText({ data: { head } }: OpenedFile, name: string | undefined): string {
  const encoding = encodingNamed(name ?? 'utf-8') ?? 'utf-8'
  const isCut = head.length === 2 ** 16
  // An incomplete last character is ignored.
  const bytes = isCut ? head.subarray(0, head.length - (head.length % 2)) : head
  const text =
    encoding === 'utf-8' || encoding.startsWith('utf-16')
      ? new TextDecoder(encoding).decode(bytes)
      : decoderOf(encoding).decode(bytes)
  return text.slice(0, HEAD_CHARACTERS).replace(/^\ufeff/, '')
}

async function completeGrid(
  opened: OpenedFile,
  format: GridFormat,
  asGiven: SourceOptions,
  earlier: readonly string[],
): Promise<Completed> {
  const sheet = await chooseSheet(opened, format, asGiven)
  const given = sheet.options
  const before = [...earlier, ...sheet.diagnostics]
  if (given.header !== undefined && given.footer !== undefined) return { options: given, diagnostics: before }
  const [options, layout] = await layoutWithQuotes(opened, format, given)
  const header = options.header ?? layout.header
  const footer = options.footer ?? layout.footer
  const { delimiter, ...rest } = options
  return {
    options: {
      ...(delimiter === undefined ? {} : { delimiter }),
      ...rest,
      header,
      ...(footer === 0 ? {} : { footer }),
    },
    diagnostics: [...before, ...layout.diagnostics],
  }
}

/**
 * The layout of a grid. If a quote of a CSV is never closed, no cell is quoted, and all rows have the same width without quotes, the CSV
 * has no quotes.
 */
async function layoutWithQuotes(
  opened: OpenedFile,
  format: GridFormat,
  given: SourceOptions,
): Promise<readonly [SourceOptions, DetectedLayout]> {
  try {
    return [given, await detectLayout(gridOf(opened, format, given))]
  } catch (error) {
    if (!(error instanceof Fault) || (format !== 'csv' && format !== 'tsv') || given.quote !== undefined)
      throw error
    const unquoted = { ...given, quote: '' }
    const widths = new Set<number>()
    for await (const rows of gridOf(opened, format, unquoted).rows())
      for (const { cells } of rows) {
        if (cells.some(isQuoted)) throw error
        if (cells.length > 1) widths.add(cells.length)
      }
    if (widths.size !== 1) throw error
    const layout = await detectLayout(gridOf(opened, format, unquoted))
    const { line, column } = error.place ?? {}
    const diagnostics = [
      ...layout.diagnostics,
      `the quote in line ${line}, column ${column} is never closed, so that quotes are signs of their cells`,
    ]
    return [unquoted, { ...layout, diagnostics }]
  }
}

/** True for a cell that was read with its quotes. */
function isQuoted(cell: unknown): boolean {
  return typeof cell === 'string' && /^".*"$/s.test(cell.trim())
}

const MEMBERS = {
  records: 'the records are the members of an object',
  columns: 'the members of an object are the columns of the records',
  either:
    "the records are the members of an object; where these are its columns, as pandas writes them by default, write it with orient='records'",
}

async function completeJson(opened: OpenedFile, given: SourceOptions): Promise<Completed> {
  const { options, diagnostics } = await withEncoding(opened, given)
  if (options.records !== undefined) return { options, diagnostics }
  const found = await findJsonRecords(fileText(opened.data, encodingOf(options)))
  switch (found.type) {
    case 'objects':
      return {
        options: found.pointer === '' ? options : { ...options, records: found.pointer },
        diagnostics: [
          ...diagnostics,
          ...(found.others.length === 0
            ? []
            : [`other arrays of objects were left out: ${found.others.slice(0, 5).join(', ')}`]),
        ],
      }
    case 'rows':
      return completeGrid(
        opened,
        'json',
        { ...(found.hasNames ? { header: 1 } : {}), ...options, records: found.pointer },
        diagnostics,
      )
    case 'members':
      return {
        options: { ...options, records: `${found.pointer}/*` },
        diagnostics: [...diagnostics, MEMBERS[found.are]],
      }
  }
}
