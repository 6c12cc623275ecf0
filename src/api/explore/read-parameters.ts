import type { Static } from 'typebox'
import type { ServedCatalog } from '../../catalog/visible.ts'
import {
  ALL_ROWS,
  type FacetParameter,
  invalid,
  one,
  readFacets,
  readFacetValues,
  readFlag,
  wholeNumber,
} from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { nearest } from '../../model/did-you-mean.ts'
import type { Field } from '../../model/field.ts'
import type { CompileTarget } from '../../query/compile/target.ts'
import {
  canBeFacet,
  type Facet,
  type FacetFilter,
  type FacetSort,
  facetField,
  facetOf,
  isFacetSort,
} from '../../query/facets.ts'
import { EXPLORE_PARAMETERS, type Parameter, type ParameterName } from './parameters.ts'

/** What is queried: the catalog or the records of a dataset. */
export interface ExploreSource {
  readonly target: CompileTarget
  readonly fields: readonly Field[]
  /** Metadata template that may be left out before a name; only the catalog has one. */
  readonly template?: string
  readonly facetSort: FacetSort
  readonly facets: readonly string[]
}

/** The catalog as the source of queries. */
export interface CatalogSource extends ExploreSource, Pick<ServedCatalog, 'entries' | 'statistics'> {}

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
  if (type === 'boolean') return one(query, name) === undefined ? standard : readFlag(query, name)
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
    descriptionFields:
      read('description_field_list')
        ?.split(',')
        .map(name => name.trim()) ?? null,
    useLabels: read('use_labels'),
    quoteAll: read('quote_all'),
    withBom: read(isNew ? 'with_bom_usually' : 'with_bom'),
    nameField: read('name_field') ?? null,
    useExtension: read(isNew ? 'use_extension_usually' : 'use_extension'),
    /** The file itself is compressed with gzip. */
    compressed: read('compressed'),
  }
}

/** Reads which rows an export has; a limit of null means all (REST 3.9). */
export function readExportPage(query: QueryParameters) {
  const limit = readParameter(query, 'export_limit')
  return { limit: limit === ALL_ROWS ? null : limit, offset: readParameter(query, 'export_offset') }
}

function facetNamed(requested: FacetParameter, source: ExploreSource, parameter: string): Facet {
  const { name, sort, limit, separator, hierarchical, disjunctive } = requested
  const field = facetField(name, source.fields, source.template)
  if (field === undefined) {
    const known = source.fields.filter(canBeFacet).map(each => each.name)
    const close = nearest(name, known)
    const hint = close === undefined ? '' : ` (did you mean ${close}?)`
    throw invalid(parameter, name, `the name of a field that can be a facet${hint}`)
  }
  if (sort !== undefined && !isFacetSort(sort))
    throw invalid(parameter, `sort=${sort}`, 'count, alphanum or num, each also with a minus,')
  const standard = facetOf(name, field, source.facetSort)
  const path = hierarchical ?? (standard.separator !== null || separator !== undefined)
  return {
    ...standard,
    separator: path && field.type === 'text' ? (separator ?? standard.separator ?? '/') : null,
    disjunctive: disjunctive ?? standard.disjunctive,
    sort: sort ?? standard.sort,
    limit: limit ?? standard.limit,
  }
}

/** The filters of `refine` or `exclude`; `facet=facet(name="…", disjunctive=true)` overrides the settings of a facet. */
export function readFilters(
  query: QueryParameters,
  parameter: 'refine' | 'exclude',
  source: ExploreSource,
): readonly FacetFilter[] {
  const requested = readFacetValues(query, parameter)
  if (requested.length === 0) return []
  const declared = new Map(
    readFacets(query).map(facet => [facetField(facet.name, source.fields, source.template), facet]),
  )
  return requested.map(({ facet, ...written }) => {
    const declaration = declared.get(facetField(facet.name, source.fields, source.template))
    return { facet: facetNamed({ ...declaration, ...facet }, source, parameter), ...written }
  })
}

/** The facets that a request names, or those of the source. */
export function requestedFacets(query: QueryParameters, source: ExploreSource): readonly Facet[] {
  const named = readFacets(query)
  if (named.length > 0) return named.map(facet => facetNamed(facet, source, 'facet'))
  return source.facets.flatMap(name => {
    const field = facetField(name, source.fields, source.template)
    return field === undefined ? [] : [facetOf(name, field, source.facetSort)]
  })
}

const NUMBER = String.raw`(-?\d{1,3}(?:\.\d{1,20})?)`
const CIRCLE = new RegExp(`^${NUMBER},${NUMBER}(?:,(\\d{1,9}(?:\\.\\d{1,9})?))?$`)
const CORNER = new RegExp(`\\(${NUMBER},${NUMBER}\\)`, 'g')
const POLYGON = new RegExp(`^(?:\\(${NUMBER},${NUMBER}\\)(?:,(?=.)|$)){3,1000}$`)

/**
 * The conditions that the places of a download mean (vendor's documentation of the Search API v1, "Geo filtering"):
 * `geofilter.distance=lat,lon,metres` and `geofilter.polygon=(lat,lon),(lat,lon),…`, of the first field with places.
 */
export function geofilters(query: QueryParameters, fields: readonly Field[]): readonly string[] {
  const [circle, polygon] = [one(query, 'geofilter.distance'), one(query, 'geofilter.polygon')]
  if (circle === undefined && polygon === undefined) return []
  const ofType = (type: Field['type']) => fields.find(field => field.type === type)
  const point = ofType('geo_point_2d') ?? ofType('geo_shape')
  const shape = ofType('geo_shape') ?? point
  if (point === undefined || shape === undefined)
    throw invalid('geofilter', circle ?? polygon ?? '', 'no value: the dataset has no field with places,')
  return [
    ...(circle === undefined ? [] : [circleCondition(circle, point)]),
    ...(polygon === undefined ? [] : [polygonCondition(polygon, shape)]),
  ]
}

function circleCondition(text: string, { name }: Field): string {
  const [, lat, lon, metres = '0'] = CIRCLE.exec(text.replace(/\s+/g, '')) ?? []
  if (lat === undefined) throw invalid('geofilter.distance', text, 'latitude, longitude and metres,')
  return `distance(\`${name}\`, geom'POINT(${lon} ${lat})', ${metres}m)`
}

function polygonCondition(text: string, { name }: Field): string {
  if (!POLYGON.test(text))
    throw invalid('geofilter.polygon', text, '(latitude,longitude),(latitude,longitude),…')
  const corners = [...text.matchAll(CORNER)].map(([, lat, lon]) => `${lon} ${lat}`)
  const ring = corners[0] === corners.at(-1) ? corners : [...corners, corners[0]]
  return `polygon(\`${name}\`, geom'POLYGON((${ring.join(', ')}))')`
}
