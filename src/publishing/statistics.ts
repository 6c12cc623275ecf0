import type { DatasetStatistics, Extent, FieldStatistics } from '../model/dataset.ts'
import { type Field, type FieldType, isGeo, isNumeric, isTemporal } from '../model/field.ts'
import { boxGeometry, eachPosition } from '../model/geometry.ts'
import { lookup, setMember } from '../model/lookup.ts'
import type { Geometry, GeoPoint, Value } from '../model/value.ts'

const DISTINCT_LIMIT = 10_000

/** Maximum values of a field for quantiles; of more values, every second is sampled, then every fourth and so on. */
const SAMPLE_LIMIT = 50_000
const PARTITIONS = 100
const MAX_BOUND_LENGTH = 40
/** Maximum characters of a text that are retained for ordering. */
const MAX_SAMPLE_LENGTH = 2 * MAX_BOUND_LENGTH

/** Maximum number of values of a field that are reported with the number of their records, and their characters. */
const COUNTED_LIMIT = 500
const COUNTED_CHARACTERS = 20_000
const COUNTED_TYPES: readonly FieldType[] = ['text', 'int', 'boolean']

/** Maximum characters of the distinct values of a field that are retained for counting. */
const DISTINCT_CHARACTERS = 2 ** 20

/** Gathers the statistics of a version from a stream of records; memory is bounded by the retained distinct values. */
export class StatisticsGatherer {
  private records = 0
  private readonly fields: readonly Field[]
  private readonly columns: readonly Column[]

  constructor(fields: readonly Field[]) {
    this.fields = fields
    this.columns = fields.map(field => ({
      ordered: isNumeric(field.type) || isTemporal(field.type),
      sorted: !isGeo(field.type) && field.type !== 'boolean' && !field.multivalued,
      present: 0,
      distinct: new Map(),
      characters: 0,
      temporal: isTemporal(field.type),
      years: new Set(),
      sample: [],
      stride: 1,
      min: null,
      max: null,
      extent: isGeo(field.type) ? new ExtentGatherer() : null,
    }))
  }

  add(values: readonly Value[]): void {
    this.records += 1
    for (let index = 0; index < this.columns.length; index++) {
      const exact = values[index]
      const column = this.columns[index]
      if (exact === null || exact === undefined || column === undefined) continue
      column.present += 1
      if (column.distinct !== null) addDistinct(column, exact)
      if (column.ordered && isOrdered(exact)) {
        if (column.min === null || exact < column.min) column.min = exact
        if (column.max === null || exact > column.max) column.max = exact
        if (column.temporal) column.years.add(Number(String(exact).slice(0, 4)))
      }
      // Quantiles are approximate, and are stored as JSON.
      const value = typeof exact === 'bigint' ? Number(exact) : exact
      if (column.sorted) sample(column, value as string | number)
      column.extent?.add(value as GeoPoint | Geometry)
    }
  }

  statistics(): DatasetStatistics {
    const fields: Record<string, FieldStatistics> = {}
    this.fields.forEach((field, index) => {
      const column = this.columns[index]
      if (column === undefined) return
      const { present, min, max, distinct } = column
      const extent = column.extent?.extent() ?? null
      setMember(fields, field.name, {
        present,
        nulls: this.records - present,
        distinct: distinct?.size ?? null,
        ...countsOf(field, column),
        min: bound(min),
        max: bound(max),
        ...(column.temporal ? { years: [...column.years].sort((a, b) => a - b) } : {}),
        ...(column.sorted ? { quantiles: quantiles(column) } : {}),
        ...(extent === null ? {} : { extent }),
      })
    })
    return { records: this.records, fields }
  }
}

interface Column {
  /** Values have a minimum and a maximum. */
  readonly ordered: boolean
  /** Records can be sorted by it. */
  readonly sorted: boolean
  present: number
  /** Number of records of each value; null if there are too many values. */
  distinct: Map<string | number | bigint | boolean, number> | null
  /** Characters of the distinct values. */
  characters: number
  min: string | number | bigint | null
  max: string | number | bigint | null
  readonly temporal: boolean
  readonly years: Set<number>
  sample: (string | number)[]
  /** One value in so many is added to the sample. */
  stride: number
  /** Of a field with locations. */
  readonly extent: ExtentGatherer | null
}

function isOrdered(value: NonNullable<Value>): value is string | number | bigint {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
}

/** A bound as it is stored in JSON, which has no integers beyond 2^53. */
function bound(value: Column['min']): string | number | null {
  return typeof value === 'bigint' ? String(value) : value
}

function sample(column: Column, value: string | number): void {
  if (column.present % column.stride !== 0) return
  column.sample.push(typeof value === 'string' ? owned(value.slice(0, MAX_SAMPLE_LENGTH)) : value)
  if (column.sample.length < SAMPLE_LIMIT) return
  column.sample = column.sample.filter((_, index) => index % 2 === 0)
  column.stride *= 2
}

/** A copy of a text: a substring of a piece of a file would keep the whole piece in memory. */
function owned(text: string): string {
  return Buffer.from(text).toString()
}

/** Texts are truncated: their prefixes suffice as bounds of partitions. */
function quantiles({ sample: values }: Column): readonly (string | number)[] {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const picked = Array.from(
    { length: PARTITIONS + 1 },
    (_, lot) => sorted[Math.min(sorted.length - 1, Math.floor((lot * sorted.length) / PARTITIONS))],
  )
  return picked.flatMap(value =>
    value === undefined
      ? []
      : [typeof value === 'string' ? [...value].slice(0, MAX_BOUND_LENGTH).join('') : value],
  )
}

function addDistinct(column: Column, value: NonNullable<Value>): void {
  if (Array.isArray(value)) for (const element of value) addOne(column, element as string)
  else
    addOne(
      column,
      typeof value === 'object' ? JSON.stringify(value) : (value as string | number | bigint | boolean),
    )
}

function addOne(column: Column, value: string | number | bigint | boolean): void {
  const { distinct } = column
  if (distinct === null) return
  const before = distinct.get(value)
  if (before !== undefined) {
    distinct.set(value, before + 1)
    return
  }
  distinct.set(typeof value === 'string' ? owned(value) : value, 1)
  if (typeof value === 'string') column.characters += value.length
  if (distinct.size > DISTINCT_LIMIT || column.characters > DISTINCT_CHARACTERS) column.distinct = null
}

/** The values of a field with the numbers of their records; none if there are many, or for another type. */
function countsOf({ type }: Field, { distinct, characters }: Column): Pick<FieldStatistics, 'counts'> {
  if (distinct === null || !COUNTED_TYPES.includes(type)) return {}
  if (distinct.size > COUNTED_LIMIT || characters > COUNTED_CHARACTERS) return {}
  const counts: [value: string | number | boolean, records: number][] = []
  for (const [value, records] of distinct) {
    if (typeof value === 'bigint') return {}
    counts.push([value, records])
  }
  return { counts }
}

/** Computes the bounding box and the geometry types of one field from a stream of values. */
class ExtentGatherer {
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
