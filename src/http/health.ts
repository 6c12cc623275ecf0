import type { FastifyPluginAsync } from 'fastify'
import { setNoStore } from './conditional.ts'
import { configureRoutes } from './route-config.ts'

/** Whether requests should be sent here: not before every dataset is served, and not while the process shuts down. */
export type Readiness = 'publishing' | 'ready' | 'stopping'

export interface HealthOptions {
  readonly readiness: () => Readiness
  /** False while no thread of the store can take a query because all are being replaced. */
  readonly canAnswer: () => Promise<boolean>
  /** How many of the public datasets are served; null once all are. */
  readonly startProgress: () => { readonly served: number; readonly expected: number } | null
  /** Statistics for operators, limited to what is public. */
  readonly statistics: () => Promise<Readonly<Record<string, unknown>>>
}

/** Paths that operators and their monitoring programs poll. */
export const OPERATORS_PATHS: readonly string[] = ['/healthz', '/readyz', '/metrics']

/** The configuration of routes for monitoring: also of the metrics, wherever they are served. */
export const OPERATING = { endpoint: 'operating', access: 'everybody' } as const

/**
 * `/healthz` answers while the process lives; `/readyz` answers 200 once every dataset is served, while a thread can answer,
 * and until shutdown begins.
 */
export const health: FastifyPluginAsync<HealthOptions> = async (app, options) => {
  configureRoutes(app, OPERATING, OPERATORS_PATHS)
  app.addHook('onRequest', (_, reply, done) => {
    setNoStore(reply)
    done()
  })
  app.get('/healthz', async () => ({ status: 'alive' }))
  app.get('/readyz', async (_, reply) => {
    const { status, body } = await readyAnswer(options)
    if (status === 503) reply.header('retry-after', '2')
    return reply.code(status).send(body)
  })
}

async function readyAnswer({ readiness, canAnswer, startProgress, statistics }: HealthOptions) {
  const status = readiness()
  if (status !== 'ready') {
    const datasets = status === 'publishing' ? startProgress() : null
    return { status: 503, body: datasets === null ? { status } : { status, datasets } }
  }
  if (!(await canAnswer())) return { status: 503, body: { status: 'recovering' } }
  return { status: 200, body: { status, ...(await statistics()) } }
}
