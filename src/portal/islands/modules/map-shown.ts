import { positionsOf } from '../../../model/geometry.ts'
import type { LeafletMap } from './leaflet.ts'
import type { Group, MapPlace } from './map-data.ts'

/** The part of the records that is on the map. */
export type ShownPlaces =
  | { readonly type: 'places'; readonly places: readonly MapPlace[]; readonly isCut: boolean }
  | { readonly type: 'groups'; readonly groups: readonly Group[] }

/** True for a place with at least one corner in view. */
export function isInView(map: LeafletMap, { geometry }: MapPlace): boolean {
  const bounds = map.getBounds()
  return positionsOf(geometry).some(([lon, lat]) => bounds.contains([lat ?? 0, lon ?? 0]))
}
