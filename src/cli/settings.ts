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
 * The configurations for a command about served data: one with the base address from the options or settings; else one for each
 * base address of a running server of the portal, whatever its port; else the default.
 */
export function configsOf(options: PortalOptions): readonly [Config, ...Config[]] {
  const { flags, environment, file } = settingSources(
    { portal: options.portal, base: options.base },
    process.env,
  )
  const isSet = [flags, environment, file].some(({ base }) => base !== undefined)
  const config = configOf(options)
  if (isSet || options.port !== undefined) return [config]
  const bases = new Set(runningServers(config.portal, Date.now()).map(({ base }) => base))
  const [first = config, ...rest] = [...bases].map(base => configOf({ ...options, base }))
  return [first, ...rest]
}
