import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { ALIVE, type HealthOptions, OPERATING, RETRY_AFTER, readyAnswer } from '../http/health.ts'

/** The metrics of a process in the text format of Prometheus. */
export interface MetricsText {
  readonly contentType: string
  /** @param audience only operators get the names of restricted datasets */
  text(audience: 'everybody' | 'operators'): Promise<string>
}

export interface AdminOptions {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  readonly health: HealthOptions
  readonly metrics: MetricsText
}

export interface AdminEndpoint {
  readonly port: number
  close(): Promise<void>
}

/** Milliseconds: requests here have no bodies. */
const TIMEOUTS = { requestTimeout: 10_000, headersTimeout: 10_000, connectionsCheckingInterval: 5000 }

/**
 * Listens for operators, on a separate port: `/metrics`, `/healthz` and `/readyz`. It does not authenticate: access is
 * controlled by its address. Rejects with the error of the operating system if the port cannot be opened.
 */
export async function openAdminEndpoint({
  host,
  port,
  health,
  metrics,
}: AdminOptions): Promise<AdminEndpoint> {
  const server = createServer(TIMEOUTS, (message, response) => {
    answer(message, response, health, metrics).catch(() => {
      if (!response.headersSent)
        send(response, 500, 'text/plain; charset=utf-8', 'The metrics are unavailable.\n')
    })
  })
  await listen(server, host, port)
  const { port: taken } = server.address() as AddressInfo
  return {
    port: taken,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Answers `/metrics` on the port of the portal, to everybody. */
export function serveMetrics(http: FastifyInstance, metrics: MetricsText): void {
  http.get('/metrics', { config: OPERATING }, async (_, reply) =>
    reply
      .header('cache-control', 'no-cache, no-store')
      .type(metrics.contentType)
      .send(await metrics.text('everybody')),
  )
}

async function answer(
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
  health: HealthOptions,
  metrics: MetricsText,
): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    return send(response, 405, 'text/plain; charset=utf-8', 'GET is expected.\n')
  }
  switch (url.split('?')[0]) {
    case '/metrics':
      return send(response, 200, metrics.contentType, await metrics.text('operators'))
    case '/healthz':
      return sendJson(response, ALIVE.status, ALIVE.body)
    case '/readyz': {
      const { status, body } = await readyAnswer(health)
      if (status === 503) response.setHeader('retry-after', RETRY_AFTER)
      return sendJson(response, status, body)
    }
    default:
      return send(
        response,
        404,
        'text/plain; charset=utf-8',
        'There are /metrics, /healthz and /readyz here.\n',
      )
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  send(response, status, 'application/json; charset=utf-8', JSON.stringify(body))
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-cache, no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(response.req.method === 'HEAD' ? undefined : body)
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen({ host, port }, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
}
