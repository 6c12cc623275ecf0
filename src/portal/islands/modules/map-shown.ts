import { positionsOf } from '../../../model/geometry.ts'
import type { LeafletMap } from './leaflet.ts'
import type { Group, MapPlace } from './map-data.ts'

/** The part of the records that is on the map. */
export type ShownPlaces =
  | { readonly type: 'places'; readonly places: readonly MapPlace[]; readonly isCut: boolean }
  | { readonly type: 'groups'; readonly groups: readonly Group[] }

/** The latitude at which maps end (Web Mercator, a little less): places beyond it are drawn there. */
export const EDGE_LATITUDE = 85

/** True for a position in view. */
export function isPositionInView(map: LeafletMap, lon: number, lat: number): boolean {
  return map.getBounds().contains([Math.max(-EDGE_LATITUDE, Math.min(EDGE_LATITUDE, lat)), lon])
}

/** True for a place with at least one corner in view. */
export function isInView(map: LeafletMap, { geometry }: MapPlace): boolean {
  return positionsOf(geometry).some(([lon, lat]) => isPositionInView(map, lon, lat))
}
