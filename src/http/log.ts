import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger, FastifyRequest, FastifyServerOptions } from 'fastify'
import type { Config } from '../config/config.ts'
import { withoutCredentials } from '../model/credentials.ts'
import type { Answered, RequestObserver } from './observe.ts'
import { addressWithoutSecrets } from './query-string.ts'
import { endpointOf } from './route-config.ts'

/** Members of logged objects that must not reach the log. */
const REDACTED = ['authorization', 'cookie', 'set-cookie', 'apikey', 'password', 'secret', 'token'].flatMap(
  name => [`["${name}"]`, `*["${name}"]`, `*.headers["${name}"]`],
)

/**
 * The options of the logger: one line of JSON an entry, with the time as ISO 8601 and the level as a word. Credentials are
 * removed from known members, and from the text of the line: messages of libraries repeat addresses with passwords.
 *
 * @param out where lines are written to, usually process.stderr
 */
export function loggerOptions(level: Config['log'], out: { write(text: string): unknown }) {
  return {
    level,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: REDACTED, censor: 'redacted' },
    stream: { write: (line: string) => void out.write(withoutCredentials(line)) },
  } satisfies FastifyServerOptions['logger']
}

/** Longer addresses are truncated. */
const MAX_LENGTH = 2000

/**
 * Writes one line a request, at the level `info`; requests of monitoring at `debug`. Credentials in addresses are removed,
 * users are identified by number and not by name.
 */
export function requestLog(log: FastifyBaseLogger): RequestObserver {
  const write = (endpoint: string, line: Readonly<Record<string, unknown>>) => {
    if (endpoint === 'operating') log.debug(line, 'request')
    else log.info(line, 'request')
  }
  return {
    ended: (request, _, answered) => write(answered.endpoint, lineOf(request, answered)),
    repeated: (request, reply) => {
      const endpoint = endpointOf(request)
      const { statusCode: status } = reply.raw
      return (message, id) =>
        write(endpoint, { request: id, ...requestFields(message), endpoint, status, ms: 0, cached: true })
    },
  }
}

function lineOf(request: FastifyRequest, answered: Answered) {
  const { principal } = request
  const { endpoint, route, status, milliseconds, bytes, aborted } = answered
  return {
    request: request.id,
    ...requestFields(request.raw),
    endpoint,
    route,
    status,
    ms: Math.round(milliseconds * 100) / 100,
    bytes,
    ...(principal?.type === 'user' ? { user: principal.id, by: principal.by } : {}),
    ...(aborted ? { aborted } : {}),
  }
}

function requestFields({ method, url = '' }: IncomingMessage) {
  return { method, path: addressWithoutSecrets(url).slice(0, MAX_LENGTH) }
}
