/** A position on Earth in degrees, WGS 84. */
export interface GeoPoint {
  readonly lon: number
  readonly lat: number
}

/** A GeoJSON geometry (RFC 7946, section 3.1), without a surrounding feature. Coordinates are lon, lat. */
export type Geometry =
  | {
      readonly type: 'Point' | 'MultiPoint' | 'LineString' | 'MultiLineString' | 'Polygon' | 'MultiPolygon'
      readonly coordinates: Coordinates
    }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Geometry[] }

/** Numbers nested as deep as the kind of geometry requires. */
export type Coordinates = readonly (number | Coordinates)[]

/**
 * The value of one field of one record.
 *
 * | field type | value |
 * |---|---|
 * | text | string; an array of strings where the field is multivalued |
 * | int | whole number of 64 bits: a number within ±(2^53 - 1), a bigint beyond |
 * | double | finite number, never -0 |
 * | boolean | boolean |
 * | date | `YYYY-MM-DD` |
 * | datetime | `YYYY-MM-DDTHH:MM:SS[.f…]Z`: UTC, fraction without trailing zeros |
 * | geo_point_2d | {lon, lat} |
 * | geo_shape | GeoJSON geometry |
 *
 * An absent value is null, and so is an empty array.
 */
export type Value = string | number | bigint | boolean | GeoPoint | Geometry | readonly string[] | null

/** One record of a dataset, its values in the order of the dataset's fields. */
export interface DatasetRecord {
  /** 40 hexadecimal digits, stable across publications. */
  readonly id: string
  /** 0, 1, 2 … in source order. */
  readonly position: number
  readonly values: readonly Value[]
}
