/** The user of a request and what that user may see: decided once for each request, and all that endpoints go by. */
export type Principal = Anonymous | Authenticated

/** Who brought no credential. */
export interface Anonymous {
  readonly type: 'anonymous'
}

/** A user who was recognised by a credential. */
export interface Authenticated {
  readonly type: 'user'
  readonly id: number
  readonly name: string
  /** Ids of the restricted datasets that the user may see, `*` for all of them; behind `edit:`, of those to edit. */
  readonly grants: ReadonlySet<string>
  /** Calls of a day that this user has; null for what the portal gives every user. */
  readonly quota: number | null
  readonly by: 'key' | 'token' | 'session'
}

export const ANONYMOUS: Anonymous = { type: 'anonymous' }
