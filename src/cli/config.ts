import path from 'node:path'
import { Command } from 'commander'
import { type ConfigFlags, loadConfig, settingSources } from '../config/load.ts'
import { DEFAULTS, PORTAL_SCHEMA, type PortalSettings } from '../config/schema.ts'
import { addressWithoutSecrets, isSecret } from '../http/query-string.ts'
import { withoutCredentials } from '../model/credentials.ts'
import { lookup } from '../model/lookup.ts'
import { commandGroup, JSON_OPTION, type PortalOptions, printList, servedOptions } from './options.ts'

/** `lodestone config`: the effective settings of commands. */
export function configCommand(): Command {
  const show = new Command('show').description(
    'print every setting with its value and origin, without secrets',
  )
  servedOptions(show, 'port to listen on')
    .option(...JSON_OPTION)
    .action((options: PortalOptions) => {
      const settings = shownSettings(options, process.env)
      const titles = ['SETTING', 'VALUE', 'ORIGIN']
      printList(options, settings, titles, ({ setting, value, origin }) => [
        setting,
        valueText(value),
        originText(origin),
      ])
    })
  return commandGroup('config', 'print the settings of a portal', [show])
}

function valueText(value: unknown): string {
  if (value === null || value === '') return '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The origin of a value. */
export type Origin =
  | { readonly type: 'default' }
  | { readonly type: 'file'; readonly file: string; readonly line: number | null }
  | { readonly type: 'variable'; readonly name: string }
  | { readonly type: 'flag'; readonly name: string }

interface ShownSetting {
  readonly setting: string
  /** Without secrets; null if it is not set. */
  readonly value: unknown
  readonly origin: Origin
  readonly description: string
}

/** Every setting with its value and origin. Faults: ConfigInvalid, as for any command. */
export function shownSettings(flags: ConfigFlags, environment: NodeJS.ProcessEnv): readonly ShownSetting[] {
  const config = loadConfig(flags, environment)
  const sources = settingSources(flags, environment)
  const file = path.join(sources.portal, 'portal.yaml')
  const standard: Readonly<Record<string, unknown>> = { ...DEFAULTS, base: config.base }
  return Object.entries(PORTAL_SCHEMA.properties).map(([setting, schema]) => {
    const given = (settings: object) => lookup(settings as Readonly<Record<string, unknown>>, setting)
    const found: readonly (readonly [unknown, Origin])[] = [
      [given(sources.flags), { type: 'flag', name: `--${setting}` }],
      [given(sources.environment), { type: 'variable', name: `LODESTONE_${setting.toUpperCase()}` }],
      [
        given(sources.file),
        { type: 'file', file, line: sources.placeOf(setting as keyof PortalSettings).line ?? null },
      ],
      [lookup(standard, setting) ?? null, { type: 'default' }],
    ]
    const [value = null, origin = { type: 'default' }] = found.find(([each]) => each !== undefined) ?? []
    const { description = '' } = schema as { readonly description?: string }
    const shown = value !== null && SECRET_NAME.test(setting) ? 'redacted' : withoutSecretParts(value)
    return { setting, value: shown, origin, description }
  })
}

/** Settings whose whole value is secret. */
const SECRET_NAME = /(?:^|_)(?:password|secret|token)$/

/** A value without secrets: passwords, keys and the credentials of an address are removed. */
function withoutSecretParts(value: unknown): unknown {
  if (typeof value === 'string') return withoutCredentials(addressWithoutSecrets(value))
  if (Array.isArray(value)) return value.map(withoutSecretParts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      isSecret(name) ? 'redacted' : withoutSecretParts(part),
    ]),
  )
}

/** Describes an origin in a few words. */
export function originText(origin: Origin): string {
  switch (origin.type) {
    case 'default':
      return 'default'
    case 'file':
      return `portal.yaml${origin.line === null ? '' : `:${origin.line}`}`
    case 'variable':
    case 'flag':
      return origin.name
  }
}
