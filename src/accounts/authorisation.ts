import { Fault, FORBIDDEN_ACCESS, UNAUTHORISED } from '../errors/errors.ts'
import type { Visibility } from '../model/dataset.ts'
import { lookup } from '../model/lookup.ts'
import type { Principal } from '../model/principal.ts'

/**
 * What a principal may read, edit and publish, and the fault otherwise: 401 without a credential, 403 for an authenticated
 * principal.
 */

/** The grant of everything. */
export const EVERYTHING = '*'

/** True if a principal has a grant for a restricted dataset. */
export function isGranted(principal: Principal, dataset: string): boolean {
  return principal.type === 'user' && (principal.grants.has(dataset) || principal.grants.has(EVERYTHING))
}

/** True if a principal may read a dataset, or a version of one, in every API: the only place where this is decided. */
export function mayRead(
  principal: Principal,
  { id, visibility }: { readonly id: string; readonly visibility: Visibility },
): boolean {
  return visibility === 'public' || isGranted(principal, id)
}

/** Prefix of grants of publishing; the id of a dataset follows, or `*`, which is also for new datasets. */
export const PUBLISHING = 'publish:'

/**
 * True if a principal may describe, publish and withdraw a dataset: signed-in users, and programs with an API
 * key. Tokens of applications are read-only.
 *
 * @param dataset its id; null for one that does not exist yet
 */
export function mayPublish(principal: Principal, dataset: string | null): boolean {
  if (principal.type !== 'user' || principal.by === 'token') return false
  const { grants } = principal
  return grants.has(PUBLISHING + EVERYTHING) || (dataset !== null && grants.has(PUBLISHING + dataset))
}

/** True for a user whom the pages of the desk are for: signed in, and with a grant to publish at least one dataset. */
export function isPublisher(principal: Principal): boolean {
  if (principal.type !== 'user' || principal.by !== 'session') return false
  return [...principal.grants].some(grant => grant.startsWith(PUBLISHING))
}

/** Prefix of grants of editing; the id of a dataset follows, or `*`. */
export const EDITING = 'edit:'

/**
 * True if a principal may edit what belongs to a dataset that it sees. Only signed-in users edit: keys and tokens are
 * read-only.
 */
export function mayEdit(principal: Principal, dataset: string): boolean {
  if (principal.type !== 'user' || principal.by !== 'session') return false
  const { grants } = principal
  return grants.has(EDITING + dataset) || grants.has(EDITING + EVERYTHING)
}

/**
 * The fault of a request for something that a principal may not do (REST 5.3).
 *
 * @param what the beginning of a sentence about what requires a credential
 */
export function unauthorisedOrForbidden(principal: Principal, what: string): Fault {
  return principal.type === 'anonymous' ? new Fault(UNAUTHORISED, { what }) : new Fault(FORBIDDEN_ACCESS)
}

/**
 * Roles as sets of grants: readers see all restricted datasets, publishers describe and publish them as well, and
 * administrators see the calls of the APIs one by one too.
 */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  reader: ['*'],
  publisher: ['*', 'edit:*', 'publish:*'],
  administrator: ['*', 'edit:*', 'publish:*', 'ods-api-monitoring'],
}

export const ROLE_NAMES = Object.keys(ROLES)

/** The grants of a name: those of a role, or itself. */
export function grantsOf(name: string): readonly string[] {
  return lookup(ROLES, name) ?? [name]
}
