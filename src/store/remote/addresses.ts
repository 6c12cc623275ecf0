import { CONFIG_INVALID } from '../../config/faults.ts'
import { Fault } from '../../errors/errors.ts'
import { STORE_UNAVAILABLE } from '../faults.ts'
import { type Connections, type Credentials, type EngineResponse, NoAnswer } from './http.ts'

/**
 * Engines with specific support; any other SPARQL 1.1 engine is `other`. GraphDB has the endpoints of RDF4J and counts as such.
 */
export type EngineKind = 'oxigraph' | 'fuseki' | 'virtuoso' | 'rdf4j' | 'other'

/** The location of an engine, as in portal.yaml. */
export interface EngineSettings {
  /** URL from which the others are derived. */
  readonly url: string
  readonly query?: string
  readonly update?: string
  readonly data?: string
  readonly user?: string
  readonly password?: string
}

/** The endpoints of the three protocols of SPARQL 1.1. */
export interface EngineAddresses {
  readonly kind: EngineKind
  /** The engine's description of itself. */
  readonly version: string
  readonly query: URL
  readonly update: URL
  /** Graph store protocol with `?graph=`; null where there is none, and triples are inserted by updates. */
  readonly data: URL | null
  /** Name of the parameter for the graph. */
  readonly graphParameter: 'graph' | 'graph-uri'
}

const PROBE = 'query=ASK%20%7B%7D'
const TIMEOUT = 5000

/**
 * Detects the engine at a URL: the layouts of Oxigraph (`/query`, `/update`, `/store`), Fuseki (`/query`, `/update`, `/data`
 * below the dataset) and Virtuoso (`/sparql`, `/sparql-graph-crud`) are tried in turn, then the URL itself, as in RDF4J
 * (`/repositories/ID`); if it is the query endpoint, the others are next to it. Endpoints in the settings are not guessed. The
 * connections use {@link credentialsOf} the settings. Faults: StoreUnavailable without an answer, ConfigInvalid for an answer
 * that is not SPARQL.
 */
export async function findAddresses(
  settings: EngineSettings,
  connections: Connections,
): Promise<EngineAddresses> {
  const base = bare(settings.url)
  const [, root = '', named] = /^(.*?)(?:\/(query|sparql|sparql-auth))?\/*$/.exec(base.href) ?? []
  const below = (name: string) => new URL(`${root}/${name}`)
  // Virtuoso answers anonymous queries at /sparql, and requires authentication at /sparql-auth.
  const names = credentialsOf(settings) === null ? ['query', 'sparql'] : ['query', 'sparql-auth', 'sparql']
  // Only the service that requires credentials gets them, even where the URL names the other one.
  const described =
    named === 'sparql' ? names.filter(name => name !== 'query') : named === undefined ? [] : [named]
  const standard = named === undefined ? [...names.map(below), base] : described.map(below)
  const tried = settings.query === undefined ? standard : [bare(settings.query)]
  const answers: string[] = []
  for (const query of tried) {
    const answer = await probe(query, connections)
    if (answer.status === 401 || answer.status === 403)
      throw new Fault(CONFIG_INVALID, {
        reason: `store: ${query.href} answers ${answer.status}: the engine wants other credentials (store_user and store_password)`,
      })
    if (!isAnswer(answer)) {
      answers.push(`${query.href} (${answer.status})`)
      continue
    }
    const kind = kindOf(answer, query)
    const version = versionOf(answer, kind)
    return { ...layout(kind, settings, query, below), kind, version, query }
  }
  throw new Fault(CONFIG_INVALID, {
    reason: `store: no SPARQL endpoint was found: ${answers.join(', ')}. Give the addresses with query, update and data`,
  })
}

async function probe(query: URL, connections: Connections): Promise<EngineResponse> {
  try {
    return await connections.request({
      method: 'POST',
      url: query,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/sparql-results+json',
      },
      body: PROBE,
      deadline: TIMEOUT,
      maxLength: 1_000_000,
    })
  } catch (cause) {
    if (!(cause instanceof NoAnswer)) throw cause
    const reason = `no engine answers at ${query.origin}: ${cause.message}.`
    throw new Fault(STORE_UNAVAILABLE, { reason }, { cause })
  }
}

function isAnswer({ status, text }: EngineResponse): boolean {
  if (status !== 200) return false
  try {
    return (JSON.parse(text) as { readonly boolean?: unknown } | null)?.boolean === true
  } catch {
    return false
  }
}

function versionOf(answer: EngineResponse, kind: EngineKind): string {
  const server = serverOf(answer)
  // RDF4J reports the name of its web server, GraphDB its own.
  if (kind === 'rdf4j' && !/rdf4j/i.test(server)) return server === '' ? 'RDF4J' : `RDF4J (${server})`
  if (server !== '') return server
  return kind === 'fuseki' ? 'Apache Jena Fuseki' : 'unknown engine'
}

function serverOf({ headers }: EngineResponse): string {
  return String(headers.server ?? '')
}

const REPOSITORY = /\/repositories\/[^/]+$/

function kindOf(answer: EngineResponse, query: URL): EngineKind {
  const { headers } = answer
  const server = serverOf(answer)
  if (/oxigraph/i.test(server)) return 'oxigraph'
  if (/fuseki|jena/i.test(server) || headers['fuseki-request-id'] !== undefined) return 'fuseki'
  if (/virtuoso/i.test(server)) return 'virtuoso'
  if (REPOSITORY.test(query.pathname)) return 'rdf4j'
  return 'other'
}

function layout(
  kind: EngineKind,
  { update, data }: EngineSettings,
  query: URL,
  below: (name: string) => URL,
): Pick<EngineAddresses, 'update' | 'data' | 'graphParameter'> {
  const given = {
    ...(update === undefined ? {} : { update: bare(update) }),
    ...(data === undefined ? {} : { data: bare(data) }),
  }
  switch (kind) {
    case 'oxigraph':
      return { update: below('update'), data: below('store'), graphParameter: 'graph', ...given }
    case 'fuseki':
      return { update: below('update'), data: below('data'), graphParameter: 'graph', ...given }
    case 'virtuoso':
      return {
        update: query,
        data: new URL(query.href.replace(/\/sparql(-auth)?$/, '/sparql-graph-crud$1')),
        graphParameter: 'graph-uri',
        ...given,
      }
    case 'rdf4j': {
      const below = (path: string) => new URL(`${query.href}/${path}`)
      const data = below('rdf-graphs/service')
      return { update: below('statements'), data, graphParameter: 'graph', ...given }
    }
    case 'other':
      return { update: query, data: null, graphParameter: 'graph', ...given }
  }
}

/** A URL without credentials, which are only sent in headers. */
function bare(address: string): URL {
  const url = new URL(address.replace(/(?<=[^/])\/+$/, ''))
  url.username = ''
  url.password = ''
  return url
}

/** Lodestone's credentials for the engine, from the settings or the URL; null where there are none. */
export function credentialsOf({ url, user, password }: EngineSettings): Credentials | null {
  const { username, password: ofAddress } = new URL(url)
  const name = user ?? decodeURIComponent(username)
  return name === '' ? null : { user: name, password: password ?? decodeURIComponent(ofAddress) }
}
