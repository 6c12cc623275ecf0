import type { Config } from '../config/config.ts'
import { openAdminEndpoint } from './admin.ts'
import type { App } from './app.ts'

/** Listens for everybody and, where it is wished, for operators. */
export async function listen(app: App, { host, port, adminPort, adminHost }: Config) {
  const { metrics } = app.telemetry
  try {
    await app.http.listen({ host, port })
    const { health } = app
    const admin =
      adminPort === undefined || metrics === null
        ? null
        : await openAdminEndpoint({ host: adminHost, port: adminPort, health, metrics })
    return { close: async () => admin?.close() }
  } catch (error) {
    await app.close()
    throw error
  }
}
