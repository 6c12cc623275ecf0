import type { FieldType } from '../model/field.ts'

/** A column of an export. */
export interface TableColumn {
  /** The key of its values in each row. */
  readonly key: string
  /** What people call it. */
  readonly label: string
  readonly type: FieldType
  /** True where a value is an array of texts. */
  readonly multivalued: boolean
}

/**
 * A row: for each column its value as the JSON export has it. Null for none, a moment as ISO 8601 with offset, a day as
 * `YYYY-MM-DD`, either as `YYYY` or `YYYY-MM` where the field is no more precise, a point as `{ lon, lat }`, a shape as a GeoJSON feature, several values as an array.
 */
export type TableRow = Readonly<Record<string, unknown>>

/** What an export writes: rows come in pieces, and what is not read is not asked of the store. */
export interface Table {
  /** Id of the dataset: the name of files. */
  readonly name: string
  readonly title: string
  readonly columns: readonly TableColumn[]
  readonly rows: AsyncIterable<readonly TableRow[]>
  /** Tells the number of all rows before they are read, for formats that begin with it; null where only reading tells. */
  readonly count?: () => Promise<number | null>
}

/** What the parameters of an export say (REST 3.9). */
export interface ExportOptions {
  /** Columns are named by their labels. */
  readonly useLabels: boolean
  /** CSV: between the values of a row. */
  readonly delimiter: string
  /** Between the elements of one value where a cell is a text. */
  readonly listSeparator: string
  /** CSV: every text stands in quotes. */
  readonly quoteAll: boolean
  /** CSV: the file begins with U+FEFF. */
  readonly withBom: boolean
  /** CSV: texts that a spreadsheet would run as formulas get an apostrophe in front. */
  readonly escapesFormulas?: boolean
  /** EPSG code of the coordinates of shapes. */
  readonly epsg: number
  /** GPX: the column that names a waypoint, and those that describe it; null for the first text, and for all. */
  readonly nameField: string | null
  readonly descriptionFields: readonly string[] | null
  /** GPX: columns are elements of `extensions` instead of lines of `desc`. */
  readonly useExtension: boolean
  readonly parquetCompression: 'snappy' | 'zstd'
  /** GeoJSON: moments are milliseconds since 1970. */
  readonly numericDates: boolean
}

/** Writes a table in one format, piece by piece. */
export type TableWriter = (table: Table, options: ExportOptions) => AsyncIterable<string | Uint8Array>

/** The first day of a date that is a year or a month; a day or a moment as it is. */
export function wholeDay(date: string): string {
  return date.length < 10 ? `${date}-01-01`.slice(0, 10) : date
}

/** The name of a column where an export shows it. */
export function columnName(column: TableColumn, { useLabels }: Pick<ExportOptions, 'useLabels'>): string {
  return useLabels ? column.label : column.key
}
