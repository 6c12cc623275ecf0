import { Fault } from '../errors/errors.ts'
import { bytesOfSize, defaultMemory, defaultWorkers } from '../runtime/memory.ts'
import type { Config } from './config.ts'
import { accountsOf, definedOnly, networkOf, signInOf, storePassword } from './derived.ts'
import { CONFIG_INVALID } from './faults.ts'
import { samlProviderOf } from './saml.ts'
import { DEFAULTS, type PortalSettings } from './schema.ts'
import { type ConfigFlags, settingSources } from './setting-sources.ts'

/**
 * Builds the configuration: defaults < portal.yaml < environment < flags. Throws ConfigInvalid with file, line and column, or the
 * name of the variable.
 */
export function loadConfig(flags: ConfigFlags, environment: NodeJS.ProcessEnv): Config {
  const { portal, file, environment: variables, flags: given } = settingSources(flags, environment)
  const settings: PortalSettings = { ...file, ...variables, ...given }
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
  if (rest.port === 0 && settings.base === undefined) {
    const reason =
      'port 0 means any free port, so the base address, with which every IRI begins, is not known: give it with --base (or base in portal.yaml)'
    throw new Fault(CONFIG_INVALID, { reason })
  }
  const base = (settings.base ?? `http://localhost:${rest.port}`).replace(/\/+$/, '')
  if (!URL.canParse(base))
    throw new Fault(CONFIG_INVALID, {
      reason: `base is ${JSON.stringify(base)}, which is no valid address: a host and a port up to 65535 are expected`,
    })
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
  const engine = { query, update, data, user, password: storePassword(password, storePasswordFile, portal) }
  const more = {
    ...(store === undefined ? {} : { store: { url: store, ...definedOnly(engine), concurrency } }),
    ...(adminPort === undefined ? {} : { adminPort }),
    ...(accounts === undefined ? {} : { accounts: accountsOf(accounts, portal, passwordFile) }),
    ...(signIn === undefined ? {} : { signIn: signInOf(signIn, portal) }),
    ...(saml === undefined ? {} : { samlSignIn: samlProviderOf(saml, portal, base) }),
    ...(network === undefined ? {} : { network: networkOf(network, base) }),
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
