import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { stringify } from 'yaml'
import { usageFault } from '../config/faults.ts'
import { Fault, SOURCE_UNREADABLE } from '../errors/errors.ts'
import { datasetIdOf } from '../model/readable-name.ts'
import { titleFromName } from '../model/title.ts'
import { DATASET_ID } from '../publishing/definition.ts'
import { checkRdf } from '../publishing/graphs/rdf-quads.ts'
import { shapefileParts } from '../sources/files/shapefile.ts'
import type { ColumnReport } from '../sources/infer.ts'
import { type Inspection, inspectFormat, inspectSource, lastingOptions } from '../sources/inspect.ts'
import {
  formatOf,
  SOURCE_FORMATS,
  type SourceFolders,
  type SourceOptions,
  type SourceSpec,
} from '../sources/open.ts'
import { openRdf, RDF_FORMATS, rdfFormatOf } from '../sources/rdf.ts'
import { configOf, JSON_OPTION, PORTAL_OPTION, type PortalOptions } from './options.ts'
import { columnsText, counted, printJson, printText } from './print.ts'

type ImportOptions = PortalOptions & ReadingOptions & { readonly id?: string }

/** `lodestone import`: creates the folder of a dataset for a file, with typed fields and a title, ready to edit. */
export function importCommand(): Command {
  const command = new Command('import')
    .description('make the dataset folder for a file: typed fields, title, ready to edit')
    .argument('<file>', 'CSV, workbook, JSON, XML, geographic or RDF file, also within zip or gz')
    .option('--id <id>', 'id of the dataset (default: from the name of the file)')
    .option(...PORTAL_OPTION)
    .option(...JSON_OPTION)
  return withReadingOptions(command).action(async (file: string, options: ImportOptions) => {
    const { portal, base } = configOf(options)
    if (!existsSync(file))
      throw new Fault(SOURCE_UNREADABLE, { reason: `${file} was not found` }, { place: { file } })
    if (statSync(file).isDirectory())
      throw new Fault(
        SOURCE_UNREADABLE,
        { reason: `${file} is a folder: a file is expected` },
        { place: { file } },
      )
    const id = options.id ?? datasetIdOf(file)
    if (!DATASET_ID.test(id))
      throw usageFault(
        `${id || path.basename(file)} is no dataset id: lower-case letters, digits, - and _; choose one with --id`,
      )
    const folder = path.join(portal, 'data', id)
    if (existsSync(folder)) throw usageFault(`${folder} exists already; choose another id with --id`)
    const copy = (from: string, to: string) => copyFileSync(from, to, constants.COPYFILE_FICLONE)
    const understood = await importFile(file, { folder, id, portal, base, options, copy })
    if (options.json === true) printJson(reportOf(id, understood))
    else printText(`${understoodText(path.basename(file), understood)}${path.join(folder, 'dataset.yaml')}\n`)
  })
}

/** The dataset to be created for a file, and how the file gets there. */
interface ImportTarget {
  readonly folder: string
  readonly id: string
  readonly portal: string
  readonly base: string
  readonly options: ReadingOptions
  readonly copy: (from: string, to: string) => void
}

/**
 * Creates the folder of a dataset for a file, complete in one step: a server would publish a part of the file, without its
 * dataset.yaml. If the file cannot be read, nothing is created.
 */
export async function importFile(file: string, target: ImportTarget): Promise<Understood> {
  const { folder, id, portal, base, options, copy } = target
  const name = path.basename(file)
  const folders = { datasetFolder: path.dirname(path.resolve(file)), portalFolder: portal }
  const understood = await understand(specOf(name, options), folders, { base, dataset: id })
  const fresh = path.join(path.dirname(folder), `.${id}.importing`)
  try {
    // A process that was killed may have left it.
    rmSync(fresh, { recursive: true, force: true })
    mkdirSync(fresh, { recursive: true })
    const parts = /\.shp$/i.test(file) ? shapefileParts(path.resolve(file)) : []
    for (const part of [file, ...parts]) copy(part, path.join(fresh, path.basename(part)))
    writeFileSync(path.join(fresh, 'dataset.yaml'), datasetYaml(understood, importTitle(name)))
    renameSync(fresh, folder)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    throw error
  }
  return understood
}

/** The result in a form for programs. */
function reportOf(id: string, understood: Understood): object {
  if (understood.type === 'rdf') return { id, format: understood.source.format, triples: understood.triples }
  const { rows, diagnostics, columns, source } = understood.inspection
  return {
    id,
    format: source.format,
    options: source.options ?? {},
    records: rows,
    notes: diagnostics,
    columns,
  }
}

/** Command line options for reading a file. */
export interface ReadingOptions extends SourceOptions {
  readonly format?: string
}

/** Adds the options for reading a file that cannot be inferred. */
export function withReadingOptions(command: Command): Command {
  return command
    .option('--format <format>', 'csv, xlsx, json … (default: from its bytes and name)', formatArgument)
    .option('--encoding <name>', 'utf-8, latin-1, windows-1250, macintosh … (default: detected)')
    .option('--delimiter <c>', 'between the cells of a CSV; \\t for a tab (default: detected)')
    .option('--quote <c>', 'around cells of a CSV; an empty text for none (default: ")')
    .option('--widths <numbers>', 'characters of each column but the last, where blanks align them: 7,14')
    .option('--header <line>', 'line of the header; 0 for none (default: detected)', numberArgument)
    .option('--footer <rows>', 'rows at the end that are no records (default: detected)', numberArgument)
    .option('--sheet <name>', 'sheet of a workbook or layer of a GeoPackage, by name or number')
    .option('--range <cells>', 'cells of a sheet: B3:F200')
    .option('--file <path>', 'member of a ZIP archive that is the data')
    .option('--records <path>', 'JSON Pointer to the array, or path of the XML element, of the records')
}

/** The source for a file with these options. */
function specOf(path: string, given: ReadingOptions): SourceSpec {
  const { format, encoding, delimiter, quote, widths, header, footer, sheet, range, file, records } = given
  const all = { encoding, delimiter, quote, widths, header, footer, sheet, range, file, records }
  const options = Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as SourceOptions
  return {
    path,
    ...(format === undefined ? {} : { format: format as NonNullable<SourceSpec['format']> }),
    ...(Object.keys(options).length > 0 ? { options } : {}),
  }
}

function formatArgument(text: string): string {
  const formats: readonly string[] = [...SOURCE_FORMATS, ...RDF_FORMATS]
  if (!formats.includes(text)) throw new InvalidArgumentError(`formats are ${formats.join(', ')}.`)
  return text
}

function numberArgument(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number is expected.')
  return Number(text)
}

/** Maximum characters of each column of the table. */
const WIDTHS = [28, 24, 22, 44]

/**
 * Describes an inferred file for a terminal: how it is read, a line for each field with its type and examples, and below what was
 * left out, assumed or is to be checked.
 */
export function understoodText(name: string, understood: Understood): string {
  if (understood.type === 'rdf')
    return `${name}: RDF (${understood.source.format}) with ${counted(understood.triples, 'triple')}\n`
  const { rows, columns, diagnostics, source } = understood.inspection
  const options = Object.entries(source.options ?? {}).map(([key, value]) => `${key} ${shown(value)}`)
  const how = [source.format ?? 'module', ...options].join(', ')
  const head = `${name}: ${counted(rows, 'record')}, ${counted(columns.length, 'field')} (${how})\n`
  const lines = [['COLUMN', 'FIELD', 'TYPE', 'EXAMPLES'], ...columns.map(cellsOf)]
  const cut = lines.map(line => line.map((cell, at) => shortened(cell, WIDTHS[at] ?? 0)))
  const remarks = [...diagnostics, ...columns.flatMap(remarkOf)].map(text => `  ! ${text}\n`)
  return `${head}${columnsText(cut).replace(/^(?=.)/gm, '  ')}${remarks.join('')}`
}

function cellsOf({ column, field, type, format, examples, filled }: ColumnReport): readonly string[] {
  return [
    plain(column),
    field,
    format === undefined ? type : `${type} ${format}`,
    filled === 0 ? '(no values)' : examples.map(plain).join(' · '),
  ]
}

function remarkOf({ column, nulls, suggestion, type }: ColumnReport): readonly string[] {
  const described: string[] = []
  if (nulls.length > 0)
    described.push(`${plain(column)}: ${nulls.map(it => JSON.stringify(it)).join(', ')} read as no value`)
  if (suggestion !== undefined) described.push(`${plain(column)} (${type}): ${suggestion}`)
  return described
}

function shown(value: unknown): string {
  return typeof value === 'string'
    ? /^[\w./-]+$/.test(value)
      ? value
      : JSON.stringify(value)
    : String(value)
}

/** One line, without terminal control characters. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
}

function shortened(text: string, length: number): string {
  const characters = [...text]
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`
}

/** The inferred content of a file: the records of a table or tree, or RDF triples. */
export type Understood =
  | {
      readonly type: 'records'
      readonly inspection: Inspection
      /** Options for dataset.yaml; undefined if there are none. */
      readonly options: SourceOptions | undefined
    }
  | { readonly type: 'rdf'; readonly source: SourceSpec; readonly triples: number }

/** Reads a file completely and infers how it is to be read. Throws SourceUnreadable and ConfigInvalid, with advice. */
async function understand(
  spec: SourceSpec,
  folders: SourceFolders,
  place: { readonly base: string; readonly dataset: string },
): Promise<Understood> {
  const format = inspectFormat(spec, folders)
  const rdf = RDF_FORMATS.find(it => it === format)
  if (rdf === undefined) {
    const inspection = await inspectSource(spec, folders)
    return { type: 'records', inspection, options: lastingOptions(inspection.source, spec.options) }
  }
  const source = { ...spec, format: rdf }
  return { type: 'rdf', source, triples: await checkRdf(openRdf(source, folders, rdf), place) }
}

/** The text of dataset.yaml for an inferred file: its settings apply until they are edited. */
function datasetYaml(understood: Understood, title: string): string {
  const source = understood.type === 'rdf' ? understood.source : understood.inspection.source
  const { path: file, package: _, module: __, format } = source
  const options = understood.type === 'rdf' ? source.options : understood.options
  const isPlain =
    file !== undefined && format !== undefined && format === (formatOf(file) ?? rdfFormatOf({ path: file }))
  const document = {
    source: { path: file },
    ...(format === undefined || isPlain ? {} : { format }),
    ...(options === undefined ? {} : { options }),
    ...(understood.type === 'rdf' ? {} : { fields: understood.inspection.fields.map(spec => ({ ...spec })) }),
    metas: { default: { title, description: '', keyword: [], license: '', publisher: '' } },
    visibility: 'public',
  }
  return stringify(document, { lineWidth: 0 })
}

/** A title from a file name or the last segment of an address. */
export function importTitle(name: string): string {
  return titleFromName(path.basename(name).replace(/\.gz$/i, ''))
}
