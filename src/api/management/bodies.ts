import { Type } from 'typebox'
import { patternText } from '../../config/texts.ts'
import { wholeNumber } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { FIELD_TYPES } from '../../model/field.ts'
import { READING_OPTIONS } from '../../publishing/definition-schema.ts'
import { PROCESSORS_SCHEMA } from '../../publishing/processors/schema.ts'

/** Schemas of the request bodies of the management API, for validation and for its description. */
const closed = { additionalProperties: false }

const Meta = Type.Union([
  Type.String({ maxLength: 100_000 }),
  Type.Number(),
  Type.Boolean(),
  Type.Null(),
  Type.Array(Type.String({ maxLength: 10_000 }), { maxItems: 1000 }),
])
export const METADATA_BODY = Type.Record(
  Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }),
  Type.Record(Type.String({ pattern: '^[a-z][a-zA-Z0-9_]{0,63}$' }), Meta),
  {
    description:
      'Metadata by template and name; null removes an entry, entries that are not named are unchanged',
    examples: [{ default: { title: 'Trees', description: 'All trees', keyword: ['tree'] } }],
  },
)

const Argument = Type.Union([Type.String(), Type.Number(), Type.Boolean()])
const Field = Type.Object(
  {
    name: patternText('fieldName'),
    type: Type.Optional(Type.Union(FIELD_TYPES.map(type => Type.Literal(type)))),
    from: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 2 })], {
        description: 'The column of the source, or two columns for a point; the name of the field by default',
      }),
    ),
    label: Type.Optional(Type.String({ maxLength: 1000 })),
    description: Type.Optional(Type.Union([Type.String({ maxLength: 10_000 }), Type.Null()])),
    format: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    timezone: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    annotations: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.Array(Argument), Argument]), {
        description: 'Flags with their arguments: facet, id, sortable, multivalued …',
      }),
    ),
  },
  closed,
)
export const FIELDS_BODY = Type.Array(Field, {
  minItems: 1,
  maxItems: 1000,
  description: 'All fields, in order',
  examples: [[{ name: 'height', type: 'double', label: 'Height', annotations: { sortable: true } }]],
})

export const DATASET_BODY = Type.Object(
  {
    is_restricted: Type.Optional(Type.Boolean()),
    metadata: Type.Optional(METADATA_BODY),
    fields: Type.Optional(FIELDS_BODY),
    processors: Type.Optional(Type.Union([PROCESSORS_SCHEMA, Type.Null()])),
    record_id: Type.Optional(
      Type.Union([Type.Array(Type.String(), { minItems: 1 }), Type.Null()], {
        description: 'The fields whose values identify a record',
      }),
    ),
    source: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 2000 }), {
        description: 'The source of the data: a file of the dataset, or an address',
        examples: [{ path: 'trees.csv' }, { url: 'https://data.example/trees.csv' }],
      }),
    ),
    refresh: Type.Optional(
      Type.Union([Type.String({ minLength: 1, maxLength: 100 }), Type.Null()], {
        description:
          'When an address is read again: hourly, daily, weekly, monthly or a cron expression of five fields',
        examples: ['daily', '30 4 * * 1'],
      }),
    ),
    format: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    options: Type.Optional(Type.Union([READING_OPTIONS, Type.Null()])),
  },
  { ...closed, description: 'Members that are not named are unchanged; null removes a member' },
)

export const NEW_DATASET_BODY = Type.Object(
  {
    dataset_id: patternText('datasetId'),
    title: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
  },
  { ...closed, examples: [{ dataset_id: 'trees', title: 'Trees' }] },
)

export const RESTORE_BODY = Type.Object({
  version: Type.Optional(Type.String({ description: 'A version of the list; the previous one by default' })),
})

const rows = (standard: number, maximum: number, description: string) => ({
  description,
  schema: { type: 'integer', minimum: 0, maximum, default: standard },
})

/** Schemas of the query parameters, by path. */
export const QUERIES = {
  '/datasets': {
    limit: rows(20, 100, 'Datasets of the answer'),
    offset: rows(0, 1_000_000, 'Datasets before the first of the answer'),
  },
  '/datasets/{dataset}/preview': { limit: rows(10, 100, 'Records of the answer') },
} as const

/** Reads the parameters of a path. Faults: InvalidRESTParameterError. */
export function readRows<Path extends keyof typeof QUERIES>(
  query: QueryParameters,
  path: Path,
): Readonly<Record<keyof (typeof QUERIES)[Path], number>> {
  const read = Object.entries(QUERIES[path]).map(([name, { schema }]) => [
    name,
    wholeNumber(query, name, schema.default, schema.minimum, schema.maximum),
  ])
  return Object.fromEntries(read)
}
