import type { FieldType } from '../model/field.ts'
import { distinctNames } from '../model/xml.ts'

/** A column of an export. */
export interface TableColumn {
  /** The key of its values in each row. */
  readonly key: string
  readonly label: string
  readonly type: FieldType
  /** True if a value is an array of texts. */
  readonly multivalued: boolean
}

/**
 * A row: for each column its value as in the JSON export. Null for none, a moment as ISO 8601 with offset, a day as `YYYY-MM-DD`,
 * either as `YYYY` or `YYYY-MM` if the field is no more precise, a point as `{ lon, lat }`, a shape as a GeoJSON feature, several
 * values as an array.
 */
export type TableRow = Readonly<Record<string, unknown>>

/** The input of an export: rows are streamed, and rows that are not read are not requested from the store. */
export interface Table {
  /** Id of the dataset, used as file name. */
  readonly name: string
  readonly title: string
  readonly columns: readonly TableColumn[]
  readonly rows: AsyncIterable<readonly TableRow[]>
  /** Returns the number of all rows before they are read, for formats that begin with it; null if it is known only after reading. */
  readonly count?: () => Promise<number | null>
}

/** The parameters of an export (REST 3.9). */
export interface ExportOptions {
  readonly useLabels: boolean
  /** CSV: separator between the values of a row. */
  readonly delimiter: string
  /** Separator between the elements of a multivalued cell. */
  readonly listSeparator: string
  /** CSV: whether every text is quoted. */
  readonly quoteAll: boolean
  /** CSV: whether the file begins with U+FEFF. */
  readonly withBom: boolean
  /** CSV: whether texts that a spreadsheet would run as formulas are prefixed with an apostrophe. */
  readonly escapesFormulas?: boolean
  /** EPSG code of the coordinates of shapes. */
  readonly epsg: number
  /** GPX: the column with the name of a waypoint, and those of its description; null for the first text, and for all. */
  readonly nameField: string | null
  readonly descriptionFields: readonly string[] | null
  /** GPX: whether columns are elements of `extensions` instead of lines of `desc`. */
  readonly useExtension: boolean
  readonly parquetCompression: 'snappy' | 'zstd'
  /** GeoJSON: whether moments are milliseconds since 1970. */
  readonly numericDates: boolean
}

/** Writes a table in one format, piece by piece. */
export type TableWriter = (table: Table, options: ExportOptions) => AsyncIterable<string | Uint8Array>

/** The first day of a date that is a year or a month; a day or moment unchanged. */
export function wholeDay(date: string): string {
  return date.length < 10 ? `${date}-01-01`.slice(0, 10) : date
}

/** Milliseconds since 1970 of a day or moment, NaN for what is none; the last hours of 9999 are in the year 10000 of zones to the east. */
export function millisecondsOf(moment: string): number {
  return Date.parse(moment.replace(/^10000-/, '+010000-'))
}

/** The name of a column in an export. */
export function columnName(column: TableColumn, { useLabels }: Pick<ExportOptions, 'useLabels'>): string {
  return useLabels ? column.label : column.key
}

/** The names of columns in formats whose names must be distinct: of equal labels, those from the second on are numbered, `Name 2`. */
export function distinctColumnNames(
  columns: readonly TableColumn[],
  options: Pick<ExportOptions, 'useLabels'>,
): readonly string[] {
  return distinctNames(
    columns.map(column => columnName(column, options)),
    ' ',
  )
}
