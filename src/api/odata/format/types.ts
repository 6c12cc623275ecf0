import type { ColumnType, EntityColumn } from '../../../model/edm.ts'
import type { Version } from './shape.ts'

/** Types of 4.0 that have another name in 3.0 (OData service 2.3). */
const OLD_TYPES: Partial<Readonly<Record<ColumnType, string>>> = {
  'Edm.Date': 'Edm.DateTime',
  'Edm.TimeOfDay': 'Edm.Time',
  'Edm.Duration': 'Edm.Time',
}

/**
 * The qualified name of the type of a column in the metadata document of a version.
 *
 * @param types namespace of the complex types
 */
export function typeText(
  { type, collection }: Pick<EntityColumn, 'type' | 'collection'>,
  version: Version,
  types: string,
): string {
  const known = version !== '4.0' ? (OLD_TYPES[type] ?? type) : type
  const name = known.replace(/^Ods\./, () => `${types}.`)
  return collection ? `Collection(${name})` : name
}

/** The same for an instance annotation: 4.0 leaves out `Edm.` and begins with `#` (JSON Format 4.0, 4.5.3). */
export function typeFragment(
  column: Pick<EntityColumn, 'type' | 'collection'>,
  version: Version,
  types: string,
): string {
  const text = typeText(column, version, types)
  return version !== '4.0' ? text : `#${text.replace(/^(Collection\()?Edm\./, '$1')}`
}

/** The parts of a point that a column has, in their order. */
export function membersOf({ members }: EntityColumn): readonly ('latitude' | 'longitude')[] {
  return MEMBERS.filter(member => members === null || members.includes(member))
}

const MEMBERS = ['latitude', 'longitude'] as const

/** The type of a part of a point. */
export const MEMBER_TYPE = { type: 'Edm.Double', collection: false } as const
