import type { Authenticated } from '../model/principal.ts'

/** Columns of a user, so that one statement returns the principal of a credential with its grants. */
export interface PrincipalRow {
  readonly user: number
  readonly name: string
  readonly quota: number | null
  /** JSON array. */
  readonly grants: string
}

/** The columns of PrincipalRow, where the table `account` is joined. */
export const PRINCIPAL_COLUMNS = `account.id AS user, account.name, account.quota,
  (SELECT json_group_array(dataset) FROM user_grant WHERE user_grant.account = account.id) AS grants`

export function principalOf(row: PrincipalRow, by: Authenticated['by']): Authenticated {
  const { user: id, name, quota } = row
  const grants = new Set(JSON.parse(row.grants) as readonly string[])
  return { type: 'user', id, name, grants, quota, by }
}
