import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type DeclaredFault, Fault, type FaultPlace, isFault } from '../errors/errors.ts'
import { withoutCredentials } from '../model/credentials.ts'
import { nearest } from '../model/did-you-mean.ts'
import { lookup } from '../model/lookup.ts'
import { bytesOfSize, defaultMemory, defaultWorkers } from '../runtime/memory.ts'
import type { Config } from './config.ts'
import { accountsOf, definedOnly, networkOf, samlProviderOf, signInOf, storePassword } from './derived.ts'
import { readDocument, trusted } from './document.ts'
import { CONFIG_INVALID, USAGE } from './faults.ts'
import { DEFAULTS, PORTAL_SCHEMA, type PortalSettings } from './schema.ts'

/** Settings of addresses; the schema does not check hosts and ports. */
const ADDRESSES = ['base', 'otel', 'store', 'store_query', 'store_update', 'store_data', 'services'] as const

/** The public address without a slash at the end; by default it has the port. */
function baseOf(base: string | undefined, port: number): string {
  if (port !== 0 || base !== undefined) return (base ?? `http://localhost:${port}`).replace(/\/+$/, '')
  const reason =
    'port 0 means any free port, so the base address, with which every IRI begins, is not known: give it with --base (or base in portal.yaml)'
  throw new Fault(CONFIG_INVALID, { reason })
}

/** Derives the value of a setting. Its place is that of faults, and an address that cannot be parsed is one. */
function placed<T>(
  setting: keyof PortalSettings,
  placeOf: (setting: keyof PortalSettings) => FaultPlace,
  derive: () => T,
): T {
  try {
    return derive()
  } catch (error) {
    const { code, input } = error as { readonly code?: unknown; readonly input?: unknown }
    const isAddress = code === 'ERR_INVALID_URL'
    if (!isAddress && !isFault(error, CONFIG_INVALID)) throw error
    const reason = isAddress
      ? `${setting} is ${JSON.stringify(withoutCredentials(String(input)))}, which is no valid address: a host and a port up to 65535 are expected`
      : (error as Fault).message
    throw new Fault(CONFIG_INVALID, { reason }, { place: placeOf(setting), cause: error })
  }
}

/**
 * Builds the configuration: defaults < portal.yaml < environment < flags. Throws ConfigInvalid with file, line and column, or the
 * name of the variable.
 */
export function loadConfig(flags: ConfigFlags, environment: NodeJS.ProcessEnv): Config {
  const { portal, file, environment: variables, flags: given, placeOf } = settingSources(flags, environment)
  const settings = { ...DEFAULTS, ...file, ...variables, ...given }
  const derived = <T>(setting: keyof PortalSettings, derive: () => T) => placed(setting, placeOf, derive)
  for (const setting of ADDRESSES)
    derived(setting, () => [settings[setting] ?? []].flat().map(address => new URL(address)))
  const {
    accounts,
    accountsPasswordFile,
    memory,
    network,
    queryLog,
    samlSignIn: saml,
    serviceRows: rows,
    serviceSize,
    serviceTimeout,
    services: allowed,
    signIn,
    store,
    storeConcurrency: concurrency,
    storeData: data,
    storePassword: ownPassword,
    storePasswordFile,
    storeQuery: query,
    storeUpdate: update,
    storeUser: user,
    tiles,
    tilesAttribution: attribution = '',
    workBurst: burst,
    workRate: rate,
    ...rest
  } = camelCased(settings)
  const base = derived('port', () => baseOf(rest.base, rest.port))
  const password = derived('store_password_file', () => storePassword(ownPassword, storePasswordFile, portal))
  const engine = { query, update, data, user, password }
  return Object.freeze({
    ...rest,
    portal,
    base,
    workers: rest.workers ?? defaultWorkers(),
    memory: memory === undefined ? defaultMemory() : bytesOfSize(memory),
    uploadLimit: bytesOfSize(rest.uploadLimit),
    sourceSize: bytesOfSize(rest.sourceSize),
    work: { burst, rate },
    services: {
      allowed,
      limits: { time: serviceTimeout * 1000, rows, bytes: bytesOfSize(serviceSize) },
    },
    ...(store === undefined ? {} : { store: { url: store, ...definedOnly(engine), concurrency } }),
    ...(accounts === undefined
      ? {}
      : { accounts: derived('accounts', () => accountsOf(accounts, portal, accountsPasswordFile)) }),
    ...(signIn === undefined ? {} : { signIn: derived('sign_in', () => signInOf(signIn, portal)) }),
    ...(saml === undefined
      ? {}
      : { samlSignIn: derived('saml_sign_in', () => samlProviderOf(saml, portal, base)) }),
    ...(network === undefined ? {} : { network: derived('network', () => networkOf(network, base)) }),
    ...(queryLog === undefined ? {} : { queryLog: bytesOfSize(queryLog) }),
    ...(tiles === undefined ? {} : { tiles: { url: tiles, attribution } }),
  })
}

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name

/** The settings by their names in the configuration. */
function camelCased<T extends object>(settings: T) {
  const members = Object.entries(settings).map(([name, value]) => [
    name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ])
  return Object.fromEntries(members) as { [Name in keyof T as CamelCase<Name & string>]: T[Name] }
}

/** Settings given on the command line. */
export interface ConfigFlags {
  readonly portal?: string | undefined
  readonly port?: number | undefined
  readonly base?: string | undefined
}

/** The settings of every source under its name, before precedence is applied. Faults: as of {@link loadConfig}. */
export function settingSources(flags: ConfigFlags, environment: NodeJS.ProcessEnv) {
  const portal = path.resolve(flags.portal ?? environment.LODESTONE_PORTAL ?? '.')
  const read = fromFile(path.join(portal, 'portal.yaml'))
  const [variables, given] = [fromEnvironment(environment), fromFlags(flags)]
  /** Where a setting has its value: in portal.yaml, or the name of its variable or flag. */
  const placeOf = (setting: keyof PortalSettings): FaultPlace => {
    if (given[setting] !== undefined) return { file: `--${setting}` }
    if (variables[setting] !== undefined) return { file: `LODESTONE_${setting.toUpperCase()}` }
    return read.file[setting] === undefined ? {} : read.placeOf([setting])
  }
  return { portal, file: read.file, environment: variables, flags: given, placeOf }
}

function fromFile(file: string) {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') {
      const reason = `${file} was not found: a portal is a folder with a portal.yaml (it may be empty) and a data folder`
      throw new Fault(CONFIG_INVALID, { reason }, { place: { file } })
    }
    throw new Fault(
      CONFIG_INVALID,
      { reason: `${file} cannot be read: ${String(cause)}` },
      { place: { file }, cause },
    )
  }
  const document = readDocument(text, file, PORTAL_SCHEMA)
  return { file: trusted(document), placeOf: document.placeOf }
}

/** Settings whose variables are other than a list of texts, or may not be empty, from their comma-separated parts. */
const COMPOSED: Readonly<Record<string, (parts: readonly string[]) => unknown>> = {
  languages: parts => parts,
  network: urls => urls.filter(url => url !== '').map(url => ({ url })),
  quotas: parts => quotasOf(parts.filter((part, index) => part !== '' || index === 0)),
}

/** Quotas as `domain=900,user=1000`, or that of the domain alone as `900`. */
function quotasOf(parts: readonly string[]): unknown {
  const [only = ''] = parts
  if (parts.length === 1 && !only.includes('=')) return /^\d+$/.test(only) ? { domain: Number(only) } : only
  return Object.fromEntries(
    parts.map(part => {
      const [name = '', calls = ''] = part.split(/=(.*)/s).map(text => text.trim())
      return [name, /^\d+$/.test(calls) ? Number(calls) : calls]
    }),
  )
}

function fromEnvironment(environment: NodeJS.ProcessEnv): PortalSettings {
  const known = Object.keys(PORTAL_SCHEMA.properties)
  const given: PortalSettings = {}
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith('LODESTONE_') || variable === 'LODESTONE_PORTAL' || text === undefined) continue
    const key = variable.slice('LODESTONE_'.length).toLowerCase()
    if (!known.includes(key)) {
      const close = nearest(key, known)
      const hint = close === undefined ? '' : `, did you mean LODESTONE_${close.toUpperCase()}?`
      throw new Fault(CONFIG_INVALID, { reason: `unknown setting ${variable} in the environment${hint}` })
    }
    Object.assign(given, checked(key, variableValue(key, text), variable, CONFIG_INVALID))
  }
  return given
}

function fromFlags({ port, base }: ConfigFlags): PortalSettings {
  return {
    ...(port === undefined ? {} : checked('port', port, '--port', USAGE)),
    ...(base === undefined ? {} : checked('base', base, '--base', USAGE)),
  }
}

/** A single setting, checked; `name` is that of its variable or flag. */
function checked(
  key: string,
  value: unknown,
  name: string,
  declared: DeclaredFault<'{reason}'>,
): PortalSettings {
  const read = readDocument(JSON.stringify({ [key]: value }), name, PORTAL_SCHEMA)
  if (read.value !== null) return read.value
  const reason = read.problems.map(({ message }) => `${name}: ${message}`).join('\n')
  throw new Fault(declared, { reason }, { place: { file: name } })
}

/** The value of a setting from the text of its variable. */
function variableValue(key: string, text: string): unknown {
  const number = Number(text)
  const { type } = lookup(PORTAL_SCHEMA.properties, key as keyof typeof PORTAL_SCHEMA.properties) as {
    readonly type?: string
  }
  const parts = text.split(',').map(part => part.trim())
  const composed = lookup(COMPOSED, key)
  if (composed !== undefined) return composed(parts)
  if (type === 'array') return parts.filter(part => part !== '')
  const numeric = type === 'integer' || type === 'number'
  return numeric && text.trim() !== '' && Number.isFinite(number) ? number : text
}
