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

/** The grant of everything. */
export const EVERYTHING = '*'

/** True where a principal was granted what not everybody may see. */
export function isGranted(principal: Principal, dataset: string): boolean {
  return principal.type === 'user' && (principal.grants.has(dataset) || principal.grants.has(EVERYTHING))
}

/** What a grant of publishing begins with; the id of a dataset follows, or `*`, which is also for new datasets. */
export const PUBLISHING = 'publish:'

/**
 * True where a principal may describe, publish and withdraw a dataset: people who are signed in, and programs with a key of
 * theirs. Tokens of applications read.
 *
 * @param dataset its id; null for one that there is not yet
 */
export function mayPublish(principal: Principal, dataset: string | null): boolean {
  if (principal.type !== 'user' || principal.by === 'token') return false
  const { grants } = principal
  return grants.has(PUBLISHING + EVERYTHING) || (dataset !== null && grants.has(PUBLISHING + dataset))
}

/** What a grant of editing begins with; the id of a dataset follows, or `*`. */
export const EDITING = 'edit:'

/**
 * True where a principal may edit what belongs to a dataset that it sees. Only people who are signed in edit: keys and
 * tokens read.
 */
export function mayEdit(principal: Principal, dataset: string): boolean {
  if (principal.type !== 'user' || principal.by !== 'session') return false
  const { grants } = principal
  return grants.has(EDITING + dataset) || grants.has(EDITING + EVERYTHING)
}
