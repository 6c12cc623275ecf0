import type { AddressInfo } from 'node:net'
import { Command } from 'commander'
import { Fault } from '../errors.ts'
import { BASE_OPTION, PORTAL_OPTION, type PortalOptions, portArgument } from './options.ts'
import { createProgress } from './progress.ts'
import { configOf } from './settings.ts'

/** `lodestone serve`: publish what changed, then serve. */
export function serveCommand(): Command {
  return new Command('serve')
    .description('publish what changed, then serve the portal')
    .option(...PORTAL_OPTION)
    .option('--port <n>', 'port to listen on (default: 3000)', portArgument)
    .option(...BASE_OPTION)
    .action(async (options: PortalOptions) => {
      const config = configOf(options)
      // The whole service, which no other command waits for.
      const { serve } = await import('../main.ts')
      const app = await serve(config, createProgress(process.stderr)).catch(error => {
        throw listenFault(error, config.port)
      })
      const address = app.http.server.address()
      const port = config.port === 0 && address !== null ? ` (port ${(address as AddressInfo).port})` : ''
      process.stdout.write(`${config.title} is served at ${config.base}${port}\n`)
      const stop = () => {
        app.close().then(
          () => process.exit(0),
          () => process.exit(1),
        )
      }
      process.once('SIGINT', stop)
      process.once('SIGTERM', stop)
    })
}

function listenFault(error: unknown, port: number): unknown {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'EADDRINUSE')
    return new Fault('ConfigInvalid', { reason: `port ${port} is taken: choose another with --port` })
  if (code === 'EACCES')
    return new Fault('ConfigInvalid', { reason: `port ${port} may not be used: choose one above 1023` })
  return error
}
