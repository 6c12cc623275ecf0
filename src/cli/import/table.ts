import path from 'node:path'
import { stringify } from 'yaml'
import { titleFromName } from '../../model/title.ts'
import { checkRdf } from '../../publishing/graphs/rdf-quads.ts'
import type { ColumnReport } from '../../sources/infer.ts'
import { type Inspection, inspectFormat, inspectSource, lastingOptions } from '../../sources/inspect.ts'
import { formatOf, type SourceFolders, type SourceOptions, type SourceSpec } from '../../sources/open.ts'
import { openRdf, RDF_FORMATS, rdfFormatOf } from '../../sources/rdf.ts'
import { counted } from '../print.ts'

/** Maximum characters of each column of the table. */
const WIDTHS = { column: 28, field: 24, type: 22, examples: 44 } as const

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
  const lines = columns.map(lineOf)
  const width = (key: keyof typeof WIDTHS) =>
    Math.min(WIDTHS[key], Math.max(...[TITLES, ...lines].map(line => [...line[key]].length)))
  const widths = { column: width('column'), field: width('field'), type: width('type'), examples: 0 }
  const row = (line: Line) =>
    `  ${padded(line.column, widths.column)}  ${padded(line.field, widths.field)}  ${padded(line.type, widths.type)}  ${cut(line.examples, WIDTHS.examples)}`.trimEnd()
  const remarks = [...diagnostics, ...columns.flatMap(remarkOf)].map(text => `  ! ${text}\n`)
  return `${head}${[TITLES, ...lines].map(line => `${row(line)}\n`).join('')}${remarks.join('')}`
}

interface Line {
  readonly column: string
  readonly field: string
  readonly type: string
  readonly examples: string
}

const TITLES: Line = { column: 'COLUMN', field: 'FIELD', type: 'TYPE', examples: 'EXAMPLES' }

function lineOf({ column, field, type, format, examples, filled }: ColumnReport): Line {
  return {
    column: plain(column),
    field,
    type: format === undefined ? type : `${type} ${format}`,
    examples: filled === 0 ? '(no values)' : examples.map(plain).join(' · '),
  }
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

function padded(text: string, width: number): string {
  const short = cut(text, width)
  return short + ' '.repeat(Math.max(0, width - [...short].length))
}

function cut(text: string, width: number): string {
  const characters = [...text]
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join('')}…`
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
export async function understand(
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
export function datasetYaml(understood: Understood, title: string): string {
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
