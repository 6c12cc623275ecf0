import { Command, InvalidArgumentError } from 'commander'
import type { Accounts } from '../accounts/accounts.ts'
import { openAccountsOf } from '../accounts/open.ts'
import { runningServers } from '../app/running.ts'
import type { Config } from '../config/config.ts'
import { loadConfig, settingSources } from '../config/load.ts'
import { columnsText, escapedText, printJson, printText } from './print.ts'

/** Options of every command that works on a portal. */
export interface PortalOptions {
  readonly portal?: string
  readonly base?: string
  readonly port?: number
  readonly json?: boolean
}

export const PORTAL_OPTION = ['--portal <dir>', 'folder of the portal (default: the current folder)'] as const
export const BASE_OPTION = ['--base <url>', 'public address, with which every IRI begins'] as const
export const JSON_OPTION = ['--json', 'print JSON'] as const

/** A command of commands. */
export function commandGroup(name: string, description: string, commands: readonly Command[]): Command {
  const group = new Command(name).description(description)
  for (const command of commands) group.addCommand(command.exitOverride())
  return group
}

/** A command of commands that each work on a portal. */
export function portalCommands(name: string, description: string, commands: readonly Command[]): Command {
  return commandGroup(
    name,
    description,
    commands.map(command => command.option(...PORTAL_OPTION)),
  )
}

/** Adds the options of a command about served data. @param port what `--port` is */
export function servedOptions(command: Command, port = 'port of the default base address'): Command {
  return command
    .option(...PORTAL_OPTION)
    .option('--port <n>', port, portArgument)
    .option(...BASE_OPTION)
}

/** Reads a whole number from the command line. */
export function countArgument(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('a whole number from 0 on is expected.')
  return Number(text)
}

function portArgument(text: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535.')
  return port
}

/** The configuration that a command runs with. */
export function configOf(options: PortalOptions, environment = process.env): Config {
  return loadConfig({ portal: options.portal, port: options.port, base: options.base }, environment)
}

/**
 * The configuration for a command about served data: the base address is that of the options or settings; else that of a running
 * server of the portal, whatever its port; else the default. All servers of a folder have the same one.
 */
export function servedConfigOf(options: PortalOptions, environment = process.env): Config {
  const sources = settingSources({ portal: options.portal, base: options.base }, environment)
  const isSet = [sources.flags, sources.environment, sources.file].some(({ base }) => base !== undefined)
  const config = configOf(options, environment)
  if (isSet || options.port !== undefined) return config
  const [server] = runningServers(config.portal, Date.now())
  return server === undefined ? config : configOf({ ...options, base: server.base }, environment)
}

/** Runs work on the accounts of a portal, and closes them in any case. */
export async function withAccounts<T>(
  config: Config,
  work: (accounts: Accounts) => T | Promise<T>,
): Promise<T> {
  const accounts = await openAccountsOf(config, { now: Date.now })
  try {
    return await work(accounts)
  } finally {
    await accounts.close()
  }
}

/** Runs work on the accounts of the portal that the options name. */
export function onAccounts<T>(
  options: PortalOptions,
  work: (accounts: Accounts) => T | Promise<T>,
): Promise<T> {
  return withAccounts(configOf(options), work)
}

/** Prints what a command lists: JSON if that is asked for, else a line for each with its cells. */
export function printList<Item>(
  { json }: PortalOptions,
  items: readonly Item[],
  titles: readonly string[],
  cells: (item: Item) => readonly string[],
): void {
  if (json === true) printJson(items)
  else printColumns(titles, items.map(cells))
}

/** Prints rows in aligned columns under their titles; nothing if there are none. @param numbers columns to align on the right */
export function printColumns(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  numbers: readonly number[] = [],
): void {
  if (rows.length > 0) printText(columnsText([titles, ...rows.map(row => row.map(escapedText))], numbers))
}
