import type { FastifyInstance } from 'fastify'
import { type TSchema, Type } from 'typebox'
import type { VisibleDatasets } from '../../catalog/visible.ts'
import {
  EXPORT_FORMATS,
  type ExportFormat,
  exportFormats,
  type Generation,
  tableFormats,
} from '../../formats/export-formats.ts'
import { functionsOf } from '../../language/odsql/vocabulary.ts'
import type { Field } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { textValue, titleOf } from '../../model/metadata.ts'
import type { ExploreEndpoint } from './endpoint.ts'
import { CATALOG_EXAMPLES, type Examples, type SampleRecords, sourceExamples } from './examples.ts'
import { type ApiOperation, DCAT_PROFILES, OPERATIONS } from './operations.ts'
import { EXPLORE_PARAMETERS, PATH_PARAMETERS, type Parameter, UNNAMED } from './parameters.ts'
import type { SourceName } from './present.ts'
import { answerSchemas, choice, faultResponses, named, response, valueSchema } from './schemas.ts'

/** What differs between the document of an API and that of one dataset. */
interface Scope {
  /** The dataset that the paths are bound to; null for all of them. */
  readonly dataset: string | null
  readonly title: string
  readonly description: string
  readonly values: Readonly<Record<string, TSchema>> | null
  readonly fields: readonly Field[]
  readonly examples: (source: SourceName) => Examples
}

/**
 * The OpenAPI document of an API: what is served, with examples of one of its datasets (REST 1.3).
 *
 * @param visible what the caller may see
 * @param sample null if no dataset has records
 */
export function apiDocument(
  app: FastifyInstance,
  endpoint: ExploreEndpoint,
  visible: VisibleDatasets,
  sample: SampleRecords | null,
): unknown {
  return document(app, endpoint, {
    dataset: null,
    title: endpoint.options.dialect.name === 'search-v2' ? 'Search API' : 'Explore API',
    description:
      'Queries the datasets of the portal and their records. All calls are GET. Conditions, selections and groups are ' +
      'written in one query language, ODSQL. Each dataset has a document of its own at `/catalog/datasets/{dataset_id}/swagger.json`.',
    values: null,
    fields: endpoint.catalogFields(visible),
    examples: source => (sample === null ? {} : sourceExamples(source, sample, endpoint.options.base)),
  })
}

/** The OpenAPI document of one dataset: its paths, its fields as the schema of its records, the values of its facets. */
export function datasetOpenApi(
  app: FastifyInstance,
  endpoint: ExploreEndpoint,
  sample: SampleRecords,
): unknown {
  const { dataset } = sample.entry
  return document(app, endpoint, {
    dataset: dataset.id,
    title: titleOf(dataset),
    description: textValue(dataset.metas.default?.description)?.replace(/<[^>]*>/g, '') ?? '',
    values: valueSchemas(sample),
    fields: dataset.fields,
    examples: source => sourceExamples(source, sample, endpoint.options.base),
  })
}

function valueSchemas({ entry, facets }: SampleRecords): Readonly<Record<string, TSchema>> {
  const schemas = entry.dataset.fields.map(known => {
    const facet = facets.find(({ name }) => name === known.name)
    const isText = known.type === 'text'
    const all = isText && facet?.isWhole === true ? facet.values : undefined
    const example = isText && !known.multivalued ? facet?.values[0] : undefined
    return [known.name, valueSchema(known, { all, example })] as const
  })
  return Object.fromEntries(schemas)
}

function document(app: FastifyInstance, endpoint: ExploreEndpoint, scope: Scope): unknown {
  const { dialect } = endpoint.options
  const served = OPERATIONS.filter(operation => isServed(app, endpoint, operation, scope)).filter(
    ({ path }) => scope.dataset === null || path.startsWith(DATASET_PATH),
  )
  const paths = served.map(operation => [
    scope.dataset === null
      ? operation.path
      : operation.path.replace('{dataset_id}', encodeURIComponent(scope.dataset)),
    { get: describeOperation(endpoint, operation, scope) },
  ])
  return {
    openapi: '3.0.3',
    info: {
      title: scope.title,
      version: dialect.name.replace(/^\w+-/, ''),
      description: scope.description,
    },
    servers: [{ url: endpoint.place.root }],
    security: [{}, { apikey: [] }, { authorization: [] }],
    tags: TAGS.filter(({ name }) => served.some(operation => tagOf(operation) === name)),
    paths: Object.fromEntries(paths),
    components: {
      schemas: answerSchemas(endpoint.isFlat, scope.values),
      responses: faultResponses(served.some(isRequestedElsewhere)),
      securitySchemes: SECURITY,
    },
    'x-odsql': {
      functions: Object.fromEntries(
        CLAUSES.map(clause => [
          clause,
          functionsOf(clause).map(({ signature, description }) => ({ signature, says: description })),
        ]),
      ),
      fields: scope.fields.map(({ name, type, label }) => ({ name, type, label })),
    },
  }
}

const DATASET_PATH = '/catalog/datasets/{dataset_id}'
const CLAUSES = ['select', 'where', 'group_by', 'order_by'] as const
const TAGS = [
  { name: 'Catalog', description: 'The datasets of the portal' },
  { name: 'Dataset', description: 'The records of a dataset' },
  { name: 'Monitoring', description: 'The use of the portal, as datasets' },
  { name: 'Network', description: 'The datasets of this portal and of others' },
]
const SOURCE_TAGS = {
  catalog: null,
  monitoring: 'Monitoring',
  network: 'Network',
  opendatasoft: 'Network',
} as const

function tagOf({ tag, source = 'catalog' }: ApiOperation): string {
  return SOURCE_TAGS[source] ?? tag
}

/** True if the answer may come from another portal. */
function isRequestedElsewhere({ source, tag, path }: ApiOperation): boolean {
  return source === 'network' && tag === 'Dataset' && !/\/(exports|attachments)$/.test(path)
}

const SECURITY = {
  apikey: { type: 'apiKey', in: 'query', name: 'apikey', description: 'Key of an account' },
  authorization: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: '`Apikey` and the key of an account',
  },
}

function describeOperation(endpoint: ExploreEndpoint, operation: ApiOperation, scope: Scope): unknown {
  const { id, tag, source = 'catalog', summary, description } = operation
  const known = scope.examples(source)
  const ofCatalog = source === 'catalog' ? CATALOG_EXAMPLES : { ...CATALOG_EXAMPLES, sort: '-records_count' }
  const own = tag === 'Catalog' ? { ...ofCatalog, dataset_id: known.dataset_id } : known
  const names = operation.parameters(endpoint.options.dialect.name)
  const parameters = [
    ...pathParameters(endpoint, operation, scope, own),
    ...names.map(name => describe(name, EXPLORE_PARAMETERS[name], own)),
  ]
  const answered = { 200: answerOf(endpoint, operation, scope) }
  return {
    operationId: id,
    tags: [tagOf(operation)],
    summary,
    description,
    parameters,
    responses: { ...answered, ...refusals(isRequestedElsewhere(operation)) },
  }
}

function answerOf(endpoint: ExploreEndpoint, operation: ApiOperation, scope: Scope): unknown {
  const { answer, description } = operation
  switch (answer.type) {
    case 'json':
      return response(description, { 'application/json': named(answer.schema) })
    case 'file':
      return response(description, { '*/*': Type.String({ format: 'binary' }) })
    case 'export':
      return response(description, {
        ...exportTypes(operation, formatsOf(endpoint, operation, scope)),
        ...(operation.parameters(endpoint.options.dialect.name).includes('compressed')
          ? { 'application/gzip': BINARY }
          : {}),
      })
  }
}

function refusals(isElsewhere: boolean): Readonly<Record<string, unknown>> {
  const statuses = Object.keys(faultResponses(isElsewhere))
  return Object.fromEntries(statuses.map(status => [status, { $ref: `#/components/responses/${status}` }]))
}

/** The parameters of the path, except the dataset if it is bound to one. */
function pathParameters(
  endpoint: ExploreEndpoint,
  operation: ApiOperation,
  scope: Scope,
  examples: Examples,
): readonly unknown[] {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return names.flatMap(name => {
    if (name === 'dataset_id' && scope.dataset !== null) return []
    const formats = formatsOf(endpoint, operation, scope).map(known => known.name)
    if (name === 'format')
      return [
        describe(name, formatParameter(formats), { format: formats.includes('json') ? 'json' : formats[0] }),
      ]
    if (name !== 'dcat_ap_format') return [describe(name, lookup(PATH_PARAMETERS, name) ?? UNNAMED, examples)]
    const profiles = formats.map(format => format.slice('dcat'.length))
    return [describe(name, formatParameter(profiles), { dcat_ap_format: profiles[0] })]
  })
}

function formatParameter(formats: readonly string[]): Parameter {
  return { in: 'path', schema: choice(formats), description: 'Format of the file.' }
}

function describe(key: string, parameter: Parameter, examples: Examples): unknown {
  const { in: place = 'query', name = key, schema, description } = parameter
  const example = lookup(examples, parameter.example ?? name)
  const isList = (schema as { readonly type?: string }).type === 'array'
  return {
    name,
    in: place,
    description,
    ...(place === 'path' ? { required: true } : {}),
    ...(isList ? { style: 'form', explode: true } : {}),
    schema,
    ...(example === undefined ? {} : { example: isList ? [example] : example }),
  }
}

/**
 * True if the API has a route for the operation: documents describe only what is served. Those of the Explore API describe
 * only the catalog, as on live services.
 */
function isServed(
  app: FastifyInstance,
  endpoint: ExploreEndpoint,
  operation: ApiOperation,
  scope: Scope,
): boolean {
  const { id, source, path, format, answer } = operation
  if (source !== undefined && endpoint.options.dialect.name !== 'search-v2') return false
  if (endpoint.isFlat && /^(?:aggregate|query)/.test(id)) return false
  const any = format === undefined ? path : path.replace(/[^/]+$/, '{format}')
  if (!hasRoute(app, endpoint, path) && !hasRoute(app, endpoint, any)) return false
  return answer.type !== 'export' || formatsOf(endpoint, operation, scope).length > 0
}

function hasRoute(app: FastifyInstance, endpoint: ExploreEndpoint, path: string): boolean {
  const url = endpoint.options.path + path.replace(/^\/$/, '').replace(/\{(\w+)\}/g, ':$1')
  return app.hasRoute({ method: 'GET', url })
}

/** The formats of an operation, of those of the catalog, of a dataset, or all that datasets may have. */
function formatsOf(
  endpoint: ExploreEndpoint,
  operation: ApiOperation,
  scope: Scope,
): readonly ExportFormat[] {
  const { format } = operation
  const known = knownFormats(endpoint.options.dialect.name, operation, scope)
  if (format === undefined) return known
  if (format === DCAT_PROFILES) return known.filter(({ name }) => name.startsWith(DCAT_PROFILES))
  return known.filter(({ name }) => name === format)
}

function knownFormats(
  generation: Generation,
  { tag, source = 'catalog' }: ApiOperation,
  { dataset, fields }: Scope,
): readonly ExportFormat[] {
  if (tag === 'Catalog') {
    const formats = exportFormats(generation, 'catalog')
    return source === 'catalog' ? formats : formats.filter(({ name }) => name === 'json')
  }
  if (source !== 'catalog') return tableFormats(generation, 'any')
  if (dataset !== null) return exportFormats(generation, fields)
  return EXPORT_FORMATS.filter(
    ({ sources, generations }) => sources.includes('dataset') && generations.includes(generation),
  )
}

function exportTypes(
  { tag, source = 'catalog' }: ApiOperation,
  formats: readonly ExportFormat[],
): Readonly<Record<string, TSchema>> {
  // JSON of the catalog is a list of datasets or, as data.json, an object of another standard.
  const typeOf = (name: string, of: string, other: TSchema) => {
    if (name === 'json' && of === 'Dataset') return named('exported')
    if (source !== 'catalog' && of === 'Catalog') return Type.Array(named('dataset'))
    return /^(?:geojson|jsonld)$/.test(name) || (name.endsWith('json') && of === 'Catalog')
      ? Type.Unknown()
      : other
  }
  return Object.fromEntries(
    formats.map(({ name, mediaType }) => [mediaType.replace(/;.*/s, ''), typeOf(name, tag, BINARY)]),
  )
}

const BINARY = Type.String({ format: 'binary' })
