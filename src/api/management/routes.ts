import { Readable } from 'node:stream'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { expectedText } from '../../config/texts.ts'
import {
  BAD_REQUEST,
  CONTENT_TOO_LARGE,
  Fault,
  NOT_FOUND_RESOURCE,
  UNAUTHORISED,
  UNSUPPORTED_MEDIA_TYPE,
} from '../../errors/errors.ts'
import { hangUpSignal } from '../../http/client-budget.ts'
import { allowLongUpload } from '../../http/connections.ts'
import { answerFault, restBody } from '../../http/faults.ts'
import { textOfBody } from '../../http/form.ts'
import { JSON_TYPE, prettyJson } from '../../http/json.ts'
import { one } from '../../http/parameters.ts'
import type { Route } from '../../http/route-config.ts'
import { configureRoutes, refuseOtherMethods } from '../../http/route-config.ts'
import type { Principal } from '../../model/principal.ts'
import type { DefinitionChange } from '../../publishing/edit-definition.ts'
import type { Desk } from '../../publishing/management/desk.ts'
import { retainedVersions } from '../../publishing/versions/versions.ts'
import {
  DATASET_BODY,
  FIELDS_BODY,
  METADATA_BODY,
  NEW_DATASET_BODY,
  RESTORE_BODY,
  readRows,
} from './bodies.ts'
import { managementDocument } from './openapi.ts'
import { datasetJson, fieldJson, previewJson, statusJson } from './present.ts'

export interface ManagementOptions {
  readonly base: string
  readonly desk: Desk
}

/** Maximum bytes of a JSON body, and of a mapping. */
const MAX_BODY = 2_000_000

type DatasetRoute = Route<'dataset' | 'file' | 'template'>
type Work = (
  principal: Principal,
  id: string,
  request: FastifyRequest<DatasetRoute>,
  reply: FastifyReply,
) => unknown

/**
 * The management API: all functions of publishers, for programs with an API key of a user who may publish. Changes are stored
 * in a draft until they are published. The names follow Opendatasoft's Automation API.
 */
export const management: FastifyPluginAsync<ManagementOptions> = async (app, { base, desk }) => {
  app.setErrorHandler(answerFault(restBody))
  configureRoutes(app, { isCounted: true, methods: 'edit', apiType: 'other' }, ['/api/management'])
  const refuseOthers = refuseOtherMethods(app)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_, body, done) => done(null, body))
  app.addHook('preHandler', async request => {
    // A page of another site can make a browser send its cookies, but no API key.
    const { method, principal } = request
    if (method !== 'GET' && method !== 'HEAD' && principal.type === 'user' && principal.by === 'session')
      throw new Fault(UNAUTHORISED, { what: 'The management API takes API keys' })
  })
  const path = '/datasets/:dataset'
  const shown = (principal: Principal, id: string) =>
    datasetJson(base, desk.dataset(principal, id), desk.definition(principal, id))

  /** A route about a dataset, which answers what the work returns; 204 for nothing. */
  const route = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, work: Work) =>
    app.route<DatasetRoute>({
      method,
      url: path + url,
      handler: async (request, reply) => {
        const body = await work(request.principal, request.params.dataset, request, reply)
        return body === undefined ? reply.code(204).send() : send(reply, body)
      },
    })

  app.get('/openapi.json', async (_, reply) => send(reply, managementDocument(base)))

  app.get<DatasetRoute>('/datasets', async ({ principal, query }, reply) => {
    const ids = desk.ids(principal)
    desk.admit(principal, ids[0] ?? null)
    const { offset, limit } = readRows(query, '/datasets')
    const results = ids.slice(offset, offset + limit).map(id => shown(principal, id))
    return send(reply, { total_count: ids.length, results })
  })

  app.post<DatasetRoute>('/datasets', async (request, reply) => {
    const { dataset_id: id, title } = await bodyOf(request, NEW_DATASET_BODY)
    desk.create(request.principal, id, title ?? null)
    reply.code(201).header('location', `${base}/api/management/v1/datasets/${id}`)
    return send(reply, shown(request.principal, id))
  })

  route('GET', '', shown)
  route('PUT', '', async (principal, dataset, request) => {
    desk.dataset(principal, dataset)
    const {
      is_restricted: isRestricted,
      metadata,
      record_id: id,
      fields,
      ...rest
    } = await bodyOf(request, DATASET_BODY)
    const change: DefinitionChange = {
      ...(rest as Pick<DefinitionChange, 'source' | 'refresh' | 'format' | 'options' | 'processors'>),
      ...(fields === undefined ? {} : { fields: fields as NonNullable<DefinitionChange['fields']> }),
      ...(id === undefined ? {} : { id }),
      ...(metadata === undefined ? {} : { metas: metadata as NonNullable<DefinitionChange['metas']> }),
      ...(isRestricted === undefined ? {} : { visibility: isRestricted ? 'restricted' : 'public' }),
    }
    await desk.change(principal, dataset, change)
    return shown(principal, dataset)
  })
  route('DELETE', '', (principal, id) => desk.remove(principal, id))

  const metadata = (principal: Principal, id: string) => desk.definition(principal, id)?.metas ?? {}
  route('GET', '/metadata', metadata)
  route('PUT', '/metadata', async (principal, id, request) => {
    desk.dataset(principal, id)
    const metas = (await bodyOf(request, METADATA_BODY)) as NonNullable<DefinitionChange['metas']>
    await desk.change(principal, id, { metas })
    return metadata(principal, id)
  })

  const fields = async (principal: Principal, id: string) =>
    allOf((await desk.preview(principal, id, 0)).fields.map(({ spec }) => fieldJson(spec)))
  route('GET', '/fields', fields)
  route('PUT', '/fields', async (principal, id, request) => {
    desk.dataset(principal, id)
    const given = await bodyOf(request, FIELDS_BODY)
    await desk.change(principal, id, { fields: given as NonNullable<DefinitionChange['fields']> })
    return fields(principal, id)
  })

  app.get<DatasetRoute>(`${path}/mapping`, async ({ principal, params }, reply) => {
    const text = desk.mapping(principal, params.dataset)
    if (text === null) throw new Fault(NOT_FOUND_RESOURCE, { kind: 'mapping of', id: params.dataset })
    return reply.type('text/plain; charset=utf-8').send(text)
  })
  route('PUT', '/mapping', async (principal, id, request) => {
    desk.dataset(principal, id)
    desk.changeMapping(principal, id, await textOf(request))
  })
  route('DELETE', '/mapping', (principal, id) => desk.changeMapping(principal, id, null))

  // A file comes as the whole body, so that it streams to the disk: curl -T trees.csv …/resources/files/
  const upload: Work = async (principal, id, { params, query, body, headers, raw }, reply) => {
    desk.admit(principal, id)
    const name = params.file ?? one(query, 'filename')
    if (name === undefined || name === '')
      throw new Fault(BAD_REQUEST, {
        reason: 'The name of the file is expected in the address, or as filename.',
      })
    if (headers['content-type']?.startsWith('multipart/') === true)
      throw new Fault(UNSUPPORTED_MEDIA_TYPE, {
        reason: 'The file itself is expected as body, not a form: curl -T FILE …/resources/files/',
      })
    const stream = body instanceof Readable ? body : Readable.from([])
    allowLongUpload(raw)
    const taken = await desk.upload(principal, id, { name, stream, signal: hangUpSignal(reply.raw) })
    reply.code(201)
    return { ...taken, dataset: shown(principal, id) }
  }
  for (const method of ['PUT', 'POST'] as const) route(method, '/resources/files/:file', upload)
  route('POST', '/resources/files', upload)

  route('GET', '/preview', async (principal, id, { query }) =>
    previewJson(await desk.preview(principal, id, readRows(query, '/datasets/{dataset}/preview').limit)),
  )

  for (const method of ['GET', 'POST'] as const)
    route(method, '/check', async (principal, id) => {
      const findings = await desk.check(principal, id)
      const errors = findings.filter(({ severity }) => severity === 'error').length
      return { is_publishable: errors === 0, errors, warnings: findings.length - errors, findings }
    })

  const status = (principal: Principal, id: string) =>
    statusJson(desk.dataset(principal, id), desk.status(principal, id))
  route('GET', '/status', status)
  route('POST', '/publish', async (principal, id, _, reply) => {
    await desk.publish(principal, id)
    const body = status(principal, id)
    reply.code(202).header('location', `${base}/api/management/v1/datasets/${id}/status`)
    return body
  })
  route('POST', '/unpublish', async (principal, id) => {
    await desk.withdraw(principal, id)
    return shown(principal, id)
  })
  route('POST', '/discard', (principal, id) => desk.discard(principal, id))
  route('POST', '/restore', async (principal, id, request) => {
    const { version } = await bodyOf(request, RESTORE_BODY)
    await desk.rollBack(principal, id, version ?? null)
    return shown(principal, id)
  })
  route('GET', '/versions', (principal, id) => {
    desk.dataset(principal, id)
    return allOf(
      retainedVersions(desk.options.versions, id).map(({ version, published, statistics, restored }, at) => ({
        version,
        published,
        records_count: statistics.records,
        in_force: at === 0,
        restored: restored?.version ?? null,
      })),
    )
  })
  route('GET', '/changes', (principal, id) => allOf(desk.history(principal, id)))
  refuseOthers()
}

function send(reply: FastifyReply, body: unknown): FastifyReply {
  return reply.header('cache-control', 'private, no-store').type(JSON_TYPE).send(prettyJson(body))
}

function allOf(results: readonly unknown[]) {
  return { total_count: results.length, results }
}

async function textOf({ body }: FastifyRequest): Promise<string> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of body instanceof Readable ? body : []) {
    length += (piece as Buffer).length
    if (length > MAX_BODY)
      throw new Fault(CONTENT_TOO_LARGE, { reason: `The body has more than ${MAX_BODY} bytes.` })
    pieces.push(piece as Buffer)
  }
  return textOfBody(Buffer.concat(pieces))
}

/** The body of a request as JSON of a schema; an empty one is an empty object. Faults: BadRequest with the position. */
async function bodyOf<S extends TSchema>(request: FastifyRequest, schema: S): Promise<Static<S>> {
  const text = await textOf(request)
  let value: unknown
  try {
    value = text.trim() === '' ? {} : JSON.parse(text)
  } catch (error) {
    throw new Fault(BAD_REQUEST, { reason: `The body is no JSON: ${(error as Error).message}` })
  }
  if (Value.Check(schema, value)) return value as Static<S>
  const [first] = [...Value.Errors(schema, value)]
  const { keyword, instancePath = '', message = 'is not as expected' } = first ?? {}
  const expected = first?.keyword === 'pattern' ? expectedText(first.params.pattern) : undefined
  // Members that a schema does not name have the schema `false`.
  const problem =
    keyword === 'boolean'
      ? 'no such member is known, openapi.json lists them'
      : expected === undefined
        ? message
        : `expected ${expected}`
  throw new Fault(BAD_REQUEST, {
    reason: `The body is not as expected at ${instancePath === '' ? 'its root' : instancePath}: ${problem}.`,
  })
}
