import type { Static } from 'typebox'
import { ALL_ROWS, invalid, one, readFlag, wholeNumber } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { lookup } from '../../model/lookup.ts'
import { EXPLORE_PARAMETERS, type Parameter, type ParameterName } from './parameters.ts'

/** What is read of a schema. */
interface ReadSchema {
  readonly type?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly enum?: readonly string[]
}

type Declared<Name extends ParameterName> = Static<(typeof EXPLORE_PARAMETERS)[Name]['schema']>

/** Reads a parameter as the table declares it. Throws InvalidRESTParameterError. */
export function readParameter<Name extends ParameterName>(query: QueryParameters, key: Name): Declared<Name> {
  const parameter: Parameter = EXPLORE_PARAMETERS[key]
  return declaredValue(query, parameter.name ?? key, parameter) as Declared<Name>
}

function declaredValue(query: QueryParameters, name: string, parameter: Parameter): unknown {
  const { schema, normalise = (text: string) => text, accepts, expected = '' } = parameter
  const { type, default: standard, minimum, maximum, enum: values }: ReadSchema = schema
  if (type === 'boolean') return lookup(query, name) === undefined ? standard : readFlag(query, name)
  if (type === 'integer' && minimum !== undefined)
    return wholeNumber(query, name, standard as number, minimum, maximum ?? Number.MAX_SAFE_INTEGER)
  const given = one(query, name)
  if (given === undefined) return standard
  const text = normalise(given)
  if (accepts?.test(text) === false || values?.includes(text) === false) throw invalid(name, text, expected)
  return type === 'integer' ? Number(text) : text
}

/**
 * Reads the parameters of an export (REST 3.9). Throws InvalidRESTParameterError.
 *
 * @param isNew the later generation, whose CSV begins with a byte order mark and whose GPX has extensions by default
 */
export function readExport(query: QueryParameters, isNew: boolean) {
  const read = <Name extends ParameterName>(name: Name) => readParameter(query, name)
  return {
    delimiter: read('delimiter'),
    listSeparator: read('list_separator'),
    epsg: read('epsg'),
    parquetCompression: read('parquet_compression'),
    descriptionFields: splitNames(read('description_field_list')),
    useLabels: read('use_labels'),
    quoteAll: read('quote_all'),
    withBom: read(isNew ? 'with_bom_usually' : 'with_bom'),
    nameField: read('name_field') ?? null,
    useExtension: read(isNew ? 'use_extension_usually' : 'use_extension'),
    /** The file itself is compressed with gzip. */
    compressed: read('compressed'),
  }
}

function splitNames(text: string | undefined): readonly string[] | null {
  return text === undefined ? null : text.split(',').map(name => name.trim())
}

/** Reads which rows an export has; a limit of null means all (REST 3.9). */
export function readExportPage(query: QueryParameters) {
  const limit = readParameter(query, 'export_limit')
  return { limit: limit === ALL_ROWS ? null : limit, offset: readParameter(query, 'export_offset') }
}
