import { Command, InvalidArgumentError } from 'commander'
import type { Client } from '../accounts/accounts.ts'
import { canonicalMoment } from '../model/time.ts'
import {
  JSON_OPTION,
  onAccounts,
  PORTAL_OPTION,
  type PortalOptions,
  portalCommands,
  printList,
} from './options.ts'
import { escapedText, printJson, printText } from './print.ts'

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
  const commands = [appRegisterCommand(), appListCommand(), appRemoveCommand()]
  return portalCommands('app', 'register, list and remove applications of OAuth 2.0', commands)
}

function appRegisterCommand(): Command {
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
      const { client, secret } = await onAccounts(options, ({ clients }) => clients.register(given))
      const { client_id, ...more } = jsonOf(client)
      printJson({ client_id, client_secret: secret, ...more })
    })
}

function appListCommand(): Command {
  return new Command('list')
    .description('list applications')
    .option('--owner <user>', 'of one user alone')
    .option(...JSON_OPTION)
    .action(async (options: ListOptions) => {
      const clients = await onAccounts(options, accounts => accounts.clients.list(options.owner))
      const titles = ['ID', 'TYPE', 'OWNER', 'NAME', 'REDIRECTS']
      printList(
        options,
        clients.map(jsonOf),
        titles,
        ({ client_id, type, owner, client_name, redirect_uris }) => [
          client_id,
          type,
          owner,
          client_name,
          redirect_uris.join(' '),
        ],
      )
    })
}

function appRemoveCommand(): Command {
  return new Command('remove')
    .description('remove an application, with all that users granted to it')
    .argument('<application>', 'its id, or its name')
    .option('--owner <user>', 'of this user')
    .action(async (application: string, options: ListOptions) => {
      await onAccounts(options, ({ clients }) => clients.remove(application, options.owner))
    })
}

/** The client with the member names of dynamic registration (RFC 7591, section 2) if there are any. */
function jsonOf({ id, name, type, owner, redirectUris, created }: Client) {
  return { client_id: id, client_name: name, type, owner, redirect_uris: redirectUris, created }
}

interface KeyOptions extends PortalOptions {
  readonly label?: string
}

/** `lodestone key`: API keys of users. */
export function keyCommand(): Command {
  const commands = [keyCreateCommand(), keyListCommand(), keyRevokeCommand()]
  return portalCommands('key', 'create, list and revoke API keys', commands)
}

function keyCreateCommand(): Command {
  return new Command('create')
    .description('create an API key and print it; it is not shown again')
    .argument('<name>', 'name of the user')
    .option('--label <label>', 'what it is for', '')
    .option(...JSON_OPTION)
    .action(async (name: string, options: KeyOptions) => {
      const created = await onAccounts(options, ({ keys }) => keys.create(name, options.label ?? ''))
      if (options.json === true) printJson(created)
      else printText(`${created.key}\n`)
    })
}

function keyListCommand(): Command {
  return new Command('list')
    .description('list API keys with their labels and last uses')
    .argument('[name]', 'name of the user (default: all)')
    .option(...JSON_OPTION)
    .action(async (name: string | undefined, options: KeyOptions) => {
      const keys = await onAccounts(options, accounts => accounts.keys.list(name))
      const titles = ['ID', 'USER', 'KEY', 'CREATED', 'LAST USE', 'LABEL']
      printList(options, keys, titles, ({ id, user, hint, created, lastUse, label }) => [
        String(id),
        user,
        `${hint}…`,
        created.slice(0, 10),
        lastUse === null ? 'never' : `${lastUse.slice(0, 16)}Z`,
        label,
      ])
    })
}

function keyRevokeCommand(): Command {
  return new Command('revoke')
    .description('revoke an API key')
    .argument('<key>', 'its id, its first six characters, or the whole key')
    .action(async (key: string, options: KeyOptions) => {
      await onAccounts(options, ({ keys }) => keys.revoke(key))
    })
}

interface AuditOptions extends PortalOptions {
  readonly since?: number
}

/** `lodestone audit`: which user did what, when and from where, the oldest first. */
export function auditCommand(): Command {
  return new Command('audit')
    .description(
      'print the audit log: sign-ins, changes of users, grants, keys and applications, publications',
    )
    .option('--since <moment>', 'from this day or moment on (ISO 8601)', momentArgument)
    .option(...JSON_OPTION)
    .option(...PORTAL_OPTION)
    .action(async (options: AuditOptions) => {
      await onAccounts(options, async ({ audit }) => {
        for await (const event of audit.events(options.since ?? 0)) {
          const { moment, actor, address, action, subject } = event
          const line =
            options.json === true
              ? JSON.stringify(event)
              : [moment, actor, address, action, subject].map(escapedText).join('\t')
          printText(`${line}\n`)
        }
      })
    })
}

function momentArgument(text: string): number {
  const moment = Date.parse(canonicalMoment(text) ?? '')
  if (Number.isNaN(moment))
    throw new InvalidArgumentError('a day or moment is expected, such as 2026-11-22 or 2026-11-22T10:00:00Z.')
  return moment
}
