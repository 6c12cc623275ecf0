import type { TSchema } from 'typebox'
import { RELEASE } from '../../config/release.ts'
import { lookup, setMember } from '../../model/lookup.ts'
import {
  DATASET_BODY,
  FIELDS_BODY,
  METADATA_BODY,
  NEW_DATASET_BODY,
  QUERIES,
  RESTORE_BODY,
} from './bodies.ts'

type Operation = readonly [
  method: 'get' | 'post' | 'put' | 'delete',
  path: string,
  summary: string,
  /** The schema of a JSON body, or the media type of another. */
  body?: TSchema | string,
]

const DATASET = '/datasets/{dataset}'

/** The operations, in the order of a publisher's work. */
const OPERATIONS: readonly Operation[] = [
  ['get', '/datasets', 'List the datasets that the user may publish'],
  ['post', '/datasets', 'Begin a dataset', NEW_DATASET_BODY],
  ['get', DATASET, 'A dataset, with what is changed and not published'],
  [
    'put',
    DATASET,
    'Change metadata, fields, processors, source, schedule, how it is read, or who may see it',
    DATASET_BODY,
  ],
  ['delete', DATASET, 'Remove a dataset with its versions; its files are moved to var/deleted'],
  [
    'put',
    `${DATASET}/resources/files/{file}`,
    'Upload the source: the file itself is the body',
    'application/octet-stream',
  ],
  ['get', `${DATASET}/preview`, 'Fields with examples, and the first records, as publishing will make them'],
  ['get', `${DATASET}/fields`, 'The fields: declared, or inferred'],
  ['put', `${DATASET}/fields`, 'Declare the fields in their order', FIELDS_BODY],
  ['get', `${DATASET}/metadata`, 'Metadata by template and name'],
  ['put', `${DATASET}/metadata`, 'Change metadata; null takes one out', METADATA_BODY],
  ['get', `${DATASET}/mapping`, 'The YARRRML or RML mapping'],
  ['put', `${DATASET}/mapping`, 'Change the mapping', 'text/plain'],
  ['delete', `${DATASET}/mapping`, 'Go back to the direct mapping'],
  ['get', `${DATASET}/check`, 'The validation report: everything that publishing would refuse or drop'],
  ['post', `${DATASET}/publish`, 'Publish what was changed; answers at once'],
  ['get', `${DATASET}/status`, 'How the latest publication goes: idle, processing, warning, error'],
  ['post', `${DATASET}/unpublish`, 'Withdraw the dataset; its files stay'],
  ['post', `${DATASET}/discard`, 'Forget what was changed and not published'],
  ['get', `${DATASET}/versions`, 'The versions that are retained'],
  ['post', `${DATASET}/restore`, 'Put an older version in force, the one before by default', RESTORE_BODY],
  ['get', `${DATASET}/changes`, 'Who did what, the latest first'],
]

function queryOf(path: string) {
  const declared = Object.entries<{ description: string; schema: unknown }>(lookup(QUERIES, path) ?? {})
  return declared.map(([name, { description, schema }]) => ({ name, in: 'query', description, schema }))
}

function contentOf(body: TSchema | string) {
  return typeof body === 'string'
    ? { [body]: { schema: { type: 'string' } } }
    : { 'application/json': { schema: body } }
}

/** The OpenAPI description of the management API. */
export function managementDocument(base: string): unknown {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [method, path, summary, body] of OPERATIONS) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    setMember(paths, path, {
      ...lookup(paths, path),
      [method]: {
        summary,
        operationId: `${method}${path.replace(/[^a-z]+(\w?)/g, (_, next: string) => next.toUpperCase())}`,
        parameters: [
          ...names.map(name => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
          ...(method === 'get' ? queryOf(path) : []),
        ],
        ...(body === undefined ? {} : { requestBody: { content: contentOf(body) } }),
        responses: {
          '2XX': { description: 'The requested resource, or its state after the change' },
          '4XX': {
            description: 'The error in the request',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
          },
        },
      },
    })
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lodestone management API',
      version: RELEASE,
      description:
        'Describe, check, publish, withdraw and roll back datasets. Changes are collected in a draft until they are published; the files of the portal folder remain the source of truth.',
    },
    servers: [{ url: `${base}/api/management/v1` }],
    security: [{ apikey: [] }],
    paths,
    components: {
      securitySchemes: {
        apikey: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'Apikey and the key of a user who may publish',
        },
      },
      schemas: {
        Error: {
          type: 'object',
          properties: { error_code: { type: 'string' }, message: { type: 'string' } },
          required: ['error_code', 'message'],
        },
      },
    },
  }
}
