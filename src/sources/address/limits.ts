/** Limits of fetching. */
export interface FetchLimits {
  /** Hosts that may be fetched from, `*.example.org` for all subdomains; if absent, all. */
  readonly hosts?: readonly string[]
  readonly privateHosts: readonly string[]
  /** Maximum bytes of a response. */
  readonly size: number
  /** Milliseconds without data after which a fetch is aborted. */
  readonly idle: number
  /** Maximum milliseconds of a fetch, with all its redirects and retries. */
  readonly duration: number
  /** Gives the fetch up when it is aborted. */
  readonly signal?: AbortSignal
  /** Pauses in milliseconds before each retry; their number is the number of retries. */
  readonly pauses: readonly number[]
}

/** The limits of a fetch that has begun. */
export interface FetchContext extends FetchLimits {
  /** Aborted when the maximum duration is over, or the fetch is given up. */
  readonly late: AbortSignal
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
      /** The address that answered, after redirects. */
      readonly address: string
      readonly validators: Validators
    }
