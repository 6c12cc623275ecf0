import { type TSchema, Type } from 'typebox'
import { USAGE_FIELDS } from '../../catalog/catalog-dataset.ts'
import {
  ALL_ROWS,
  DEFAULT_ROWS,
  DEFAULT_ZONE,
  decodedAgain,
  GROUPED_PAGE,
  PAGE,
  PAGING,
} from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { LANGUAGES } from '../../model/language.ts'
import type { Metas } from '../../model/metadata.ts'
import { TEMPLATE_TYPES } from '../../model/templates.ts'
import { FACET_SORTS } from '../../query/facets.ts'
import { choice } from './schemas.ts'

/** A parameter of the address: documents describe it and readers validate it by its schema. */
export interface Parameter {
  /** Where it is; in the query by default. */
  readonly in?: 'path'
  /** Name in the address, if it differs from that in the table. */
  readonly name?: string
  readonly description: string
  readonly schema: TSchema
  /** Name of its example, if it is not that of the parameter. */
  readonly example?: string
  /** Normalises a given text. */
  readonly normalise?: (text: string) => string
  /** Texts that are accepted, if the schema does not define them. */
  readonly accepts?: RegExp
  /** The expected value, for error messages. */
  readonly expected?: string
}

const [PAGE_NAMES, OLD_PAGE_NAMES] = PAGING
const MAX_SEPARATOR = 10
const flag = (standard = false) => Type.Boolean({ default: standard })
const optional = Type.Unsafe<string | undefined>({ type: 'string' })
const several = Type.Array(Type.String())
const rows = (max: number) => Type.Integer({ minimum: ALL_ROWS, maximum: max, default: DEFAULT_ROWS })
const first = (max: number) => Type.Integer({ minimum: 0, maximum: max, default: 0 })
const id = Type.String({ minLength: 1 })

const ROWS =
  `Number of items; ${ALL_ROWS} asks for as many as there may be. At most ${PAGE.limit}, and ${PAGE.window} together ` +
  `with the offset. With group_by, ${GROUPED_PAGE.limit} for both. Exports have no such limit.`
const GROUPED_ROWS = `${ROWS} With group_by and without a limit all groups are returned, up to ${GROUPED_PAGE.limit}.`
const FIRST = 'Index of the first item, counted from 0.'

/** The parameters of paths. */
export const PATH_PARAMETERS: Readonly<Record<string, Parameter>> = {
  dataset_id: { in: 'path', schema: id, description: 'Id of the dataset.' },
  record_id: { in: 'path', schema: id, description: 'Id of the record.' },
  attachment_id: { in: 'path', schema: id, description: 'Id of the attachment.' },
  type: {
    in: 'path',
    schema: choice(TEMPLATE_TYPES.map(({ type }) => type)),
    description: 'Type of the templates.',
  },
  template: { in: 'path', schema: id, description: 'Name of the template.' },
}

/** The description of a path parameter that is not in the table. */
export const UNNAMED: Parameter = { in: 'path', schema: id, description: 'Part of the address.' }

/** Every parameter of the query of the REST APIs (REST 3). */
export const EXPLORE_PARAMETERS = {
  select: {
    schema: Type.String(),
    description:
      'What to return: names of fields, `*`, `include(…)`, `exclude(…)`, expressions and aggregates, each with ' +
      'an optional label: `population / 1000 as thousands`.',
  },
  figures: {
    name: 'select',
    schema: Type.String(),
    example: 'figures',
    description:
      'Aggregates such as `count(*)` or `avg(height) as mean`, and fields that are also in group_by.',
  },
  where: {
    schema: several,
    description:
      'Condition in ODSQL: quoted search terms, comparisons and functions, combined with and, or, not. Several conditions must all hold.',
  },
  qv1: {
    schema: several,
    description:
      'Search in the query language of the Search API v1: `AND`, `OR`, `NOT`, parentheses, phrases in quotes, ' +
      '`field:value`, `field >= 2002` and `field:[1950 TO 2000]`. Several must all hold, in addition to where.',
  },
  group_by: {
    schema: Type.String(),
    description:
      'Names of fields, ranges or parts of dates; the answer has one row for each combination of their values.',
  },
  order_by: {
    schema: Type.String(),
    description: 'Names of fields or aggregates, each optionally followed by `asc` or `desc`.',
  },
  sort: {
    schema: Type.String(),
    description:
      'The same as order_by, which takes precedence; a minus before a name reverses its order. Usage metrics ' +
      '(`explore.popularity_score` …) are in descending order.',
  },
  figure_order: {
    name: 'order_by',
    schema: Type.String(),
    example: 'figure_order',
    description: 'Aggregates, then group keys, each optionally followed by `asc` or `desc`.',
  },
  limit: { name: PAGE_NAMES.limit, schema: rows(PAGE.limit), description: ROWS },
  grouped_limit: { name: PAGE_NAMES.limit, schema: rows(GROUPED_PAGE.limit), description: ROWS },
  all_groups_limit: {
    name: PAGE_NAMES.limit,
    schema: rows(GROUPED_PAGE.limit),
    description: GROUPED_ROWS,
  },
  offset: { name: PAGE_NAMES.offset, schema: first(PAGE.window), description: FIRST },
  grouped_offset: {
    name: PAGE_NAMES.offset,
    schema: first(GROUPED_PAGE.window),
    description: FIRST,
  },
  rows: {
    name: OLD_PAGE_NAMES.limit,
    schema: rows(GROUPED_PAGE.limit),
    description: 'The same as limit, which takes precedence.',
  },
  start: {
    name: OLD_PAGE_NAMES.offset,
    schema: first(GROUPED_PAGE.window),
    description: 'The same as offset, which takes precedence.',
  },
  export_offset: {
    name: 'offset',
    schema: Type.Integer({ minimum: 0, default: 0 }),
    description: FIRST,
  },
  export_limit: {
    name: 'limit',
    schema: Type.Integer({ minimum: ALL_ROWS, default: ALL_ROWS }),
    description: `Number of items; ${ALL_ROWS} for all.`,
  },
  group_limit: {
    name: 'limit',
    schema: Type.Integer({ minimum: ALL_ROWS, maximum: GROUPED_PAGE.limit, default: ALL_ROWS }),
    description: `Number of groups; ${ALL_ROWS} for the maximum.`,
  },
  refine: {
    schema: several,
    description:
      'Selects what has a value of a facet: `facet:value`. The levels of dates and hierarchies are separated by `/`: `modified:2020/11`.',
  },
  exclude: {
    schema: several,
    description: 'Excludes what has a value of a facet: `facet:value`.',
  },
  facet: {
    schema: several,
    description:
      'The facets to return; those of the dataset by default. `facet(name="…", disjunctive=true, hierarchical=true, ' +
      `separator="/", sort=-count, limit=10)\` sets options; sort is one of ${FACET_SORTS.join(', ')}.`,
  },
  lang: {
    schema: choice(LANGUAGES, { default: LANGUAGES[0] }),
    description: 'Language of the names of months and days that `date_format` writes.',
  },
  timezone: {
    schema: Type.String({ default: DEFAULT_ZONE }),
    description: 'Time zone of dates in the query and in the answer, such as Europe/Paris.',
  },
  include_links: { schema: flag(), description: 'Adds links, ids and times of publication.' },
  include_app_metas: {
    schema: flag(),
    description: 'Adds usage metrics of the datasets.',
  },
  use_labels: { schema: flag(), description: 'Uses the labels of fields as column headers.' },
  compressed: { schema: flag(), description: 'Sends the file compressed with gzip.' },
  epsg: {
    schema: Type.Integer({ default: 4326 }),
    description: 'EPSG code of the coordinates of shapes.',
    accepts: /^\d{4,6}$/,
    expected: 'an EPSG code such as 4326',
  },
  delimiter: {
    schema: choice([';', ',', '\t', '|'], { default: ';' }),
    description: 'Separator of columns.',
    normalise: text => decodedAgain(text).replace('\\t', '\t'),
    expected: 'one of ; , | and a tab',
  },
  list_separator: {
    schema: Type.String({ default: ',' }),
    description: 'Separator of the values of a list.',
    accepts: new RegExp(`^[^]{0,${MAX_SEPARATOR}}$`),
    expected: `at most ${MAX_SEPARATOR} characters`,
  },
  quote_all: { schema: flag(), description: 'Quotes every text.' },
  with_bom: { schema: flag(), description: 'Begins the file with a byte order mark.' },
  with_bom_usually: {
    name: 'with_bom',
    schema: flag(true),
    description: 'Begins the file with a byte order mark.',
  },
  include_exports: {
    schema: Type.String(),
    description: 'Export formats that are listed for each dataset, separated by commas; all by default.',
  },
  use_labels_in_exports: {
    schema: flag(true),
    description: 'Whether the listed exports use labels of fields instead of names.',
  },
  parquet_compression: {
    schema: choice(['snappy', 'zstd'], { default: 'snappy' }),
    description: 'How pages of the file are compressed.',
    normalise: text => text.toLowerCase(),
    expected: 'snappy or zstd',
  },
  name_field: { schema: optional, description: 'Field that names the points.' },
  description_field_list: {
    schema: optional,
    description: 'Fields that describe the points.',
  },
  use_extension: { schema: flag(), description: 'Writes the other fields as GPX extensions.' },
  use_extension_usually: {
    name: 'use_extension',
    schema: flag(true),
    description: 'Writes the other fields as GPX extensions.',
  },
} as const satisfies Readonly<Record<string, Parameter>>

/** The name of a parameter in the table. */
export type ParameterName = keyof typeof EXPLORE_PARAMETERS

/** The statistics of an unused dataset (REST 7.5). */
const UNCOUNTED: Metas[string] = {
  download_count: 0,
  api_call_count: 0,
  attachment_download_count: 0,
  reuse_count: 0,
  feedback_count: 0,
  popularity_score: 0,
}

/** Prefix of the names of usage statistics. */
export const USAGE_NAME = /\bexplore[.*]/

/** Parameters that may name fields. */
export const NAMING_PARAMETERS = [
  'select',
  'where',
  'qv1',
  'group_by',
  'order_by',
  'sort',
  'refine',
  'exclude',
  'facet',
] as const satisfies readonly ParameterName[]
export const USAGE_NAMES: ReadonlySet<string> = new Set(USAGE_FIELDS.map(({ name }) => name))

/** True for a query with the name of a usage statistic in any clause; a false positive only costs time. */
export function namesUsage(query: QueryParameters): boolean {
  for (const name of NAMING_PARAMETERS) {
    const value = query[name]
    if (value !== undefined && USAGE_NAME.test(String(value))) return true
  }
  return false
}

export function uncounted(): Metas[string] {
  return UNCOUNTED
}
