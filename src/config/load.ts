import { Fault, type FaultPlace, isFault } from '../errors/errors.ts'
import { withoutCredentials } from '../model/credentials.ts'
import { bytesOfSize, defaultMemory, defaultWorkers } from '../runtime/memory.ts'
import type { Config } from './config.ts'
import { accountsOf, definedOnly, networkOf, signInOf, storePassword } from './derived.ts'
import { CONFIG_INVALID } from './faults.ts'
import { samlProviderOf } from './saml.ts'
import { DEFAULTS, type PortalSettings } from './schema.ts'
import { type ConfigFlags, settingSources } from './setting-sources.ts'

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
  const settings: PortalSettings = { ...file, ...variables, ...given }
  const derived = <T>(setting: keyof PortalSettings, derive: () => T) => placed(setting, placeOf, derive)
  for (const setting of ADDRESSES)
    derived(setting, () => [settings[setting] ?? []].flat().map(address => new URL(address)))
  const {
    fragment_size: fragmentSize,
    keep_versions: keepVersions,
    upload_limit: uploadLimit,
    admin_port: adminPort,
    admin_host: adminHost,
    shutdown_delay: shutdownDelay,
    shutdown_timeout: shutdownTimeout,
    request_timeout: requestTimeout,
    idle_timeout: idleTimeout,
    write_timeout: writeTimeout,
    address_connections: addressConnections,
    address_tokens: addressTokens,
    csv_formulas: csvFormulas,
    work_burst: burst,
    work_rate: rate,
    accounts,
    accounts_password_file: passwordFile,
    network,
    sign_in: signIn,
    saml_sign_in: saml,
    services,
    service_timeout: serviceTimeout,
    service_rows: serviceRows,
    service_size: serviceSize,
    query_log: queryLog,
    source_hosts: sourceHosts,
    source_private_hosts: sourcePrivateHosts,
    source_size: sourceSize,
    source_timeout: sourceTimeout,
    source_duration: sourceDuration,
    tiles,
    tiles_attribution: attribution = '',
    workers = defaultWorkers(),
    memory,
    ...rest
  } = { ...DEFAULTS, ...settings }
  const base = derived('port', () => baseOf(settings.base, rest.port))
  const {
    store,
    store_query: query,
    store_update: update,
    store_data: data,
    store_user: user,
    store_password: password,
    store_password_file: storePasswordFile,
    store_concurrency: concurrency = DEFAULTS.store_concurrency,
    ...others
  } = rest
  const enginePassword = derived('store_password_file', () =>
    storePassword(password, storePasswordFile, portal),
  )
  const engine = { query, update, data, user, password: enginePassword }
  const more = {
    ...(store === undefined ? {} : { store: { url: store, ...definedOnly(engine), concurrency } }),
    ...(adminPort === undefined ? {} : { adminPort }),
    ...(accounts === undefined
      ? {}
      : { accounts: derived('accounts', () => accountsOf(accounts, portal, passwordFile)) }),
    ...(signIn === undefined ? {} : { signIn: derived('sign_in', () => signInOf(signIn, portal)) }),
    ...(saml === undefined
      ? {}
      : { samlSignIn: derived('saml_sign_in', () => samlProviderOf(saml, portal, base)) }),
    ...(network === undefined ? {} : { network: derived('network', () => networkOf(network, base)) }),
    ...(sourceHosts === undefined ? {} : { sourceHosts }),
    sourcePrivateHosts,
    ...(queryLog === undefined ? {} : { queryLog: bytesOfSize(queryLog) }),
    services: {
      allowed: services,
      limits: { time: serviceTimeout * 1000, rows: serviceRows, bytes: bytesOfSize(serviceSize) },
    },
    sourceSize: bytesOfSize(sourceSize),
    sourceTimeout,
    sourceDuration,
    ...(tiles === undefined ? {} : { tiles: { url: tiles, attribution } }),
  }
  const timeouts = { shutdownDelay, shutdownTimeout, requestTimeout, idleTimeout, writeTimeout }
  const limits = {
    workers,
    uploadLimit: bytesOfSize(uploadLimit),
    memory: memory === undefined ? defaultMemory() : bytesOfSize(memory),
  }
  const renamed = {
    ...limits,
    work: { burst, rate },
    addressTokens,
    csvFormulas,
    fragmentSize,
    keepVersions,
    adminHost,
    addressConnections,
    ...timeouts,
  }
  return Object.freeze({ ...others, portal, base, ...renamed, ...more })
}
