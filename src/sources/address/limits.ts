/** What may be fetched, and how much. */
export interface FetchLimits {
  /** Hosts that may be fetched from, `*.example.org` for all below one; absent, all. */
  readonly hosts?: readonly string[]
  /** Hosts in private networks that may be fetched from. */
  readonly privateHosts: readonly string[]
  /** Bytes of an answer. */
  readonly size: number
  /** Milliseconds without any byte after which an address is given up. */
  readonly idle: number
  /** Milliseconds before the first and between further attempts; as many more attempts as there are. */
  readonly pauses: readonly number[]
}

/** What is known of an address from the last time. */
export interface Validators {
  readonly etag?: string
  readonly lastModified?: string
}

/** What a fetch found. */
export type Fetched =
  | { readonly type: 'unchanged' }
  | {
      readonly type: 'changed'
      readonly size: number
      readonly mediaType: string
      readonly name: string
      readonly validators: Validators
    }
