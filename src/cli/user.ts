import { Argument, Command, InvalidArgumentError } from 'commander'
import { EDITING, EVERYTHING, grantsOf, PUBLISHING, ROLE_NAMES } from '../accounts/authorisation.ts'
import { MAX_CALLS } from '../accounts/names.ts'
import { usageFault } from '../config/faults.ts'
import { definedDatasets, readDefinition } from '../publishing/definition.ts'
import { suggestedDataset } from '../publishing/suggested-dataset.ts'
import {
  configOf,
  JSON_OPTION,
  onAccounts,
  type PortalOptions,
  portalCommands,
  printList,
  withAccounts,
} from './options.ts'
import { randomPassword, readPassword } from './password.ts'
import { printError, printJson, printText } from './print.ts'

interface UserOptions extends PortalOptions {
  readonly password?: string
  readonly quota?: number
}

const PASSWORD_OPTION = [
  '--password <password>',
  'the password; without it, the first line of standard input, or asked for on a terminal',
] as const

/** The right to see individual calls of the APIs, which is granted like a dataset. */
const MONITORING = 'ods-api-monitoring'

/** `lodestone user`: the users, and what each may see. */
export function userCommand(): Command {
  return portalCommands('user', 'add, list and remove users; grant and revoke restricted datasets', [
    addCommand(),
    listCommand(),
    passwordCommand(),
    quotaCommand(),
    grantCommand(),
    revokeCommand(),
    roleCommand(),
    sessionsCommand(),
    secondFactorCommand(),
    passkeysCommand(),
    removeCommand(),
  ])
}

function addCommand(): Command {
  return new Command('add')
    .description('add a user; where standard input is empty, a password is made and printed alone')
    .argument('<name>', 'letters, digits and . _ @ + -, compared without regard to case')
    .option(...PASSWORD_OPTION)
    .option('--quota <calls>', 'calls of a day (default: what the portal gives every user)', callsArgument)
    .option(...JSON_OPTION)
    .action(async (name: string, options: UserOptions) => {
      const config = configOf(options)
      const given = options.password ?? (await readPassword())
      const password = given ?? randomPassword()
      const user = await withAccounts(config, ({ users }) => users.add(name, password, options.quota ?? null))
      if (options.json === true) printJson(given === null ? { ...user, password } : user)
      else if (given === null) printText(`${password}\n`)
    })
}

function listCommand(): Command {
  return new Command('list')
    .description('list users with their grants and quotas')
    .option(...JSON_OPTION)
    .action(async (options: UserOptions) => {
      const users = await onAccounts(options, accounts => accounts.users.list())
      printList(
        options,
        users,
        ['NAME', 'CREATED', 'QUOTA', 'GRANTS'],
        ({ name, created, quota, grants }) => [
          name,
          created.slice(0, 10),
          quota === null ? '-' : String(quota),
          grants.join(' '),
        ],
      )
    })
}

function passwordCommand(): Command {
  return new Command('password')
    .description('give a user another password, end the sessions and revoke the tokens that the user has')
    .argument('<name>')
    .option(...PASSWORD_OPTION)
    .option('--revoke-keys', 'revoke the API keys and remove the passkeys of the user as well')
    .action(async (name: string, options: UserOptions & { readonly revokeKeys?: boolean }) => {
      await onAccounts(options, async ({ users }) => {
        await users.find(name)
        const password = options.password ?? (await readPassword())
        if (password === null)
          throw usageFault('no password was given: --password, or a line on standard input')
        await users.setPassword(name, password, { revokeKeys: options.revokeKeys === true })
      })
    })
}

function quotaCommand(): Command {
  return new Command('quota')
    .description('set the calls of a day that a user has')
    .argument('<name>')
    .argument('<calls>', 'a number, or none for what the portal gives every user', text =>
      text === 'none' ? null : callsArgument(text),
    )
    .action(async (name: string, calls: number | null, options: UserOptions) => {
      await onAccounts(options, ({ users }) => users.setQuota(name, calls))
    })
}

function grantCommand(): Command {
  return new Command('grant')
    .description('let a user see a restricted dataset, edit the mapping of a dataset, or publish it')
    .argument('<name>')
    .argument(
      '<dataset>',
      `id of a dataset, * for all, ${EDITING} before either to edit mappings, ${PUBLISHING} before either to describe and publish, or ${MONITORING} for the calls of the APIs one by one`,
    )
    .action(async (name: string, dataset: string, options: UserOptions) => {
      const config = configOf(options)
      await withAccounts(config, ({ users }) => users.grant(name, dataset))
      const warning = warningOf(config.portal, dataset)
      if (warning !== null) printError(`warning: ${warning}\n`)
    })
}

function revokeCommand(): Command {
  return new Command('revoke')
    .description('take a grant back')
    .argument('<name>')
    .argument('<dataset>', 'as it was granted')
    .action(async (name: string, dataset: string, options: UserOptions) => {
      await onAccounts(options, ({ users }) => users.revoke(name, dataset))
    })
}

function roleCommand(): Command {
  return new Command('role')
    .description('give a user the grants of a role, in the place of those of other roles')
    .argument('<name>')
    .addArgument(new Argument('<role>', 'what the user may do').choices([...ROLE_NAMES, 'none']))
    .action(async (name: string, role: string, options: UserOptions) => {
      await onAccounts(options, async ({ users }) => {
        const ofRoles = new Set(ROLE_NAMES.flatMap(grantsOf))
        const granted = role === 'none' ? [] : grantsOf(role)
        const { grants } = await users.find(name)
        for (const grant of granted) await users.grant(name, grant)
        for (const grant of grants)
          if (ofRoles.has(grant) && !granted.includes(grant)) await users.revoke(name, grant)
      })
    })
}

function sessionsCommand(): Command {
  return new Command('sessions')
    .description('list where a user is signed in, or end it')
    .argument('<name>')
    .option('--end <id>', 'end one of them, or all', sessionArgument)
    .option(...JSON_OPTION)
    .action(async (name: string, options: UserOptions & { readonly end?: number | 'all' }) => {
      const { end } = options
      const sessions = await onAccounts(options, async accounts => {
        if (end !== undefined) await accounts.sessions.endAll(name, end === 'all' ? undefined : end)
        return accounts.sessions.list(name)
      })
      printList(options, sessions, ['ID', 'BEGUN', 'USED'], ({ id, begun, used }) => [
        String(id),
        begun,
        used,
      ])
    })
}

function secondFactorCommand(): Command {
  return new Command('second-factor')
    .description('print whether a user signs in with a second factor, or remove it')
    .argument('<name>')
    .option('--remove', 'remove it with its recovery codes, for a user who has lost both')
    .option(...JSON_OPTION)
    .action(async (name: string, options: UserOptions & { readonly remove?: boolean }) => {
      const isOn = await onAccounts(options, async ({ users, secondFactors }) => {
        const { id } = await users.find(name)
        if (options.remove === true) await secondFactors.remove(name)
        return (await secondFactors.state(id)).type === 'on'
      })
      if (options.json === true) printJson({ name, secondFactor: isOn })
      else printText(isOn ? 'on\n' : 'off\n')
    })
}

function passkeysCommand(): Command {
  return new Command('passkeys')
    .description('list the passkeys of a user, or remove them')
    .argument('<name>')
    .option('--remove', 'remove all of them')
    .option(...JSON_OPTION)
    .action(async (name: string, options: UserOptions & { readonly remove?: boolean }) => {
      const found = await onAccounts(options, async ({ users, passkeys }) => {
        const { id } = await users.find(name)
        if (options.remove === true) await passkeys.remove(id)
        return passkeys.list(id)
      })
      const titles = ['LABEL', 'CREATED', 'USED']
      printList(options, found, titles, ({ label, created, lastUse }) => [label, created, lastUse ?? '-'])
    })
}

function sessionArgument(text: string): number | 'all' {
  if (text === 'all') return 'all'
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('the id of a session is expected, or all.')
  return Number(text)
}

function removeCommand(): Command {
  return new Command('remove')
    .description('remove a user with keys, sessions, applications, authorizations and grants')
    .argument('<name>')
    .action(async (name: string, options: UserOptions) => {
      await onAccounts(options, ({ users }) => users.remove(name))
    })
}

/** A warning about a grant; null if there is none. */
function warningOf(portal: string, grant: string): string | null {
  // The right to publish covers datasets that do not exist yet.
  if (grant.startsWith(PUBLISHING)) return null
  const isEditing = grant.startsWith(EDITING)
  const dataset = isEditing ? grant.slice(EDITING.length) : grant
  if (dataset === EVERYTHING || dataset === MONITORING) return null
  const known = definedDatasets(portal)
  if (!known.includes(dataset))
    return `there is no dataset ${dataset} in ${portal} yet. ${suggestedDataset(dataset, known)}`.trimEnd()
  const { definition } = readDefinition(portal, dataset)
  const isPublic = definition?.visibility === 'public'
  if (isEditing)
    return isPublic ? null : `${dataset} is restricted: the grant of ${dataset} lets the user see it`
  return isPublic ? `${dataset} is public: it needs no grant` : null
}

function callsArgument(text: string): number {
  const calls = Number(text)
  if (!/^\d{1,10}$/.test(text) || calls > MAX_CALLS)
    throw new InvalidArgumentError(`calls of a day are a whole number from 0 to ${MAX_CALLS}.`)
  return calls
}
