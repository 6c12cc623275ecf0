import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type Static, Type } from 'typebox'
import { readDocument, trusted } from './document.ts'
import { Fault } from './errors.ts'
import { nearest } from './model/nearest.ts'

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
      Type.Integer({ minimum: 1, maximum: 64, description: 'Copies of the store, one thread each' }),
    ),
    deadline: Type.Optional(
      Type.Number({ minimum: 0.05, maximum: 3600, description: 'Seconds that a query may take' }),
    ),
    fragment_size: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 5000, description: 'Triples on a page of a fragment' }),
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
    proxies: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10,
        description: 'Reverse proxies in front whose X-Forwarded-For tells the address of the client',
      }),
    ),
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

function dailyCalls(description: string) {
  return Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000_000, description }))
}

type PortalSettings = Static<typeof PORTAL_SCHEMA>

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
  /** Seconds. */
  readonly deadline: number
  readonly fragmentSize: number
  /** Whether an IRI of a thing redirects to a document about it (303) or answers with it (200). */
  readonly dereference: 'redirect' | 'direct'
  readonly log: 'silent' | 'error' | 'warn' | 'info' | 'debug'
  /** Who may see the calls of the APIs one by one; absent, nobody without credentials. */
  readonly analytics?: 'public' | 'private'
  /** The other portals of the network; absent where there are none. */
  readonly network?: readonly { readonly url: string; readonly domain: string }[]
  /** Calls of a day in UTC: of the whole portal, of an anonymous address, of a user. */
  readonly quotas?: { readonly domain?: number; readonly anonymous?: number; readonly user?: number }
  /** How many proxies in front are believed who the client is; absent, none. */
  readonly proxies?: number
  /** Tiles that maps show below the data, and who made them; absent, outlines of land alone. */
  readonly tiles?: { readonly url: string; readonly attribution: string }
}

/** Settings given on the command line. */
export interface ConfigFlags {
  readonly portal?: string | undefined
  readonly port?: number | undefined
  readonly base?: string | undefined
}

const DEFAULTS = {
  title: 'Lodestone',
  description: '',
  host: '0.0.0.0',
  port: 3000,
  access: 'public',
  languages: ['en'],
  workers: 2,
  deadline: 10,
  fragment_size: 500,
  dereference: 'redirect',
  log: 'warn',
} as const

/**
 * Puts the configuration together: defaults < portal.yaml < environment < flags. Throws ConfigInvalid with file, line
 * and column, or the name of the variable.
 */
export function loadConfig(flags: ConfigFlags, environment: NodeJS.ProcessEnv): Config {
  const portal = path.resolve(flags.portal ?? environment.LODESTONE_PORTAL ?? '.')
  const settings: PortalSettings = {
    ...fromFile(portal),
    ...fromEnvironment(environment),
    ...fromFlags(flags),
  }
  const {
    fragment_size: fragmentSize,
    network,
    tiles,
    tiles_attribution: attribution = '',
    ...rest
  } = { ...DEFAULTS, ...settings }
  if (rest.port === 0 && settings.base === undefined) {
    const reason =
      'port 0 stands for any free port, so the base address, with which every IRI begins, is not known: give it with --base (or base in portal.yaml)'
    throw new Fault('ConfigInvalid', { reason })
  }
  const base = (settings.base ?? `http://localhost:${rest.port}`).replace(/\/+$/, '')
  const more = {
    ...(network === undefined ? {} : { network: networkOf(network, base) }),
    ...(tiles === undefined ? {} : { tiles: { url: tiles, attribution } }),
  }
  return Object.freeze({ ...rest, portal, base, fragmentSize, ...more })
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
    const value = LISTS[key]?.(text.split(',').map(part => part.trim())) ?? numberOrText(key, text)
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
  const numeric = ['port', 'workers', 'deadline', 'fragment_size', 'proxies'].includes(key)
  return numeric && text.trim() !== '' && Number.isFinite(number) ? number : text
}
