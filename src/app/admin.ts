import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import { setNoStore } from '../http/conditional.ts'
import { type HealthOptions, health, OPERATING } from '../http/health.ts'

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
const TIMEOUTS = {
  requestTimeout: 10_000,
  keepAliveTimeout: 5000,
  http: { headersTimeout: 10_000, connectionsCheckingInterval: 5000 },
}

/**
 * Listens for operators, on a separate port: `/metrics`, `/healthz` and `/readyz`. It does not authenticate: access is
 * controlled by its address. Rejects with the error of the operating system if the port cannot be opened.
 */
export async function openAdminEndpoint(options: AdminOptions): Promise<AdminEndpoint> {
  const { host, port, metrics } = options
  const http = fastify({ ...TIMEOUTS, forceCloseConnections: true })
  http.addHook('onRequest', ({ method }, reply, done) => {
    setNoStore(reply).header('x-content-type-options', 'nosniff')
    if (method === 'GET' || method === 'HEAD') return done()
    reply.header('allow', 'GET, HEAD').code(405).type(TEXT).send('GET is expected.\n')
  })
  http.setNotFoundHandler((_, reply) => {
    reply.code(404).type(TEXT).send('There are /metrics, /healthz and /readyz here.\n')
  })
  http.setErrorHandler((_, __, reply) => {
    reply.code(500).type(TEXT).send('The metrics are unavailable.\n')
  })
  await http.register(health, options.health)
  serveMetrics(http, metrics, 'operators')
  await http.listen({ host, port })
  const { port: taken } = http.server.address() as AddressInfo
  return { port: taken, close: () => http.close() }
}

const TEXT = 'text/plain; charset=utf-8'

/** Answers `/metrics`; on the port of the portal to everybody. */
export function serveMetrics(
  http: FastifyInstance,
  metrics: MetricsText,
  audience: 'everybody' | 'operators',
): void {
  http.get('/metrics', { config: OPERATING }, async (_, reply) =>
    setNoStore(reply)
      .type(metrics.contentType)
      .send(await metrics.text(audience)),
  )
}
