import OAuth2Server from '@node-oauth/oauth2-server'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Fault, INTERNAL_ERROR } from '../../errors/errors.ts'
import { JSON_TYPE, prettyJson } from '../../http/json.ts'

interface Reported {
  readonly status: number
  readonly error: string
  readonly description: string
}

/** Answers errors of the token and the revocation endpoint (RFC 6749, section 5.2). */
export function answerOAuthError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, error: code, description } = reportOf(error)
  if (status === 500) request.log.error({ err: error, url: request.routeOptions.url }, 'unexpected')
  if (status === 401) reply.header('www-authenticate', 'Basic realm="oauth2", charset="UTF-8"')
  if (status === 503) reply.header('retry-after', '2')
  reply
    .code(status)
    .type(JSON_TYPE)
    .send(prettyJson({ error: code, error_description: description }))
}

function reportOf(error: unknown): Reported {
  if (error instanceof OAuth2Server.OAuthError && error.name !== 'server_error') {
    const status = error.name === 'invalid_client' && error.code !== 429 ? 401 : error.code
    return { status, error: error.name, description: plain(error.message) }
  }
  const cause = error instanceof OAuth2Server.OAuthError ? innerOf(error) : error
  if (cause instanceof Fault && cause.status !== 500)
    return {
      status: cause.status,
      error: cause.status >= 500 ? 'temporarily_unavailable' : 'invalid_request',
      description: plain(cause.message),
    }
  const { statusCode = 500, message = '' } = (cause ?? {}) as Partial<FastifyError>
  if (statusCode >= 400 && statusCode < 500)
    return { status: 400, error: 'invalid_request', description: plain(message) }
  return { status: 500, error: 'server_error', description: new Fault(INTERNAL_ERROR).message }
}

function innerOf(error: OAuth2Server.OAuthError): unknown {
  return (error as { readonly inner?: unknown }).inner ?? null
}

/** Only the characters that an error_description can have. */
function plain(text: string): string {
  return text
    .replaceAll('`', '')
    .replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
    .slice(0, 300)
}
