import { InvalidArgumentError } from 'commander'
import { type Config, loadConfig } from '../config.ts'

/** What every command that works on a portal accepts. */
export interface PortalOptions {
  readonly portal?: string
  readonly base?: string
  readonly port?: number
}

export const PORTAL_OPTION = ['--portal <dir>', 'folder of the portal (default: the current folder)'] as const
export const BASE_OPTION = ['--base <url>', 'public address, with which every IRI begins'] as const
export const JSON_OPTION = ['--json', 'print JSON'] as const

/** The configuration that a command runs with. */
export function configOf(options: PortalOptions): Config {
  return loadConfig({ portal: options.portal, port: options.port, base: options.base }, process.env)
}

/** Reads a port from the command line. */
export function portArgument(text: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535.')
  return port
}
