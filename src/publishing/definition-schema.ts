import { type Static, Type } from 'typebox'
import { patternText } from '../config/texts.ts'
import { FIELD_TYPES } from '../model/field.ts'
import { SOURCE_FORMATS, type SourceSpec } from '../sources/open.ts'
import { RDF_FORMATS } from '../sources/rdf.ts'
import type { FieldSpec } from '../sources/typing/fields.ts'
import { PROCESSORS_SCHEMA } from './processors/schema.ts'

const Argument = Type.Union([Type.String(), Type.Number(), Type.Boolean()])

const FieldSchema = Type.Object(
  {
    /** A part of queries and IRIs. */
    name: patternText('fieldName'),
    type: Type.Optional(Type.Union(FIELD_TYPES.map(type => Type.Literal(type)))),
    from: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 2 })])),
    label: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    format: Type.Optional(Type.String()),
    timezone: Type.Optional(Type.String()),
    nulls: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 20 })),
    keys: Type.Optional(Type.Boolean()),
    annotations: Type.Optional(Type.Record(Type.String(), Type.Union([Type.Array(Argument), Argument]))),
  },
  { additionalProperties: false },
)

/** How a source is read, if that is not to be inferred. */
export const READING_OPTIONS = Type.Object(
  {
    delimiter: Type.Optional(Type.String({ minLength: 1, maxLength: 1 })),
    quote: Type.Optional(Type.String({ maxLength: 1 })),
    widths: Type.Optional(patternText('widths', { maxLength: 5000 })),
    encoding: Type.Optional(Type.String()),
    header: Type.Optional(Type.Integer({ minimum: 0 })),
    footer: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
    sheet: Type.Optional(Type.Union([Type.String({ minLength: 1 }), Type.Integer({ minimum: 1 })])),
    range: Type.Optional(Type.String({ minLength: 1 })),
    file: Type.Optional(Type.String({ minLength: 1 })),
    records: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)

/** The schema of dataset.yaml (docs/portal.md). */
export const DATASET_SCHEMA = Type.Object(
  {
    source: Type.Object(
      {
        path: Type.Optional(Type.String({ minLength: 1 })),
        package: Type.Optional(Type.String({ minLength: 1 })),
        module: Type.Optional(Type.String({ minLength: 1 })),
        url: Type.Optional(patternText('sourceAddress')),
        authorization: Type.Optional(patternText('sourceCredentials')),
      },
      { additionalProperties: false },
    ),
    refresh: Type.Optional(Type.String({ minLength: 1 })),
    format: Type.Optional(
      Type.Union([...SOURCE_FORMATS, ...RDF_FORMATS].map(format => Type.Literal(format))),
    ),
    options: Type.Optional(READING_OPTIONS),
    processors: Type.Optional(PROCESSORS_SCHEMA),
    fields: Type.Optional(Type.Array(FieldSchema, { minItems: 1, maxItems: 1000 })),
    id: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
    metas: Type.Optional(Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()))),
    visibility: Type.Optional(Type.Union([Type.Literal('public'), Type.Literal('restricted')])),
    harvest: Type.Optional(
      Type.Object(
        { by: Type.String({ minLength: 1 }), dataset: Type.String({ minLength: 1 }) },
        { additionalProperties: false },
      ),
    ),
    attachments: Type.Optional(
      Type.Array(
        Type.Object(
          {
            path: Type.String(),
            title: Type.Optional(Type.String()),
            mimetype: Type.Optional(Type.String()),
          },
          { additionalProperties: false },
        ),
      ),
    ),
  },
  { additionalProperties: false },
)

/** The value of a valid dataset.yaml. */
export type DeclaredDataset = Static<typeof DATASET_SCHEMA>

/** The source that a dataset.yaml declares. */
export function sourceOf(value: DeclaredDataset): SourceSpec {
  const { url: _, authorization: __, ...source } = value.source
  return {
    ...source,
    ...(value.format === undefined ? {} : { format: value.format }),
    ...(value.options === undefined ? {} : { options: value.options as NonNullable<SourceSpec['options']> }),
  }
}

/** A field as declared in dataset.yaml. */
export function fieldSpec(field: Static<typeof FieldSchema>): FieldSpec {
  const given = Object.entries(field.annotations ?? {}).filter(([, args]) => args !== false)
  const annotations = Object.fromEntries(given.map(([key, args]) => [key, flagArguments(args)]))
  return { ...field, annotations } as FieldSpec
}

/** An annotation is a list of arguments; `true` is a flag without arguments, and `false` none. */
function flagArguments(args: string | number | boolean | readonly (string | number | boolean)[]) {
  return Array.isArray(args) ? args : args === true ? [] : [args]
}
