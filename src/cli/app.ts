import { Command } from 'commander'
import type { Client } from '../accounts/accounts.ts'
import {
  configOf,
  JSON_OPTION,
  type PortalOptions,
  portalCommands,
  printColumns,
  withAccounts,
} from './options.ts'
import { printJson } from './print.ts'

interface RegisterOptions extends PortalOptions {
  readonly owner: string
  readonly redirect: readonly string[]
  readonly public?: boolean
}

interface ListOptions extends PortalOptions {
  readonly owner?: string
}

/** `lodestone app`: applications that act for users with OAuth 2.0. */
export function appCommand(): Command {
  const commands = [registerCommand(), listCommand(), removeCommand()]
  return portalCommands('app', 'register, list and remove applications of OAuth 2.0', commands)
}

function registerCommand(): Command {
  return new Command('register')
    .description(
      'register an application and print its client id and secret as JSON; the secret is not shown again',
    )
    .argument('<name>', 'what users know it by')
    .requiredOption('--owner <user>', 'name of the user who answers for it')
    .requiredOption(
      '--redirect <uri>',
      'where codes are sent, exactly; it can be given several times',
      (uri: string, before: readonly string[] | undefined) => [...(before ?? []), uri],
    )
    .option('--public', 'runs where a secret cannot be kept, and must use PKCE')
    .option(...JSON_OPTION)
    .action(async (name: string, { redirect, owner, ...options }: RegisterOptions) => {
      const type = options.public === true ? 'public' : 'confidential'
      const given = { name, owner, redirectUris: redirect, type } as const
      const { client, secret } = await withAccounts(configOf(options), ({ clients }) =>
        clients.register(given),
      )
      const { client_id, ...more } = jsonOf(client)
      printJson({ client_id, client_secret: secret, ...more })
    })
}

function listCommand(): Command {
  return new Command('list')
    .description('list applications')
    .option('--owner <user>', 'of one user alone')
    .option(...JSON_OPTION)
    .action(async (options: ListOptions) => {
      const clients = await withAccounts(configOf(options), accounts => accounts.clients.list(options.owner))
      if (options.json === true) return printJson(clients.map(jsonOf))
      const rows = clients.map(({ id, type, owner, name, redirectUris }) => [
        id,
        type,
        owner,
        name,
        redirectUris.join(' '),
      ])
      printColumns(['ID', 'TYPE', 'OWNER', 'NAME', 'REDIRECTS'], rows)
    })
}

function removeCommand(): Command {
  return new Command('remove')
    .description('remove an application, with all that users granted to it')
    .argument('<application>', 'its id, or its name')
    .option('--owner <user>', 'of this user')
    .action(async (application: string, options: ListOptions) => {
      await withAccounts(configOf(options), ({ clients }) => clients.remove(application, options.owner))
    })
}

/** The client with the member names of dynamic registration (RFC 7591, section 2) if there are any. */
function jsonOf({ id, name, type, owner, redirectUris, created }: Client) {
  return { client_id: id, client_name: name, type, owner, redirect_uris: redirectUris, created }
}
