import type { SamlProvider, SignInProvider } from './derived.ts'

/** The value of every setting; the folder is absolute and the base has no trailing slash. */
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
  /** Maximum bytes of memory of the process. */
  readonly memory: number
  /** Seconds. */
  readonly deadline: number
  readonly fragmentSize: number
  /** Number of retained versions of each dataset, including the one in force. */
  readonly keepVersions: number
  /** Maximum bytes of an uploaded file. */
  readonly uploadLimit: number
  /** Whether the IRI of a thing redirects to a document about it (303) or returns the document (200). */
  readonly dereference: 'redirect' | 'direct'
  readonly log: 'silent' | 'error' | 'warn' | 'info' | 'debug'
  /** An additional port for operators; if absent, they use the port of the portal. */
  readonly adminPort?: number
  readonly adminHost: string
  /** Whether everyone may read the metrics, on the port of the portal. */
  readonly metrics: 'public' | 'private'
  /** Where traces are sent; if absent, the variables of OpenTelemetry apply. */
  readonly otel?: string
  /** Seconds from the termination signal until no new connections are accepted. */
  readonly shutdownDelay: number
  /** Seconds that responses in progress then have to complete. */
  readonly shutdownTimeout: number
  /** Seconds in which a whole request must have arrived. */
  readonly requestTimeout: number
  /** Seconds for which an idle connection stays open. */
  readonly idleTimeout: number
  /** Seconds after which a client that reads nothing of its response is disconnected. */
  readonly writeTimeout: number
  /** Maximum open connections of one address. */
  readonly addressConnections: number
  /** The engine that stores the records; if absent, the memory of the process. May contain a password. */
  readonly store?: {
    readonly url: string
    readonly query?: string
    readonly update?: string
    readonly data?: string
    readonly user?: string
    readonly password?: string
    readonly concurrency: number
  }
  /** The database of accounts that several servers share; if absent, a file of the portal. The address may contain a password. */
  readonly accounts?: { readonly url: string; readonly passwordFile?: string }
  /** Who may see individual calls of the APIs; if absent, nobody without credentials. */
  readonly analytics?: 'public' | 'private'
  /** The other portals of the network; absent if there are none. */
  readonly network?: readonly { readonly url: string; readonly domain: string }[]
  /** Maximum calls per day in UTC: of the whole portal, of an anonymous address, of a user. */
  readonly quotas?: { readonly domain?: number; readonly anonymous?: number; readonly user?: number }
  /** The OpenID provider for sign-in; if absent, users sign in here alone. */
  readonly signIn?: SignInProvider
  /** The SAML 2.0 identity provider for sign-in; absent if there is none. */
  readonly samlSignIn?: SamlProvider
  /** Whether access tokens in addresses are accepted. */
  readonly addressTokens: 'refused' | 'allowed'
  /** Whether texts of CSV exports that begin like formulas are prefixed with an apostrophe. */
  readonly csvFormulas: 'kept' | 'escaped'
  /** Seconds of work that a client may consume at once, and the seconds that are credited per second. */
  readonly work: { readonly burst: number; readonly rate: number }
  /** Number of trusted proxies in front of the server; if absent, none. */
  readonly proxies?: number
  /** Hosts that data may be fetched from; if absent, all public ones. */
  readonly sourceHosts?: readonly string[]
  /** Hosts in private networks that data may be fetched from. */
  readonly sourcePrivateHosts: readonly string[]
  /** The endpoints that SERVICE may query, and the limits of each: milliseconds, solutions, bytes. */
  readonly services: {
    readonly allowed: readonly string[]
    readonly limits: { readonly time: number; readonly rows: number; readonly bytes: number }
  }
  /** Maximum bytes of the anonymous log of SPARQL queries; if absent, there is none. */
  readonly queryLog?: number
  /** Maximum bytes that are fetched from an address of data. */
  readonly sourceSize: number
  /** Seconds without data after which fetching an address is abandoned. */
  readonly sourceTimeout: number
  /** Seconds that fetching an address may take in total. */
  readonly sourceDuration: number
  /** Tiles of the base map, and their attribution; if absent, maps show coastlines alone. */
  readonly tiles?: { readonly url: string; readonly attribution: string }
}
