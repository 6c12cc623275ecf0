import { Command } from 'commander'
import {
  configOf,
  JSON_OPTION,
  type PortalOptions,
  portalCommands,
  printColumns,
  withAccounts,
} from './options.ts'
import { printJson, printText } from './print.ts'

interface KeyOptions extends PortalOptions {
  readonly label?: string
}

/** `lodestone key`: API keys of users. */
export function keyCommand(): Command {
  const commands = [createCommand(), listCommand(), revokeCommand()]
  return portalCommands('key', 'create, list and revoke API keys', commands)
}

function createCommand(): Command {
  return new Command('create')
    .description('create an API key and print it; it is not shown again')
    .argument('<name>', 'name of the user')
    .option('--label <label>', 'what it is for', '')
    .option(...JSON_OPTION)
    .action(async (name: string, options: KeyOptions) => {
      const created = await withAccounts(configOf(options), ({ keys }) =>
        keys.create(name, options.label ?? ''),
      )
      if (options.json === true) printJson(created)
      else printText(`${created.key}\n`)
    })
}

function listCommand(): Command {
  return new Command('list')
    .description('list API keys with their labels and last uses')
    .argument('[name]', 'name of the user (default: all)')
    .option(...JSON_OPTION)
    .action(async (name: string | undefined, options: KeyOptions) => {
      const keys = await withAccounts(configOf(options), accounts => accounts.keys.list(name))
      if (options.json === true) return printJson(keys)
      const rows = keys.map(({ id, user, hint, created, lastUse, label }) => [
        String(id),
        user,
        `${hint}…`,
        created.slice(0, 10),
        lastUse === null ? 'never' : `${lastUse.slice(0, 16)}Z`,
        label,
      ])
      printColumns(['ID', 'USER', 'KEY', 'CREATED', 'LAST USE', 'LABEL'], rows)
    })
}

function revokeCommand(): Command {
  return new Command('revoke')
    .description('revoke an API key')
    .argument('<key>', 'its id, its first six characters, or the whole key')
    .action(async (key: string, options: KeyOptions) => {
      await withAccounts(configOf(options), ({ keys }) => keys.revoke(key))
    })
}
