import { Type } from 'typebox'
import { patternText } from '../texts.ts'
import { seconds } from './seconds.ts'

/** The ports of the server, and the limits of connections and clients. */
export const SERVER_SETTINGS = {
  host: Type.Optional(Type.String({ minLength: 1, description: 'Address to listen on' })),
  port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65535, description: 'Port to listen on' })),
  admin_port: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65535,
      description: 'Port of a second listener with /metrics, /healthz and /readyz for operators',
    }),
  ),
  admin_host: Type.Optional(Type.String({ minLength: 1, description: 'Address of the second listener' })),
  metrics: Type.Optional(
    Type.Union([Type.Literal('public'), Type.Literal('private')], {
      description: 'Whether /metrics is also answered on the main port, to everybody',
    }),
  ),
  otel: Type.Optional(
    patternText('address', {
      description: 'Address of an OpenTelemetry collector that traces are sent to (OTLP over HTTP)',
    }),
  ),
  log: Type.Optional(
    Type.Union(
      (['silent', 'error', 'warn', 'info', 'debug'] as const).map(level => Type.Literal(level)),
      { description: 'Level of the log on stderr' },
    ),
  ),
  query_log: Type.Optional(
    patternText('size', {
      description: 'Maximum size of the anonymous log of SPARQL queries; without it nothing is logged',
    }),
  ),
  shutdown_delay: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 300,
      description: 'Seconds from the signal to end until no new connections are taken; /readyz answers 503',
    }),
  ),
  shutdown_timeout: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 3600,
      description: 'Seconds after that for running requests to finish',
    }),
  ),
  request_timeout: seconds('Seconds in which a whole request must have arrived'),
  idle_timeout: seconds('Seconds for which a connection without a request stays open'),
  write_timeout: seconds('Seconds after which a client that reads nothing of its answer is cut off'),
  address_connections: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Open connections that one client address may have, where no proxies are configured',
    }),
  ),
  proxies: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10,
      description: 'Reverse proxies in front whose X-Forwarded-For gives the address of the client',
    }),
  ),
  quotas: Type.Optional(
    Type.Object(
      {
        domain: dailyCalls('Calls of the APIs a day of everybody together'),
        anonymous: dailyCalls('Calls a day of one address without credentials'),
        user: dailyCalls('Calls a day of one user, where lodestone user quota gives no other number'),
      },
      { additionalProperties: false, description: 'Calls of the APIs that are allowed in a day of UTC' },
    ),
  ),
  work_burst: Type.Optional(
    Type.Number({
      minimum: 1,
      maximum: 86_400,
      description:
        'Seconds of work that one client may request in a burst before other clients get precedence',
    }),
  ),
  work_rate: Type.Optional(
    Type.Number({
      minimum: 0.01,
      maximum: 1000,
      description: 'Seconds of work by which the budget of each client grows a second',
    }),
  ),
}

function dailyCalls(description: string) {
  return Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000_000, description }))
}
