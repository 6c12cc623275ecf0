import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type MemberAnswer, MemberUnavailable, readJson, requestMember } from '../../catalog/member.ts'
import type { Federated, Network } from '../../catalog/network.ts'
import { BAD_GATEWAY, BAD_REQUEST, Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { JSON_TYPE, prettyJson } from '../../http/json.ts'
import { many } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { lookup } from '../../model/lookup.ts'
import { NAMING_PARAMETERS, type ParameterName } from './parameters.ts'

interface Params {
  readonly dataset?: string
  readonly record?: string
  readonly format?: string
}

/** The path that is requested from the portal of a dataset, by the end of the route. */
const PASSED: Readonly<Record<string, (params: Params) => string>> = {
  '/:dataset/records': () => '/records',
  '/:dataset/records/:record': ({ record = '' }) => `/records/${encodeURIComponent(record)}`,
  '/:dataset/aggregates': () => '/aggregates',
  '/:dataset/query': () => '/query',
  '/:dataset/facets': () => '/facets',
  '/:dataset/exports/:format': exportPath,
}

/** The parameters that are passed on: those of queries, and never credentials. */
const PARAMETERS: readonly ParameterName[] = [
  ...NAMING_PARAMETERS,
  'limit',
  'offset',
  'rows',
  'start',
  'lang',
  'timezone',
  'include_app_metas',
  'include_links',
  'use_labels',
]

/** Milliseconds until an answer begins, and until it is complete: an export may be long. */
const LIMITS = { timeout: 15_000, deadline: 300_000 }

/** Statuses with which a portal refuses a request; they are passed on as the answer. */
const REFUSALS: readonly number[] = [400, 403, 404, 410]
const REFUSAL_BYTES = 64 * 1024
const MAX_MESSAGE_LENGTH = 1000

/**
 * Proxies requests for records of a dataset of another portal to that portal: its answer is passed on unchanged, with its
 * own links (REST 7.4).
 *
 * @param api path of the API of the requested generation, the same on both portals
 */
export function passOn(app: FastifyInstance, network: Network, api: string): void {
  app.addHook('preHandler', async (request, reply) => {
    const params = request.params as Params
    const pathOf = lookup(PASSED, request.routeOptions.url?.replace(/^.*?(?=\/:dataset)/, '') ?? '')
    if (params.dataset === undefined || pathOf === undefined) return
    const federated = network.federated(params.dataset)
    if (federated === null) return
    const query = passedQuery(request.query as QueryParameters)
    try {
      const { dataset } = federated
      const home = `${api}/catalog/datasets/${encodeURIComponent(dataset)}`
      await answerFrom(federated, home + pathOf(params) + query, reply)
    } catch (error) {
      if (!(error instanceof MemberUnavailable)) throw error
      request.log.warn({ domain: federated.member.domain, reason: error.message }, 'network')
      throw new Fault(BAD_GATEWAY, { reason: error.message })
    }
    return reply
  })
}

async function answerFrom(federated: Federated, address: string, reply: FastifyReply): Promise<void> {
  const { member, dataset } = federated
  const answer = await requestMember(member, address, LIMITS)
  const isJson = /^application\/json\b/i.test(answer.contentType)
  if (answer.status === 200 && isJson && answer.body !== null) {
    reply.type(JSON_TYPE).send(Readable.fromWeb(answer.body))
    return
  }
  if (REFUSALS.includes(answer.status) && isJson) {
    const { error_code: code, message } = await readRefusal(federated, answer)
    refuse(reply, answer.status, code, message)
    return
  }
  await answer.body?.cancel()
  throw new MemberUnavailable(
    `The portal ${member.domain} answers ${answer.status} for the dataset ${dataset}.`,
  )
}

async function readRefusal({ member }: Federated, answer: MemberAnswer) {
  const read = (await readJson(member, answer, REFUSAL_BYTES)) as Readonly<Record<string, unknown>> | null
  const { error_code: code, message } = read ?? {}
  return {
    error_code: typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : BAD_REQUEST.code,
    message: typeof message === 'string' ? message.slice(0, MAX_MESSAGE_LENGTH) : 'The portal refuses.',
  }
}

function refuse(reply: FastifyReply, status: number, code: string, message: string): void {
  reply
    .code(status)
    .header('cache-control', 'no-cache, no-store')
    .type(JSON_TYPE)
    .send(prettyJson({ error_code: code, message }))
}

function exportPath({ format = '' }: Params): string {
  if (format === 'json') return '/exports/json'
  throw new Fault(NOT_FOUND_RESOURCE, { kind: 'export format', id: format.slice(0, 100) })
}

function passedQuery(query: QueryParameters): string {
  const passed = new URLSearchParams()
  for (const name of PARAMETERS) for (const value of many(query, name)) passed.append(name, value)
  return passed.size === 0 ? '' : `?${passed}`
}
