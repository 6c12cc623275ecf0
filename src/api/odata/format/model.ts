import { type EntityProperty, KEY } from '../../../model/edm.ts'
import type { Version } from './shape.ts'
import { typeText } from './types.ts'

/** Alias of the namespace of complex types (OData service 1.3). */
export const ALIAS = 'Ods'

/** A property of a type in the metadata document. */
export interface PropertySheet {
  readonly name: string
  readonly type: string
  readonly nullable: boolean
  /** Fractional digits of the seconds of a date-time; 4.0 defaults to none (CSDL 4.0, section 6.2.3). */
  readonly precision: number | null
}

/** Digits of a second that moments of the sources have at most. */
const PRECISION = 9

/** The complex types of the service (OData service 1.3). */
export const COMPLEX_TYPES: Readonly<Record<string, readonly PropertySheet[]>> = {
  GeoPoint2D: [plain('latitude', 'Edm.Double'), plain('longitude', 'Edm.Double')],
  Image: [
    plain('width', 'Edm.Int32'),
    plain('format', 'Edm.String'),
    plain('id', 'Edm.String'),
    plain('height', 'Edm.Int32'),
  ],
}

/**
 * A property of an entity: the key and collections are not nullable. 2.0 has no collections: there they are strings.
 *
 * @param types prefix of the names of complex types
 */
export function propertySheet(property: EntityProperty, version: Version, types = ALIAS): PropertySheet {
  const { name, type } = property
  const collection = property.collection && version !== '2.0'
  return {
    name,
    type: typeText({ type, collection }, version, types),
    nullable: !collection && name !== KEY,
    precision: version === '4.0' && type === 'Edm.DateTimeOffset' ? PRECISION : null,
  }
}

function plain(name: string, type: string): PropertySheet {
  return { name, type, nullable: true, precision: null }
}
