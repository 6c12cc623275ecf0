import type { AddressInfo } from 'node:net'
import { Command } from 'commander'
import { Fault } from '../errors.ts'
import type { Service } from '../main.ts'
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
      let begun: Service | null = null
      endOnSignals(() => begun)
      const service = await serve(config, createProgress(process.stderr)).catch(error => {
        throw listenFault(error)
      })
      begun = service
      await service.served.catch(async error => {
        await service.end()
        throw error
      })
      const address = service.http.server.address()
      if (address === null || service.health.readiness() === 'stopping') return
      const port = config.port === 0 ? ` (port ${(address as AddressInfo).port})` : ''
      process.stdout.write(`${config.title} is served at ${config.base}${port}\n`)
    })
}

/**
 * The first signal ends the service with grace and exit code 0, the second ends the process at once. Before the service
 * answers anybody there is nothing to finish: what is published by then is whole.
 */
function endOnSignals(service: () => Service | null): void {
  let isEnding = false
  const end = (signal: NodeJS.Signals) => {
    if (isEnding) process.exit(128 + (signal === 'SIGINT' ? 2 : 15))
    isEnding = true
    const begun = service()
    if (begun === null) process.exit(0)
    begun.end().then(
      isWhole => {
        if (!isWhole) process.stderr.write('answers that took longer than shutdown_timeout were cut off\n')
        process.exit(0)
      },
      error => {
        process.stderr.write(`lodestone: ${String((error as Error).stack ?? error)}\n`)
        process.exit(1)
      },
    )
  }
  process.on('SIGINT', end).on('SIGTERM', end)
}

function listenFault(error: unknown): unknown {
  const { code, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string }
  switch (code) {
    case 'EADDRINUSE':
      return new Fault('ConfigInvalid', {
        reason: `port ${port} is taken: choose another with --port (or admin_port for that of operators)`,
      })
    case 'EACCES':
      return new Fault('ConfigInvalid', { reason: `port ${port} may not be used: choose one above 1023` })
    case 'EADDRNOTAVAIL':
      return new Fault('ConfigInvalid', {
        reason: `${address} is no address of this machine: see host and admin_host`,
      })
    default:
      return error
  }
}
