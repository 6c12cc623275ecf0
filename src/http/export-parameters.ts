import { decodedAgain, invalid, one, readFlag } from './parameters.ts'
import type { QueryParameters } from './query-string.ts'

/** What the parameters of an export say (REST 3.9). */
export interface ExportParameters {
  readonly useLabels: boolean
  readonly delimiter: string
  readonly listSeparator: string
  readonly quoteAll: boolean
  readonly withBom: boolean
  readonly epsg: number
  readonly nameField: string | null
  readonly descriptionFields: readonly string[] | null
  readonly useExtension: boolean
  readonly parquetCompression: 'snappy' | 'zstd'
  /** The file itself is compressed with gzip. */
  readonly compressed: boolean
}

const DELIMITERS = [';', ',', '\t', '|']
const MAX_SEPARATOR = 10

/**
 * Reads the parameters of an export. Throws InvalidRESTParameterError.
 *
 * @param isNew the later generation, whose CSV begins with a byte order mark and whose GPX has extensions unless told not
 */
export function readExport(query: QueryParameters, isNew: boolean): ExportParameters {
  const delimiter = decodedAgain(one(query, 'delimiter') ?? ';').replace('\\t', '\t')
  if (!DELIMITERS.includes(delimiter)) throw invalid('delimiter', delimiter, 'one of ; , | and a tab')
  const listSeparator = one(query, 'list_separator') ?? ','
  if (listSeparator.length > MAX_SEPARATOR)
    throw invalid('list_separator', listSeparator, `at most ${MAX_SEPARATOR} characters`)
  const epsg = one(query, 'epsg') ?? '4326'
  if (!/^\d{4,6}$/.test(epsg)) throw invalid('epsg', epsg, 'an EPSG code such as 4326')
  const compression = (one(query, 'parquet_compression') ?? 'snappy').toLowerCase()
  if (compression !== 'snappy' && compression !== 'zstd')
    throw invalid('parquet_compression', compression, 'snappy or zstd')
  const described = one(query, 'description_field_list')
  return {
    useLabels: readFlag(query, 'use_labels'),
    delimiter,
    listSeparator,
    quoteAll: readFlag(query, 'quote_all'),
    withBom: query.with_bom === undefined ? isNew : readFlag(query, 'with_bom'),
    epsg: Number(epsg),
    nameField: one(query, 'name_field') ?? null,
    descriptionFields: described === undefined ? null : described.split(',').map(name => name.trim()),
    useExtension: query.use_extension === undefined ? isNew : readFlag(query, 'use_extension'),
    parquetCompression: compression,
    compressed: readFlag(query, 'compressed'),
  }
}
