import { type Static, type TStringOptions, Type } from 'typebox'
import { patternText } from './texts.ts'

/** The name and address of the portal, and who may call it. */
const PORTAL_SETTINGS = {
  title: text('Name of the portal'),
  description: Type.Optional(Type.String({ description: 'One sentence about the portal' })),
  base: pattern('address', 'Public address; every IRI begins with it'),
  access: choice(['public', 'private'], 'Who may call without credentials'),
  languages: Type.Optional(
    Type.Array(patternText('language'), {
      minItems: 1,
      uniqueItems: true,
      description: 'Languages of the portal',
    }),
  ),
  dereference: choice(
    ['redirect', 'direct'],
    'Whether an IRI of a thing redirects to a document about it or answers with it',
  ),
  fragment_size: whole(1, 5000, 'Triples on a page of a fragment'),
  keep_versions: whole(
    1,
    1000,
    'Versions of each dataset that are retained and can be queried, including the current one',
  ),
  upload_limit: pattern('size', 'Maximum size of a file that publishers upload, such as 500MB'),
  address_tokens: choice(
    ['refused', 'allowed'],
    'Whether access tokens are accepted in addresses, where logs and histories store them',
  ),
  csv_formulas: choice(
    ['kept', 'escaped'],
    'Whether texts of CSV exports that a spreadsheet would run as formulas get an apostrophe in front',
  ),
  tiles: pattern('tileAddress', 'Addresses of map tiles, with {z}, {x} and {y} in them'),
  tiles_attribution: text('Attribution of the map tiles, shown on every map'),
  network: Type.Optional(
    Type.Array(
      Type.Object(
        {
          url: patternText('address', { description: 'Public address of a portal with the Explore API' }),
          domain: pattern(
            'domain',
            'Part after the @ in the ids of its datasets; by default the host of its address',
          ),
        },
        { additionalProperties: false },
      ),
      { description: 'Other portals whose public datasets the network source lists' },
    ),
  ),
  analytics: choice(['public', 'private'], 'Who may see the single calls of the APIs (ods-api-monitoring)'),
}

/** The ports of the server, and the limits of connections and clients. */
const SERVER_SETTINGS = {
  host: text('Address to listen on'),
  port: whole(0, 65535, 'Port to listen on'),
  admin_port: whole(0, 65535, 'Port of a second listener with /metrics, /healthz and /readyz for operators'),
  admin_host: text('Address of the second listener'),
  metrics: choice(['public', 'private'], 'Whether /metrics is also answered on the main port, to everybody'),
  otel: pattern('address', 'Address of an OpenTelemetry collector that traces are sent to (OTLP over HTTP)'),
  log: choice(['silent', 'error', 'warn', 'info', 'debug'], 'Level of the log on stderr'),
  query_log: pattern(
    'size',
    'Maximum size of the anonymous log of SPARQL queries; without it nothing is logged',
  ),
  shutdown_delay: number(
    0,
    300,
    'Seconds from the signal to end until no new connections are taken; /readyz answers 503',
  ),
  shutdown_timeout: number(0, 3600, 'Seconds after that for running requests to finish'),
  request_timeout: seconds('Seconds in which a whole request must have arrived'),
  idle_timeout: seconds('Seconds for which a connection without a request stays open'),
  write_timeout: seconds('Seconds after which a client that reads nothing of its answer is cut off'),
  address_connections: whole(
    1,
    1_000_000,
    'Open connections that one client address may have, where no proxies are configured',
  ),
  proxies: whole(0, 10, 'Reverse proxies in front whose X-Forwarded-For gives the address of the client'),
  quotas: Type.Optional(
    Type.Object(
      {
        domain: dailyCalls('Calls of the APIs a day of everybody together'),
        anonymous: dailyCalls('Calls a day of one address without credentials'),
        user: dailyCalls('Calls a day of one user, where lodestone user quota gives no other number'),
      },
      { additionalProperties: false, description: 'Calls of the APIs that are allowed in a day of UTC' },
    ),
  ),
  work_burst: number(
    1,
    86_400,
    'Seconds of work that one client may request in a burst before other clients get precedence',
  ),
  work_rate: number(0.01, 1000, 'Seconds of work by which the budget of each client grows a second'),
}

/** The store that answers queries, with its memory, threads and timeouts. */
const STORE_SETTINGS = {
  workers: whole(1, 64, 'Threads that answer queries'),
  memory: pattern(
    'size',
    'Memory that the process may use, such as 600MB or 2GiB; half of the machine by default',
  ),
  deadline: number(0.05, 3600, 'Seconds that a query may take'),
  store: pattern(
    'engineAddress',
    'Address of a SPARQL 1.1 engine that stores the records: Oxigraph server, Fuseki (with its dataset), Virtuoso or another; without it they are in the memory of the server',
  ),
  store_query: pattern('engineAddress', 'Address of its query endpoint, where it does not follow from store'),
  store_update: pattern('engineAddress', 'Address of its update endpoint'),
  store_data: pattern('engineAddress', 'Address of its graph store'),
  store_user: text('User name at the engine'),
  store_password: Type.Optional(Type.String({ description: 'Password of this user' })),
  store_password_file: text('File whose first line is this password'),
  store_concurrency: whole(1, 256, 'Queries that are sent to the engine at a time'),
  services: Type.Optional(
    Type.Array(patternText('addressWithQuery', { maxLength: 2000 }), {
      description: 'Addresses of SPARQL endpoints that queries may call with SERVICE; none by default',
    }),
  ),
  service_timeout: seconds('Seconds that the services of a query may take'),
  service_rows: whole(1, 1_000_000, 'Maximum number of solutions of a SERVICE'),
  service_size: pattern('size', 'Maximum size of the answer of a SERVICE'),
}

const GROUPS = Type.Optional(
  Type.Record(Type.String(), Type.Array(Type.String()), {
    description: 'Grants of the members of each group: ids of datasets, *, edit:…, publish:…, or a role',
  }),
)

/** Where accounts are stored, and where users sign in. */
const ACCOUNTS_SETTINGS = {
  accounts: text(
    'PostgreSQL database of users, keys and counted calls that several servers share: postgres://user:password@host:port/database',
  ),
  accounts_password_file: text('File whose first line is the password of that database'),
  sign_in: Type.Optional(
    Type.Object(
      {
        issuer: patternText('address', {
          description: 'Address of the OpenID provider, as its discovery document names it',
        }),
        client_id: Type.String({ minLength: 1, description: 'Client id of this portal at the provider' }),
        client_secret_file: text('File whose first line is the client secret of this portal at the provider'),
        name: text('Name of the provider on the sign-in page', { maxLength: 100 }),
        scopes: Type.Optional(Type.Array(patternText('scope'), { description: 'Scopes beside openid' })),
        groups_claim: text('Claim that lists the groups of a person'),
        groups: GROUPS,
      },
      { additionalProperties: false, description: 'A provider of OpenID Connect where people sign in' },
    ),
  ),
  saml_sign_in: Type.Optional(
    Type.Object(
      {
        metadata_file: text('File with the metadata of the identity provider'),
        entry_point: pattern(
          'addressWithQuery',
          'Where the identity provider takes requests by redirect, where there is no metadata_file',
        ),
        certificate_file: text(
          'File with the certificates (PEM) of its signatures, where there is no metadata_file',
        ),
        issuer: text('Entity id of the identity provider, where there is no metadata_file', {
          maxLength: 1024,
        }),
        entity_id: text('Entity id of this portal at the provider', { maxLength: 1024 }),
        name: text('Name of the provider on the sign-in page', { maxLength: 100 }),
        subject_attribute: text('Attribute that never changes for a person; without it NameID'),
        name_attribute: text('Attribute that becomes the name of the user'),
        groups_attribute: text('Attribute that lists the groups of a person'),
        groups: GROUPS,
      },
      { additionalProperties: false, description: 'An identity provider of SAML 2.0 where people sign in' },
    ),
  ),
}

/** Where data may be fetched from. */
const SOURCES_SETTINGS = {
  source_hosts: hosts(
    'Hosts that data may be fetched from, *.example.org for all below one; all public ones by default',
  ),
  source_private_hosts: hosts('Hosts in private networks that data may be fetched from; none by default'),
  source_size: pattern('size', 'Maximum size of a file that is fetched from an address'),
  source_timeout: seconds('Seconds without data after which a fetch from an address fails'),
  source_duration: seconds('Seconds that a fetch from an address may take in total'),
}

/**
 * Every setting of portal.yaml; each is also an environment variable, LODESTONE_ and its name in capitals, but `sign_in` and
 * `saml_sign_in`.
 */
export const PORTAL_SCHEMA = Type.Object(
  {
    ...PORTAL_SETTINGS,
    ...SERVER_SETTINGS,
    ...STORE_SETTINGS,
    ...ACCOUNTS_SETTINGS,
    ...SOURCES_SETTINGS,
  },
  { additionalProperties: false },
)

export type PortalSettings = Static<typeof PORTAL_SCHEMA>

/** Default values. Those of the base address, `memory`, `workers` and settings with parts are derived (`load.ts`, `app/`). */
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
  source_duration: 1800,
} as const

function text(description: string, options: TStringOptions = {}) {
  return Type.Optional(Type.String({ minLength: 1, ...options, description }))
}

function pattern(kind: Parameters<typeof patternText>[0], description: string) {
  return Type.Optional(patternText(kind, { description }))
}

function choice<Name extends string>(names: readonly Name[], description: string) {
  return Type.Optional(
    Type.Union(
      names.map(name => Type.Literal(name)),
      { description },
    ),
  )
}

function whole(minimum: number, maximum: number, description: string) {
  return Type.Optional(Type.Integer({ minimum, maximum, description }))
}

function number(minimum: number, maximum: number, description: string) {
  return Type.Optional(Type.Number({ minimum, maximum, description }))
}

function seconds(description: string) {
  return number(0.1, 86_400, description)
}

function dailyCalls(description: string) {
  return whole(0, 1_000_000_000_000, description)
}

function hosts(description: string) {
  return Type.Optional(Type.Array(patternText('host'), { description }))
}
