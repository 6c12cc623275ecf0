import { runningServers } from '../app/running.ts'
import type { Config } from '../config/config.ts'
import { loadConfig } from '../config/load.ts'
import { settingSources } from '../config/setting-sources.ts'
import type { PortalOptions } from './options.ts'

/** The configuration that a command runs with. */
export function configOf(options: PortalOptions): Config {
  return loadConfig({ portal: options.portal, port: options.port, base: options.base }, process.env)
}

/**
 * The configuration for a command about served data: the base address is that of the options or settings; else that of a running
 * server of the portal, whatever its port; else the default. All servers of a folder have the same one.
 */
export function servedConfigOf(options: PortalOptions): Config {
  const { flags, environment, file } = settingSources(
    { portal: options.portal, base: options.base },
    process.env,
  )
  const isSet = [flags, environment, file].some(({ base }) => base !== undefined)
  const config = configOf(options)
  if (isSet || options.port !== undefined) return config
  const [server] = runningServers(config.portal, Date.now())
  return server === undefined ? config : configOf({ ...options, base: server.base })
}
