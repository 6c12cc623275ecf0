import type { FastifyPluginAsync } from 'fastify'

export interface HealthOptions {
  /** True once every dataset is served. */
  readonly ready: () => boolean
  /** Figures for operators, as far as everybody may see them. */
  readonly figures: () => Promise<Readonly<Record<string, unknown>>>
}

/** `/healthz` answers while the process lives, `/readyz` once every dataset is served. */
export const health: FastifyPluginAsync<HealthOptions> = async (app, { ready, figures }) => {
  app.get('/healthz', async () => ({ status: 'alive' }))
  app.get('/readyz', async (_, reply) => {
    if (ready()) return { status: 'ready', ...(await figures()) }
    return reply.code(503).header('retry-after', '2').send({ status: 'publishing' })
  })
}
