import { Fault, FORBIDDEN_ACCESS, UNAUTHORISED } from '../errors/errors.ts'
import type { Principal } from '../model/principal.ts'

/**
 * What a principal may see, edit and publish, and the fault of one who may not: 401 for who brought no credential, 403 for
 * who is known.
 */

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

/** The fault of a request for what not everybody may see (REST 5.3). */
export function accessError(principal: Principal, what: string): Fault {
  return principal.type === 'anonymous'
    ? new Fault(UNAUTHORISED, { what: `${what} is not public` })
    : new Fault(FORBIDDEN_ACCESS)
}
