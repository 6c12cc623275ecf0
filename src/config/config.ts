import type { SignInProvider } from './derived.ts'
import type { SamlProvider } from './saml.ts'

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
  /** Retained versions of each dataset, with the one in force. */
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
