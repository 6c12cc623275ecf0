import { parseExactly } from '../../../model/exact-json.ts'
import { positionsOf } from '../../../model/geometry.ts'
import { lookup } from '../../../model/lookup.ts'
import { groupedBy } from '../../../model/memoised.ts'
import type { Geometry } from '../../../model/value.ts'
import type { MapSettings } from '../../dataset/map-tab.ts'
import { make } from './elements.ts'

/** A part of the world, in degrees. */
export interface MapBox {
  readonly south: number
  readonly west: number
  readonly north: number
  readonly east: number
}

/** Records that are near one another. */
export interface Group {
  readonly lat: number
  readonly lon: number
  readonly count: number
}

/** A record with a position. */
export interface MapPlace {
  readonly id: string
  readonly title: string
  readonly geometry: Geometry
}

type Row = Readonly<Record<string, unknown>>

/** Maximum groups of an answer; pixels of a group, so that circles do not overlap. */
const MAX_GROUPS = 5000
const RADIUS = 60

/**
 * The records of a part of the world in clusters that the store computes.
 *
 * @param box null for all of it
 */
export async function fetchGroups(
  settings: MapSettings,
  zoom: number,
  box: MapBox | null,
  signal: AbortSignal,
): Promise<readonly Group[]> {
  const address = call(settings, `${settings.api}/records`, {
    select: 'count(*) as number',
    group_by: `geo_cluster(${settings.field}, ${Math.max(0, Math.round(zoom))}, ${RADIUS}) as place`,
    order_by: 'number desc',
    limit: String(MAX_GROUPS),
    where: within(settings, box),
  })
  const { results } = (await json(address, signal)) as { readonly results: readonly Row[] }
  return results.map(({ number, place }) => {
    const { lat, lon } = (
      place as { readonly cluster_centroid: { readonly lat: number; readonly lon: number } }
    ).cluster_centroid
    return { lat, lon, count: Number(number) }
  })
}

/** The corners of the smallest part of the world with all records; none if they have no positions. */
export async function fetchExtent(
  settings: MapSettings,
  signal: AbortSignal,
): Promise<readonly (readonly number[])[]> {
  const address = call(settings, `${settings.api}/records`, {
    select: `bbox(${settings.field}) as extent`,
    limit: '1',
  })
  const { results } = (await json(address, signal)) as { readonly results: readonly Row[] }
  const geometry = geometryOf(results[0]?.extent)
  return geometry === null ? [] : positionsOf(geometry)
}

/** The records of a part of the world, as many as requested, that have a position; shapes as they are seen at a scale. */
export async function fetchPlaces(
  settings: MapSettings,
  zoom: number,
  box: MapBox | null,
  max: number,
  signal: AbortSignal,
): Promise<readonly MapPlace[]> {
  const { title, field, key, api } = settings
  const where = within(settings, box) ?? `${field} is not null`
  const select = [...new Set(['recordid', title.text, field])].join(', ')
  const address = settings.isShape
    ? call(settings, settings.shapes, { geo: key, zoom: String(zoom), where })
    : call(settings, `${api}/exports/json`, { select, limit: String(max), where })
  const rows = (await json(address, signal)) as readonly Row[]
  return rows.flatMap(row => {
    const geometry = geometryOf(lookup(row, key))
    return geometry === null
      ? []
      : [{ id: String(row.recordid), title: String(lookup(row, title.name) ?? row.recordid), geometry }]
  })
}

/** The smallest part of the world with all positions; null for none. */
export function boxOfAll(positions: Iterable<readonly number[]>): MapBox | null {
  let box = null as MapBox | null
  for (const [lon = 0, lat = 0] of positions)
    box = {
      south: Math.min(lat, box?.south ?? lat),
      west: Math.min(lon, box?.west ?? lon),
      north: Math.max(lat, box?.north ?? lat),
      east: Math.max(lon, box?.east ?? lon),
    }
  return box
}

/** The part of a box that is on the globe, which the API requires: its edge if the box is beyond it. */
export function onGlobe({ south, west, north, east }: MapBox): MapBox {
  const within = (max: number, degrees: number) => Math.max(-max, Math.min(max, degrees))
  return {
    south: within(90, south),
    west: within(180, west),
    north: within(90, north),
    east: within(180, east),
  }
}

/** Places in lists of those at the same point: of several dots only the last could be reached. */
export function stacksOf(places: readonly MapPlace[]): readonly (readonly MapPlace[])[] {
  const stacks = groupedBy(places, ({ geometry, id }) =>
    geometry.type === 'Point' ? String(positionsOf(geometry)[0]) : id,
  )
  return [...stacks.values()]
}

/** The values of a record that its popup shows. */
export async function fetchRecord({ api, title, fields }: MapSettings, id: string): Promise<Row> {
  const select = [title, ...fields].map(({ text }) => text).join(', ')
  return (await json(
    `${api}/records/${encodeURIComponent(id)}?${new URLSearchParams({ select })}`,
    null,
  )) as Row
}

function geometryOf(value: unknown): Geometry | null {
  if (typeof value !== 'object' || value === null) return null
  const { lon, lat, geometry } = value as { lon?: number; lat?: number; geometry?: Geometry | null }
  if (typeof lon === 'number' && typeof lat === 'number') return { type: 'Point', coordinates: [lon, lat] }
  return geometry ?? null
}

function within({ field }: MapSettings, box: MapBox | null): string | undefined {
  if (box === null) return undefined
  const degrees = [box.south, box.west, box.north, box.east].map(each => each.toFixed(5))
  return `in_bbox(${field}, ${degrees.join(', ')})`
}

function call(
  { filter }: MapSettings,
  address: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const query = new URLSearchParams(filter)
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.append(name, value)
  return `${address}?${query}`
}

async function json(address: string, signal: AbortSignal | null): Promise<unknown> {
  const answer = await fetch(address, { signal, headers: { accept: 'application/json' } })
  if (!answer.ok) throw new Error(`${answer.status}`)
  return parseExactly(await answer.text())
}

/** The link to the page of a record. */
export function recordLink({ records, query }: MapSettings, { id, title }: MapPlace): HTMLAnchorElement {
  return make('a', { href: records + id + query, dir: 'auto' }, title)
}

/** A number in the format of a language. */
export function coordinateText(
  language: string,
  value: number | bigint,
  options: Intl.NumberFormatOptions = {},
): string {
  return new Intl.NumberFormat(language, options).format(value)
}
