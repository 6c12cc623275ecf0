import { type Command, InvalidArgumentError } from 'commander'
import { SOURCE_FORMATS, type SourceOptions, type SourceSpec } from '../../sources/open.ts'
import { RDF_FORMATS } from '../../sources/rdf.ts'

/** Command line options for reading a file. */
export interface ReadingOptions {
  readonly format?: string
  readonly encoding?: string
  readonly delimiter?: string
  readonly quote?: string
  readonly widths?: string
  readonly header?: number
  readonly footer?: number
  readonly sheet?: string
  readonly range?: string
  readonly file?: string
  readonly records?: string
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
export function specOf(path: string, given: ReadingOptions): SourceSpec {
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
