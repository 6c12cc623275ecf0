import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type Static, Type } from 'typebox'
import { Fault } from '../errors/errors.ts'
import { lookup } from '../model/lookup.ts'
import { nearest } from '../model/nearest.ts'
import { bytesOfSize, defaultMemory, defaultWorkers, SIZE_PATTERN } from '../runtime/memory.ts'
import { readDocument, trusted } from './document.ts'
import { refuseOtherGrants, SAML_SCHEMA, type SamlProvider, samlProviderOf } from './saml.ts'

/** Every setting of portal.yaml; each is also an environment variable, LODESTONE_ and its name in capitals. */
export const PORTAL_SCHEMA = Type.Object(
  {
    title: Type.Optional(Type.String({ minLength: 1, description: 'Name of the portal' })),
    description: Type.Optional(Type.String({ description: 'One sentence about the portal' })),
    base: Type.Optional(
      Type.String({
        pattern: '^https?://[^/?#\\s]+(/[^?#\\s]*)?$',
        description: 'Public address; every IRI begins with it',
      }),
    ),
    host: Type.Optional(Type.String({ minLength: 1, description: 'Address to listen on' })),
    port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65535, description: 'Port to listen on' })),
    access: Type.Optional(
      Type.Union([Type.Literal('public'), Type.Literal('private')], {
        description: 'Who may call without credentials',
      }),
    ),
    languages: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z]{2,3}$' }), { description: 'Languages of the portal' }),
    ),
    workers: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 64, description: 'Threads that answer queries' }),
    ),
    memory: Type.Optional(
      Type.String({
        pattern: SIZE_PATTERN,
        description: 'What the process may use, such as 600MB or 2GiB; half of what there is unless told',
      }),
    ),
    deadline: Type.Optional(
      Type.Number({ minimum: 0.05, maximum: 3600, description: 'Seconds that a query may take' }),
    ),
    fragment_size: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 5000, description: 'Triples on a page of a fragment' }),
    ),
    keep_versions: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description: 'Versions of each dataset that are kept and can be asked, with the one in force',
      }),
    ),
    upload_limit: Type.Optional(
      Type.String({
        pattern: SIZE_PATTERN,
        description: 'What a file may have that publishers upload, such as 500MB',
      }),
    ),
    dereference: Type.Optional(
      Type.Union([Type.Literal('redirect'), Type.Literal('direct')], {
        description: 'Whether an IRI of a thing redirects to a document about it or answers with it',
      }),
    ),
    log: Type.Optional(
      Type.Union(
        (['silent', 'error', 'warn', 'info', 'debug'] as const).map(level => Type.Literal(level)),
        { description: 'How much is logged on stderr' },
      ),
    ),
    admin_port: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65535,
        description: 'Port of a second listener with /metrics, /healthz and /readyz for operators',
      }),
    ),
    admin_host: Type.Optional(
      Type.String({ minLength: 1, description: 'Address that this second listener listens on' }),
    ),
    metrics: Type.Optional(
      Type.Union([Type.Literal('public'), Type.Literal('private')], {
        description: 'Whether /metrics is also answered on the main port, to everybody',
      }),
    ),
    otel: Type.Optional(
      Type.String({
        pattern: '^https?://[^/?#\\s@]+(/[^?#\\s]*)?$',
        description: 'Address of an OpenTelemetry collector that traces are sent to (OTLP over HTTP)',
      }),
    ),
    shutdown_delay: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 300,
        description: 'Seconds from the signal to end until no new connections are taken; /readyz answers 503',
      }),
    ),
    shutdown_timeout: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 3600,
        description: 'Seconds that answers under way then have to be finished',
      }),
    ),
    request_timeout: seconds('Seconds in which a whole request must have arrived'),
    idle_timeout: seconds('Seconds for which a connection without a request stays open'),
    write_timeout: seconds('Seconds after which a client that reads nothing of its answer is cut off'),
    address_connections: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'Connections that one address may have open, where no proxies are in front',
      }),
    ),
    store: Type.Optional(
      Type.String({
        pattern: '^https?://[^/?#\\s]+(/[^?#\\s]*)?$',
        description:
          'Address of a SPARQL 1.1 engine that keeps the records: Oxigraph server, Fuseki (with its dataset), Virtuoso or another; without it they are in the memory of the server',
      }),
    ),
    store_query: engineAddress('its query endpoint, where it does not follow from store'),
    store_update: engineAddress('its update endpoint'),
    store_data: engineAddress('its graph store'),
    store_user: Type.Optional(Type.String({ minLength: 1, description: 'User that the engine knows' })),
    store_password: Type.Optional(Type.String({ description: 'Password of this user' })),
    store_password_file: Type.Optional(
      Type.String({ minLength: 1, description: 'File whose first line is this password' }),
    ),
    store_concurrency: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 256, description: 'Queries that the engine is asked at a time' }),
    ),
    accounts: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'PostgreSQL database of users, keys and counted calls that several servers share: postgres://user:password@host:port/database',
      }),
    ),
    accounts_password_file: Type.Optional(
      Type.String({ minLength: 1, description: 'File whose first line is the password of that database' }),
    ),
    analytics: Type.Optional(
      Type.Union([Type.Literal('public'), Type.Literal('private')], {
        description: 'Who may see the calls of the APIs one by one (ods-api-monitoring)',
      }),
    ),
    network: Type.Optional(
      Type.Array(
        Type.Object(
          {
            url: Type.String({
              pattern: '^https?://[^/?#\\s@]+(/[^?#\\s]*)?$',
              description: 'Public address of a portal with the Explore API',
            }),
            domain: Type.Optional(
              Type.String({
                pattern: '^[A-Za-z0-9.-]{1,100}$',
                description: 'What stands after the @ in the ids of its datasets; the host of its address',
              }),
            ),
          },
          { additionalProperties: false },
        ),
        { description: 'Other portals whose public datasets the network source lists' },
      ),
    ),
    quotas: Type.Optional(
      Type.Object(
        {
          domain: dailyCalls('Calls of the APIs a day of everybody together'),
          anonymous: dailyCalls('Calls a day of one address without credentials'),
          user: dailyCalls('Calls a day of one user, where lodestone user quota gives no other number'),
        },
        { additionalProperties: false, description: 'How often the APIs may be called in a day of UTC' },
      ),
    ),
    sign_in: Type.Optional(
      Type.Object(
        {
          issuer: Type.String({
            pattern: '^https?://[^/?#\\s@]+(/[^?#\\s]*)?$',
            description: 'Address of the OpenID provider, as its discovery document names it',
          }),
          client_id: Type.String({ minLength: 1, description: 'What the provider calls this portal' }),
          client_secret_file: Type.Optional(
            Type.String({
              minLength: 1,
              description: 'File whose first line is the secret of this portal there',
            }),
          ),
          name: Type.Optional(
            Type.String({ minLength: 1, maxLength: 100, description: 'What people call the provider' }),
          ),
          scopes: Type.Optional(
            Type.Array(Type.String({ pattern: '^[\\w:./-]+$' }), { description: 'Scopes beside openid' }),
          ),
          groups_claim: Type.Optional(
            Type.String({ minLength: 1, description: 'Claim that lists the groups of a person' }),
          ),
          groups: Type.Optional(
            Type.Record(Type.String(), Type.Array(Type.String()), {
              description: 'Grants of the members of each group: ids of datasets, *, edit:…, or a role',
            }),
          ),
        },
        { additionalProperties: false, description: 'A provider of OpenID Connect where people sign in' },
      ),
    ),
    saml_sign_in: Type.Optional(SAML_SCHEMA),
    address_tokens: Type.Optional(
      Type.Union([Type.Literal('refused'), Type.Literal('allowed')], {
        description: 'Whether access tokens may stand in addresses, where logs and histories keep them',
      }),
    ),
    csv_formulas: Type.Optional(
      Type.Union([Type.Literal('kept'), Type.Literal('escaped')], {
        description:
          'Whether texts of CSV exports that a spreadsheet would run as formulas get an apostrophe in front',
      }),
    ),
    work_burst: Type.Optional(
      Type.Number({
        minimum: 1,
        maximum: 86_400,
        description: 'Seconds of work that one client may have done at once, before others go first',
      }),
    ),
    work_rate: Type.Optional(
      Type.Number({
        minimum: 0.01,
        maximum: 1000,
        description: 'Seconds of work that each client is given back a second',
      }),
    ),
    proxies: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10,
        description: 'Reverse proxies in front whose X-Forwarded-For tells the address of the client',
      }),
    ),
    services: Type.Optional(
      Type.Array(Type.String({ pattern: '^https?://[^/?#\\s@]+(?:[/?][^#\\s]*)?$', maxLength: 2000 }), {
        description: 'Addresses of SPARQL endpoints that queries may ask with SERVICE; none unless told',
      }),
    ),
    service_timeout: seconds('Seconds that the services of a query may take'),
    service_rows: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Solutions that a SERVICE may have' }),
    ),
    service_size: Type.Optional(
      Type.String({ pattern: SIZE_PATTERN, description: 'What a SERVICE may answer at most' }),
    ),
    query_log: Type.Optional(
      Type.String({
        pattern: SIZE_PATTERN,
        description: 'Size that the anonymous log of SPARQL queries may have; absent, there is none',
      }),
    ),
    source_hosts: Type.Optional(
      Type.Array(Type.String({ pattern: '^(\\*\\.)?[A-Za-z0-9.:-]{1,200}$' }), {
        description:
          'Hosts that data may be fetched from, *.example.org for all below one; all public ones unless told',
      }),
    ),
    source_private_hosts: Type.Optional(
      Type.Array(Type.String({ pattern: '^(\\*\\.)?[A-Za-z0-9.:-]{1,200}$' }), {
        description: 'Hosts in private networks that data may be fetched from; none unless told',
      }),
    ),
    source_size: Type.Optional(
      Type.String({ pattern: SIZE_PATTERN, description: 'What an address of data may send at most' }),
    ),
    source_timeout: seconds('Seconds of silence after which an address of data is given up'),
    tiles: Type.Optional(
      Type.String({
        pattern: '^(?=.*\\{z\\})(?=.*\\{x\\})(?=.*\\{y\\})https?://[^/?#\\s@{}\\\\;,]+/[^#\\s]*$',
        description: 'Addresses of map tiles, with {z}, {x} and {y} in them',
      }),
    ),
    tiles_attribution: Type.Optional(
      Type.String({ minLength: 1, description: 'Who made the map tiles, shown on every map' }),
    ),
  },
  { additionalProperties: false },
)

function seconds(description: string) {
  return Type.Optional(Type.Number({ minimum: 0.1, maximum: 86_400, description }))
}

function engineAddress(what: string) {
  return Type.Optional(
    Type.String({ pattern: '^https?://[^/?#\\s]+(/[^?#\\s]*)?$', description: `Address of ${what}` }),
  )
}

function dailyCalls(description: string) {
  return Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000_000, description }))
}

type PortalSettings = Static<typeof PORTAL_SCHEMA>

/** A provider of OpenID Connect, and what its groups give. */
export interface SignInProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecretFile?: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly groupsClaim: string
  readonly groups: Readonly<Record<string, readonly string[]>>
}

/** Every setting, with its value; the folder is absolute and the base has no trailing slash. */
export interface Config {
  readonly portal: string
  readonly title: string
  readonly description: string
  readonly base: string
  readonly host: string
  readonly port: number
  readonly access: 'public' | 'private'
  readonly languages: readonly string[]
  readonly workers: number
  /** Bytes that the process may use. */
  readonly memory: number
  /** Seconds. */
  readonly deadline: number
  readonly fragmentSize: number
  /** Versions of each dataset that are kept, with the one in force. */
  readonly keepVersions: number
  /** Bytes of a file that publishers upload. */
  readonly uploadLimit: number
  /** Whether an IRI of a thing redirects to a document about it (303) or answers with it (200). */
  readonly dereference: 'redirect' | 'direct'
  readonly log: 'silent' | 'error' | 'warn' | 'info' | 'debug'
  /** Where operators ask, beside the port of the portal; absent, there alone. */
  readonly adminPort?: number
  readonly adminHost: string
  /** Whether everybody may read the metrics, on the port of the portal. */
  readonly metrics: 'public' | 'private'
  /** Where traces are sent; absent, what the variables of OpenTelemetry say. */
  readonly otel?: string
  /** Seconds from the signal to end until no new connections are taken. */
  readonly shutdownDelay: number
  /** Seconds that answers under way then have to be finished. */
  readonly shutdownTimeout: number
  /** Seconds in which a whole request must have arrived. */
  readonly requestTimeout: number
  /** Seconds for which a connection without a request stays open. */
  readonly idleTimeout: number
  /** Seconds after which a client is cut off that reads nothing of its answer. */
  readonly writeTimeout: number
  /** Connections that one address may have open. */
  readonly addressConnections: number
  /** The engine that keeps the records; absent, the memory of the process. May hold a password. */
  readonly store?: {
    readonly url: string
    readonly query?: string
    readonly update?: string
    readonly data?: string
    readonly user?: string
    readonly password?: string
    readonly concurrency: number
  }
  /** The database of accounts that several servers share; absent, a file of the portal. The address may hold a password. */
  readonly accounts?: { readonly url: string; readonly passwordFile?: string }
  /** Who may see the calls of the APIs one by one; absent, nobody without credentials. */
  readonly analytics?: 'public' | 'private'
  /** The other portals of the network; absent where there are none. */
  readonly network?: readonly { readonly url: string; readonly domain: string }[]
  /** Calls of a day in UTC: of the whole portal, of an anonymous address, of a user. */
  readonly quotas?: { readonly domain?: number; readonly anonymous?: number; readonly user?: number }
  /** The OpenID provider where people sign in; absent, they sign in here alone. */
  readonly signIn?: SignInProvider
  /** The identity provider of SAML 2.0 where people sign in; absent, there is none. */
  readonly samlSignIn?: SamlProvider
  /** Whether access tokens are taken from addresses. */
  readonly addressTokens: 'refused' | 'allowed'
  /** Whether texts of CSV exports that begin like formulas get an apostrophe in front. */
  readonly csvFormulas: 'kept' | 'escaped'
  /** Seconds of work that a client may have done at once, and those that it is given back a second. */
  readonly work: { readonly burst: number; readonly rate: number }
  /** How many proxies in front are believed who the client is; absent, none. */
  readonly proxies?: number
  /** Hosts that data may be fetched from; absent, all public ones. */
  readonly sourceHosts?: readonly string[]
  /** Hosts in private networks that data may be fetched from. */
  readonly sourcePrivateHosts: readonly string[]
  /** The endpoints that SERVICE may ask, and what each may take: milliseconds, solutions, bytes. */
  readonly services: {
    readonly allowed: readonly string[]
    readonly limits: { readonly time: number; readonly rows: number; readonly bytes: number }
  }
  /** Bytes that the anonymous log of SPARQL queries may have; absent, there is none. */
  readonly queryLog?: number
  /** Bytes that an address of data may send. */
  readonly sourceSize: number
  /** Seconds of silence after which an address of data is given up. */
  readonly sourceTimeout: number
  /** Tiles that maps show below the data, and who made them; absent, outlines of land alone. */
  readonly tiles?: { readonly url: string; readonly attribution: string }
}

/** Settings given on the command line. */
export interface ConfigFlags {
  readonly portal?: string | undefined
  readonly port?: number | undefined
  readonly base?: string | undefined
}

/** What holds where nothing else is said; the base address follows from the port. */
export const DEFAULTS = {
  title: 'Lodestone',
  description: '',
  host: '0.0.0.0',
  port: 3000,
  access: 'public',
  languages: ['en'],
  deadline: 10,
  fragment_size: 500,
  keep_versions: 5,
  upload_limit: '2GiB',
  dereference: 'redirect',
  log: 'warn',
  admin_host: '127.0.0.1',
  metrics: 'private',
  store_concurrency: 8,
  shutdown_delay: 0,
  shutdown_timeout: 30,
  request_timeout: 60,
  idle_timeout: 72,
  write_timeout: 60,
  address_connections: 500,
  address_tokens: 'refused',
  csv_formulas: 'kept',
  work_burst: 30,
  work_rate: 0.5,
  services: [],
  service_timeout: 10,
  service_rows: 100_000,
  service_size: '32MiB',
  source_private_hosts: [],
  source_size: '4GiB',
  source_timeout: 30,
} as const

/**
 * Puts the configuration together: defaults < portal.yaml < environment < flags. Throws ConfigInvalid with file, line
 * and column, or the name of the variable.
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
    tiles,
    tiles_attribution: attribution = '',
    workers = defaultWorkers(),
    memory,
    ...rest
  } = { ...DEFAULTS, ...settings }
  if (rest.port === 0 && settings.base === undefined) {
    const reason =
      'port 0 stands for any free port, so the base address, with which every IRI begins, is not known: give it with --base (or base in portal.yaml)'
    throw new Fault('ConfigInvalid', { reason })
  }
  const base = (settings.base ?? `http://localhost:${rest.port}`).replace(/\/+$/, '')
  const {
    store,
    store_query: query,
    store_update: update,
    store_data: data,
    store_user: user,
    store_password: password,
    store_password_file: storePasswordFile,
    store_concurrency: concurrency = DEFAULTS.store_concurrency,
    ...kept
  } = rest
  const engine = { query, update, data, user, password: storePassword(password, storePasswordFile, portal) }
  const more = {
    ...(store === undefined ? {} : { store: { url: store, ...present(engine), concurrency } }),
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
  return Object.freeze({ ...kept, portal, base, ...renamed, ...more })
}

/** What of an object is given. */
function present<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never
}

function storePassword(password: string | undefined, file: string | undefined, portal: string) {
  if (file === undefined) return password
  try {
    return readFileSync(path.resolve(portal, file), 'utf8').split(/\r?\n/, 1)[0]
  } catch (cause) {
    const reason = `store_password_file: ${file} cannot be read: ${(cause as NodeJS.ErrnoException).code}`
    throw new Fault('ConfigInvalid', { reason }, { cause })
  }
}

/** Every source of settings below its own name, before any of them wins over another. Faults: as of {@link loadConfig}. */
export function settingSources(flags: ConfigFlags, environment: NodeJS.ProcessEnv) {
  const portal = path.resolve(flags.portal ?? environment.LODESTONE_PORTAL ?? '.')
  return {
    portal,
    file: fromFile(portal),
    environment: fromEnvironment(environment),
    flags: fromFlags(flags),
  }
}

/** The database of accounts; a file with its password is looked for in the folder of the portal. */
function accountsOf(url: string, portal: string, passwordFile: string | undefined): Config['accounts'] & {} {
  const { protocol = '', hostname = '', pathname = '' } = URL.canParse(url) ? new URL(url) : {}
  if (!/^postgres(ql)?:$/.test(protocol) || hostname === '' || pathname.length < 2) {
    // What was found may have a password in it.
    const reason =
      'accounts: postgres://user:password@host:port/database is expected, with characters of user and password percent-encoded; the address that was found is not told, for it may hold a password'
    throw new Fault('ConfigInvalid', { reason })
  }
  return passwordFile === undefined ? { url } : { url, passwordFile: path.resolve(portal, passwordFile) }
}

/** The provider where people sign in; the file with the secret is looked for in the folder of the portal. */
function signInOf(given: NonNullable<PortalSettings['sign_in']>, portal: string): SignInProvider {
  const { issuer, client_id: clientId, client_secret_file: file, scopes = ['profile', 'email'] } = given
  const { name = new URL(issuer).hostname, groups_claim: groupsClaim = 'groups', groups = {} } = given
  refuseOtherGrants('sign_in', groups)
  const secret = file === undefined ? {} : { clientSecretFile: path.resolve(portal, file) }
  return { issuer, clientId, name, scopes, groupsClaim, groups, ...secret }
}

/** The portals of the network, each with its domain: no two have the same, and none that of this portal. */
function networkOf(given: NonNullable<PortalSettings['network']>, base: string): Config['network'] & {} {
  const taken = new Set([new URL(base).hostname])
  return given.map(({ url, domain = new URL(url).hostname }) => {
    if (taken.has(domain)) {
      const reason = `network: ${url} has the domain ${domain}, which another portal has already: give it one with domain`
      throw new Fault('ConfigInvalid', { reason })
    }
    taken.add(domain)
    return { url: url.replace(/\/+$/, ''), domain }
  })
}

function fromFile(portal: string): PortalSettings {
  const file = path.join(portal, 'portal.yaml')
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') {
      const reason = `${file} was not found: a portal is a folder with a portal.yaml (it may be empty) and a data folder`
      throw new Fault('ConfigInvalid', { reason }, { place: { file } })
    }
    throw new Fault(
      'ConfigInvalid',
      { reason: `${file} cannot be read: ${String(cause)}` },
      { place: { file }, cause },
    )
  }
  return trusted(readDocument(text, file, PORTAL_SCHEMA))
}

/** Settings that are lists, from the parts of a variable between commas. */
const LISTS: Readonly<Record<string, (parts: readonly string[]) => unknown>> = {
  languages: parts => parts,
  network: urls => urls.filter(url => url !== '').map(url => ({ url })),
  quotas: parts => quotasOf(parts.filter((part, index) => part !== '' || index === 0)),
}

/** Quotas as `domain=900,user=1000`, or the one of the domain alone as `900`. */
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
      throw new Fault('ConfigInvalid', { reason: `unknown setting ${variable} in the environment${hint}` })
    }
    const value = lookup(LISTS, key)?.(text.split(',').map(part => part.trim())) ?? numberOrText(key, text)
    Object.assign(given, checked(key, value, variable, 'ConfigInvalid'))
  }
  return given
}

function fromFlags({ port, base }: ConfigFlags): PortalSettings {
  return {
    ...(port === undefined ? {} : checked('port', port, '--port', 'Usage')),
    ...(base === undefined ? {} : checked('base', base, '--base', 'Usage')),
  }
}

/** One setting that stands alone, checked; `name` is that of the variable or flag that gives it. */
function checked(key: string, value: unknown, name: string, code: 'ConfigInvalid' | 'Usage'): PortalSettings {
  const read = readDocument(JSON.stringify({ [key]: value }), name, PORTAL_SCHEMA)
  if (read.value !== null) return read.value
  const reason = read.problems.map(({ message }) => `${name}: ${message}`).join('\n')
  throw new Fault(code, { reason }, { place: { file: name } })
}

function numberOrText(key: string, text: string): unknown {
  const number = Number(text)
  const { type } = lookup(PORTAL_SCHEMA.properties, key as keyof typeof PORTAL_SCHEMA.properties) as {
    readonly type?: string
  }
  const numeric = type === 'integer' || type === 'number'
  return numeric && text.trim() !== '' && Number.isFinite(number) ? number : text
}
