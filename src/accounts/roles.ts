import { lookup } from '../model/lookup.ts'

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
