import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import {
  BAD_REQUEST,
  CONTENT_TOO_LARGE,
  DISK_FULL_CODES,
  declareFault,
  Fault,
  INTERNAL_ERROR,
  isFault,
  openFilesText,
} from '../errors/errors.ts'
import { challenge } from './authenticate.ts'
import { JSON_TYPE, prettyJson } from './json.ts'
import { QuotaExceeded, quotaBody, returnCall } from './observe.ts'
import { addressWithoutSecrets } from './query-string.ts'

/** The system refuses another file or connection. */
export const TOO_MANY_OPEN_FILES = declareFault(
  'TooManyOpenFiles',
  503,
  'The service has too many files and connections open at once. Try again in a moment.',
)

/** The disk of the portal is full or read-only. */
export const STORAGE_UNAVAILABLE = declareFault(
  'StorageUnavailable',
  503,
  'The service cannot store anything now: its disk is {state}. Its operator has to change that.',
)

/** Errors of the system about a disk that takes nothing. */
const DISK_STATES: ReadonlyMap<unknown, string> = new Map([
  ...DISK_FULL_CODES.map(code => [code, 'full'] as const),
  ['EROFS', 'read-only'],
])

/** Turns a fault into the error body of an API. */
export type FaultBody = (fault: Fault) => unknown

/** The envelope of the REST APIs (REST 5.1), or the body of a quota that is used up (REST 5.6). */
export function restBody(fault: Fault): unknown {
  if (fault instanceof QuotaExceeded) return quotaBody(fault.allowance)
  return { error_code: fault.code, message: fault.message }
}

/**
 * Answers any error: a fault with its status and the API's own body, an error of the web framework as the corresponding
 * fault, anything else as 500 without details, which go to the log.
 */
export function answerFault(body: FaultBody, contentType = JSON_TYPE) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const fault = faultOf(error)
    if (isFault(fault, TOO_MANY_OPEN_FILES)) request.log.error(openFilesText(fault.cause))
    if (isGone(error, reply)) request.log.debug({ request: request.id }, 'the client left before the answer')
    else if (isFault(fault, INTERNAL_ERROR, STORAGE_UNAVAILABLE))
      request.log.error(
        { request: request.id, err: error, url: addressWithoutSecrets(request.url).slice(0, 500) },
        'unexpected',
      )
    dropHeaders(reply)
    if (fault.status === 401) challenge(request, reply, fault)
    if (fault.status === 503) reply.header('retry-after', '2')
    if (!fault.isCounted) returnCall(reply)
    const described = body(fault)
    reply
      .code(fault.status)
      .type(contentType)
      .send(typeof described === 'string' ? described : prettyJson(described))
  }
}

/** True for work that was cancelled because its client left. */
function isGone(error: unknown, { raw }: FastifyReply): boolean {
  return raw.destroyed && error instanceof Error && error.name === 'AbortError'
}

/** Headers of the successful answer, which an error must not carry; those of the quota remain. */
const OF_SUCCESS = ['etag', 'content-disposition', 'content-encoding']

function dropHeaders(reply: FastifyReply): void {
  for (const name of OF_SUCCESS) {
    reply.removeHeader(name)
    // A stream that failed before its first chunk has set its headers there already.
    if (!reply.raw.headersSent) reply.raw.removeHeader(name)
  }
  reply.header('cache-control', 'no-cache, no-store')
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault)
    return error.status === 500 ? new Fault(INTERNAL_ERROR, {}, { cause: error }) : error
  const { statusCode: status, code } = (error ?? {}) as Partial<FastifyError>
  // The framework's own message repeats the whole address, which may have credentials.
  if (code === 'FST_ERR_BAD_URL')
    return new Fault(BAD_REQUEST, {
      reason: 'The path of the address cannot be decoded: percent-encoded UTF-8 is expected.',
    })
  if (code === 'FST_ERR_MAX_PARAM_LENGTH')
    return new Fault(BAD_REQUEST, { reason: 'A part of the path of the address is too long.' })
  if (openFilesText(error) !== null) return new Fault(TOO_MANY_OPEN_FILES, {}, { cause: error })
  const state = DISK_STATES.get(code)
  if (state !== undefined) return new Fault(STORAGE_UNAVAILABLE, { state }, { cause: error })
  const message = (error as Partial<Error> | null)?.message ?? ''
  if (status === 413) return new Fault(CONTENT_TOO_LARGE, { reason: message.slice(0, 200) })
  if (status !== undefined && status >= 400 && status < 500)
    return new Fault(BAD_REQUEST, { reason: message.length > 200 ? `${message.slice(0, 200)}…` : message })
  return new Fault(INTERNAL_ERROR, {}, { cause: error })
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/** A fault as a problem document (RFC 9457): the error body of the linked-data endpoints. */
export function problemBody(fault: Fault): unknown {
  return { type: 'about:blank', title: fault.code, status: fault.status, detail: fault.message }
}
