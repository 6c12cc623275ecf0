/** Limits of fetching. */
export interface FetchLimits {
  /** Hosts that may be fetched from, `*.example.org` for all subdomains; if absent, all. */
  readonly hosts?: readonly string[]
  /** Hosts in private networks that may be fetched from. */
  readonly privateHosts: readonly string[]
  /** Maximum bytes of a response. */
  readonly size: number
  /** Milliseconds without data after which a fetch is aborted. */
  readonly idle: number
  /** Pauses in milliseconds before each retry; their number is the number of retries. */
  readonly pauses: readonly number[]
}

/** What is known of an address from the previous fetch. */
export interface Validators {
  readonly etag?: string
  readonly lastModified?: string
}

/** The result of a fetch. */
export type Fetched =
  | { readonly type: 'unchanged' }
  | {
      readonly type: 'changed'
      readonly size: number
      readonly mediaType: string
      readonly name: string
      readonly validators: Validators
    }
