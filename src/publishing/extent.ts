import type { DatasetStatistics, Extent } from '../model/dataset.ts'
import type { Field } from '../model/field.ts'
import { boxGeometry, eachPosition } from '../model/geometry.ts'
import { lookup } from '../model/lookup.ts'
import type { Geometry, GeoPoint } from '../model/value.ts'

/** Computes the bounding box and the geometry types of one field from a stream of values. */
export class ExtentGatherer {
  private west = Number.POSITIVE_INFINITY
  private south = Number.POSITIVE_INFINITY
  private east = Number.NEGATIVE_INFINITY
  private north = Number.NEGATIVE_INFINITY
  private readonly types = new Set<string>()

  add(value: GeoPoint | Geometry): void {
    if ('type' in value) {
      this.types.add(value.type)
      eachPosition(value, (lon, lat) => this.include(lon, lat))
    } else {
      this.types.add('Point')
      this.include(value.lon, value.lat)
    }
  }

  /** Null if no value was added. */
  extent(): Extent | null {
    const { west, south, east, north, types } = this
    return types.size === 0 ? null : { west, south, east, north, types: [...types].sort() }
  }

  private include(lon: number, lat: number): void {
    if (lon < this.west) this.west = lon
    if (lon > this.east) this.east = lon
    if (lat < this.south) this.south = lat
    if (lat > this.north) this.north = lat
  }
}

/** Field types with locations; shapes describe more than points and come first. */
const PLACES = ['geo_shape', 'geo_point_2d'] as const

/**
 * The spatial extent of a dataset: the bounding box of its shapes or, without any, of its points, and the types of these
 * geometries. Null for a dataset without locations.
 */
export function datasetExtent(fields: readonly Field[], statistics: DatasetStatistics): Extent | null {
  for (const type of PLACES) {
    const extents = fields.flatMap(field => {
      const extent = field.type === type ? lookup(statistics.fields, field.name)?.extent : undefined
      return extent === undefined ? [] : [extent]
    })
    if (extents.length > 0) return extents.reduce(union)
  }
  return null
}

/** The metadata `bbox` and `geometry_types` of the default template (REST 2.10). */
export function extentMetas(extent: Extent | null) {
  if (extent === null) return { bbox: null, geometry_types: null }
  const bbox = { type: 'Feature', geometry: boxGeometry(extent), properties: {} }
  return { bbox, geometry_types: extent.types }
}

function union(a: Extent, b: Extent): Extent {
  return {
    west: Math.min(a.west, b.west),
    south: Math.min(a.south, b.south),
    east: Math.max(a.east, b.east),
    north: Math.max(a.north, b.north),
    types: [...new Set([...a.types, ...b.types])].sort(),
  }
}
