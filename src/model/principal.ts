/** The user of a request and what that user may see: determined once per request, and the basis of all access checks. */
export type Principal = Anonymous | Authenticated

/** A user without credentials. */
export interface Anonymous {
  readonly type: 'anonymous'
}

/** A user who was authenticated by a credential. */
export interface Authenticated {
  readonly type: 'user'
  readonly id: number
  readonly name: string
  /** Ids of the restricted datasets that the user may see, `*` for all; with the prefix `edit:`, of those that the user may edit. */
  readonly grants: ReadonlySet<string>
  /** Calls per day of this user; null for the portal's default. */
  readonly quota: number | null
  readonly by: 'key' | 'token' | 'session'
  /** True for a user who signs in at a provider alone. */
  readonly hasNoPassword?: true
}

export const ANONYMOUS: Anonymous = { type: 'anonymous' }
