import { type TSchema, Type } from 'typebox'
import { coarsePrecision, type Field, type FieldType } from '../../model/field.ts'
import { REPORTED_FAULTS } from './reported-faults.ts'

/** JSON schemas of answers, in the dialect of OpenAPI 3.0. */

/** A schema that a document names under components, as others refer to it. */
export function named(name: string): TSchema {
  return Type.Ref(`#/components/schemas/${name}`)
}

/** OpenAPI 3.0 has no type null. */
function nullable(schema: TSchema): TSchema {
  return Type.Unsafe<unknown>({ ...schema, nullable: true })
}

/** One of some texts. */
export function choice<const Value extends string>(
  values: readonly Value[],
  more: Readonly<Record<string, unknown>> = {},
) {
  return Type.Unsafe<Value>({ type: 'string', enum: [...values], ...more })
}

const OPEN = { additionalProperties: true } as const
const anything = (description: string) => Type.Unsafe<unknown>({ description })
const moment = (description: string) => Type.String({ format: 'date-time', description })
const links = Type.Array(named('link'), { description: 'Links to related resources' })

const link = Type.Object(
  {
    href: Type.String({ format: 'uri', description: 'Address of the linked resource' }),
    rel: Type.String({ description: 'Relation: self, first, last, next, dataset, catalog …' }),
  },
  { description: 'A link to a related resource' },
)

const attachmentSummary = Type.Object({
  mimetype: Type.String(),
  url: Type.String({ format: 'uri' }),
  id: Type.String(),
  title: Type.String(),
})

const field = Type.Object({
  name: Type.String({ description: 'Name in queries' }),
  label: Type.String({ description: 'Label for people' }),
  type: Type.String({ description: 'Type of its values' }),
  annotations: Type.Object({}, { ...OPEN, description: 'Annotations of the publisher' }),
  description: nullable(Type.String()),
})

/** All is optional: a select clause leaves out the rest. */
const datasetParts = {
  visibility: Type.Optional(Type.String()),
  dataset_id: Type.Optional(Type.String({ description: 'Identifier of the dataset in addresses' })),
  dataset_uid: Type.Optional(Type.String({ readOnly: true })),
  has_records: Type.Optional(Type.Boolean()),
  data_visible: Type.Optional(Type.Boolean()),
  features: Type.Optional(
    nullable(
      Type.Array(Type.String(), { description: 'Features of the dataset: analyze, timeserie, geo …' }),
    ),
  ),
  attachments: Type.Optional(Type.Array(attachmentSummary)),
  fields: Type.Optional(Type.Array(field)),
  metas: Type.Optional(Type.Object({}, { ...OPEN, description: 'Metadata by template and name' })),
}

const alternativeExports = {
  alternative_exports: Type.Optional(Type.Array(anything('One more form of the dataset'))),
}

const facetValue = Type.Object({
  name: Type.String({ description: 'The last level of the value' }),
  value: Type.String({ description: 'The whole path, as refine and exclude take it' }),
  state: choice(['displayed', 'refined', 'excluded']),
  count: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Number of records; absent for an excluded value' }),
  ),
  facets: Type.Optional(Type.Array(named('facet_value'), { description: 'The next level' })),
})

const facet = Type.Object({
  name: Type.String({ description: 'The field' }),
  facets: Type.Array(named('facet_value')),
})

const attachment = Type.Object({
  href: Type.String({ format: 'uri' }),
  metas: Type.Object({}, { ...OPEN, description: 'mime-type, title and further metadata' }),
})

const template = Type.Object(
  { type: Type.String(), name: Type.String(), schema: Type.Array(Type.Object({}, OPEN)) },
  { description: 'The metadata of the template: an entry for each, with its label, type and editor' },
)

// Without OPEN, which says no more of an object without properties: in anyOf it makes Java clients of openapi-generator that do not compile.
const aggregation = Type.Object(
  {},
  { description: 'A group: one member for each key and each selected aggregate' },
)

const aboutRecord = {
  _id: Type.Optional(Type.String({ description: 'Identifier of the record, stable across publications' })),
  _timestamp: Type.Optional(moment('When it was published')),
  _size: Type.Optional(Type.Integer({ format: 'int64', minimum: 0 })),
  _links: Type.Optional(links),
}

const total = Type.Integer({
  minimum: 0,
  description: 'Number of all matching records or datasets; absent for groups in Explore API v2.1',
})

/** The schemas that documents name under components; with the fields of a dataset, only for that dataset. */
export function answerSchemas(
  isFlat: boolean,
  values: Readonly<Record<string, TSchema>> | null,
): Readonly<Record<string, TSchema>> {
  return {
    link,
    ...(isFlat ? flatSchemas(values ?? {}) : wrappedSchemas(values ?? {})),
    facet_value: facetValue,
    facet,
    facets: Type.Object({ links, facets: Type.Array(named('facet')) }),
    attachment,
    attachments: Type.Object({ links, attachments: Type.Array(named('attachment')) }),
    export_formats: Type.Object({ links }),
    links: Type.Object({ links }),
    templates: Type.Object({
      links,
      metadata_templates: Type.Array(Type.Object({ links, matadata_template: named('template') })),
    }),
    one_template: Type.Object({ links, metadata_template: named('template') }),
    template,
    fault,
    quota,
  }
}

function flatSchemas(values: Readonly<Record<string, TSchema>>): Readonly<Record<string, TSchema>> {
  const list = (items: string) =>
    Type.Object({
      total_count: Type.Optional(total),
      _links: Type.Optional(links),
      results: Type.Array(eitherOf(items)),
    })
  return {
    dataset: Type.Object({ _links: Type.Optional(links), ...datasetParts, ...alternativeExports }, OPEN),
    datasets: list('dataset'),
    record: Type.Object(
      { ...aboutRecord, ...optional(values) },
      { ...OPEN, description: 'A record, or the selected members of it' },
    ),
    records: list('record'),
    aggregation,
    exported: Type.Array(eitherOf('record')),
  }
}

function wrappedSchemas(values: Readonly<Record<string, TSchema>>): Readonly<Record<string, TSchema>> {
  return {
    dataset: Type.Object({ links, dataset: Type.Object(datasetParts, OPEN) }),
    datasets: Type.Object({ total_count: total, links, datasets: Type.Array(eitherOf('dataset')) }),
    fields: Type.Object(optional(values), {
      ...(Object.keys(values).length === 0 ? {} : OPEN),
      description: 'Values by the name of their field',
    }),
    record: Type.Object({
      links,
      record: Type.Object({
        id: Type.String({ description: 'Identifier of the record, stable across publications' }),
        timestamp: moment('When it was published'),
        size: Type.Integer({ format: 'int64', minimum: 0 }),
        fields: named('fields'),
      }),
    }),
    records: Type.Object({ total_count: total, links, records: Type.Array(eitherOf('record')) }),
    aggregation,
    results: Type.Object({ total_count: total, results: Type.Array(Type.Object({}, OPEN)) }),
    aggregations: Type.Object({
      links: Type.Optional(links),
      aggregations: Type.Array(named('aggregation')),
    }),
    exported: Type.Array(eitherOf('fields')),
  }
}

/** A row of a list: an item, or a group of items. */
function eitherOf(name: string): TSchema {
  return Type.Unsafe<unknown>({ anyOf: [named(name), named('aggregation')] })
}

function optional(values: Readonly<Record<string, TSchema>>): Record<string, TSchema> {
  return Object.fromEntries(Object.entries(values).map(([name, schema]) => [name, Type.Optional(schema)]))
}

/**
 * The values that a field has in answers; every one may be null.
 *
 * @param known all its values, if they are few and known
 * @param example one of its values
 */
export function valueSchema(
  known: Field,
  { all, example }: { readonly all?: readonly string[] | undefined; readonly example?: unknown } = {},
): TSchema {
  const { label, description, annotations } = known
  const unit = annotations.unit?.[0]
  const reported = `${description ?? label}${unit === undefined ? '' : ` (${String(unit)})`}`
  const about = { title: label, description: reported, ...(example === undefined ? {} : { example }) }
  const texts = all === undefined ? Type.String() : choice(all)
  if (known.multivalued) return nullable(Type.Array(texts, about))
  if (known.type === 'text' && all !== undefined)
    return Type.Unsafe<unknown>({ type: 'string', nullable: true, enum: [...all, null], ...about })
  return nullable({ ...plainSchema(known), ...about })
}

function plainSchema(known: Field): TSchema {
  if (coarsePrecision(known) !== null) return Type.String({ pattern: '^\\d{4}(-\\d\\d)?$' })
  return TYPE_SCHEMAS[known.type]
}

const GEOJSON = { url: 'https://www.rfc-editor.org/rfc/rfc7946', description: 'GeoJSON' }
const TYPE_SCHEMAS: Readonly<Record<FieldType, TSchema>> = {
  text: Type.String(),
  int: Type.Integer({ format: 'int64' }),
  double: Type.Number({ format: 'double' }),
  boolean: Type.Boolean(),
  date: Type.String({ format: 'date' }),
  datetime: Type.String({ format: 'date-time' }),
  geo_point_2d: Type.Object({
    lon: Type.Number({ minimum: -180, maximum: 180 }),
    lat: Type.Number({ minimum: -90, maximum: 90 }),
  }),
  geo_shape: Type.Object({ type: Type.String() }, { ...OPEN, externalDocs: GEOJSON }),
}

/** The envelope of errors (REST 5.1). */
const fault = Type.Object({
  error_code: Type.String({ minLength: 1, description: 'Code of the error, for programs' }),
  message: Type.String({ minLength: 1, description: 'Message of the error, for people' }),
})

const quota = Type.Object({
  errorcode: Type.Number(),
  reset_time: moment('When calls are counted anew'),
  limit_time_unit: Type.String({ minLength: 1 }),
  call_limit: Type.Number(),
  error: Type.String({ minLength: 1 }),
})

const JSON_TYPE = 'application/json'

const SAID: Readonly<Record<string, string>> = {
  400: 'The request or a clause of its query cannot be understood; the message names what and where',
  401: 'Credentials are missing or not known',
  403: 'The credentials do not allow it',
  404: 'There is no such dataset, record, format or address',
  410: 'The files of the requested version are damaged',
  422: 'The query needs more memory than one may have, or the format cannot write what was found',
  429: 'The calls of the day are used up, or the work that one client may ask for at once',
  500: 'The service met an unexpected condition',
  502: 'The portal that has the dataset does not answer, or nothing that can be handed on',
  503: 'The service is busy, or the query took too long',
}

/** The status for another portal that does not answer, and that of quotas, whose body is another one (REST 5.6). */
const BAD_GATEWAY = '502'
const QUOTA = '429'

/**
 * The error responses by status: the codes are those of the declared faults.
 *
 * @param isElsewhere true if other portals are requested
 */
export function faultResponses(isElsewhere: boolean): Readonly<Record<string, unknown>> {
  const said = Object.entries(SAID).filter(([status]) => isElsewhere || status !== BAD_GATEWAY)
  return Object.fromEntries(
    said.map(([status, description]) => {
      const codes = REPORTED_FAULTS.filter(known => known.status === Number(status)).map(({ code }) => code)
      const described = { ...fault, properties: { ...fault.properties, error_code: choice(codes) } }
      const schema = status === QUOTA ? Type.Union([named('quota'), described]) : described
      return [status, response(description, { [JSON_TYPE]: schema })]
    }),
  )
}

/** A response by the media types that it may have. */
export function response(description: string, types: Readonly<Record<string, TSchema>>): unknown {
  const content = Object.entries(types).map(([type, schema]) => [type, { schema }])
  return { description, content: Object.fromEntries(content) }
}
