import { InvalidArgumentError } from 'commander'

/** Options of every command that works on a portal. */
export interface PortalOptions {
  readonly portal?: string
  readonly base?: string
  readonly port?: number
}

export const PORTAL_OPTION = ['--portal <dir>', 'folder of the portal (default: the current folder)'] as const
export const BASE_OPTION = ['--base <url>', 'public address, with which every IRI begins'] as const
export const JSON_OPTION = ['--json', 'print JSON'] as const

/** Reads a whole number from the command line. */
export function countArgument(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('a whole number from 0 on is expected.')
  return Number(text)
}

/** Reads a port from the command line. */
export function portArgument(text: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535.')
  return port
}
