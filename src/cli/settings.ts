import { type Config, loadConfig } from '../config.ts'
import type { PortalOptions } from './options.ts'

/** The configuration that a command runs with. */
export function configOf(options: PortalOptions): Config {
  return loadConfig({ portal: options.portal, port: options.port, base: options.base }, process.env)
}
