import type { LatLngExpression, Layer, LeafletKeyboardEvent } from 'leaflet'
import { positionsOf } from '../../../model/geometry.ts'
import type { Geometry } from '../../../model/value.ts'
import type { MapSettings } from '../../dataset/map-tab.ts'
import { make } from './elements.ts'
import { DivIcon, LayerGroup, type LeafletMap, Marker } from './leaflet.ts'
import { coordinateText, fetchPlaces, type Group, type MapPlace, onGlobe, stacksOf } from './map-data.ts'

/** Maximum records of a group that are listed at the highest zoom. */
const MAX_LISTED = 20
const POINT = 24

/** The layer of the records: a dot or a shape for each, or a circle for each group. */
export function mapLayer(
  map: LeafletMap,
  settings: MapSettings,
): { readonly draw: (shown: ShownPlaces) => void } {
  const layer = new LayerGroup().addTo(map)
  let drawn: ShownPlaces | null = null
  return {
    draw: shown => {
      if (shown === drawn) return
      drawn = shown
      // If a focused circle is removed, the map gets the focus.
      if (document.activeElement?.closest('.leaflet-marker-pane') != null)
        map.getContainer().focus({ preventScroll: true })
      layer.clearLayers()
      const layers =
        shown.type === 'places'
          ? stacksOf(shown.places).map(stack => stackLayer(map, settings, stack))
          : shown.groups.map(group => groupLayer(map, settings, group))
      for (const each of layers) layer.addLayer(each)
    },
  }
}

/** A place, or a circle for several at the same point. */
function stackLayer(map: LeafletMap, settings: MapSettings, stack: readonly MapPlace[]): Layer {
  const [first, ...others] = stack
  if (first === undefined || others.length === 0)
    return first === undefined ? new LayerGroup() : placeLayer(map, settings, first)
  const [lon = 0, lat = 0] = positionsOf(first.geometry)[0] ?? []
  const open = async () => (await import('./map-popup.ts')).openPlaces(map, settings, stack, [lat, lon], 0)
  return groupMarker(settings, { lat, lon, count: stack.length }, () => void open())
}

function placeLayer(map: LeafletMap, settings: MapSettings, place: MapPlace): Layer {
  const { geometry, title } = place
  const open = (at: LatLngExpression) => void openPlace(map, settings, place, at)
  if (geometry.type !== 'Point') return shapeLayer(geometry, title, open)
  const [lon = 0, lat = 0] = positionsOf(geometry)[0] ?? []
  return chosen(dot([lat, lon], title), () => open([lat, lon]))
}

/** A layer whose shape is added when the code for shapes is loaded. */
function shapeLayer(geometry: Geometry, title: string, open: (at: LatLngExpression) => void): Layer {
  const layer = new LayerGroup()
  void import('leaflet/src/layer/GeoJSON.js').then(({ GeoJSON }) => {
    const shape = new GeoJSON(geometry as never, {
      style: () => ({ className: 'map-shape' }),
      pointToLayer: (_, at) => dot(at, title),
    })
    layer.addLayer(shape.on('click', ({ latlng }) => open(latlng)))
  })
  return layer
}

async function openPlace(map: LeafletMap, settings: MapSettings, place: MapPlace, at: LatLngExpression) {
  const popup = await import('./map-popup.ts')
  popup.openPlace(map, settings, place, at)
}

function dot(at: LatLngExpression, title: string): Marker {
  const icon = new DivIcon({ className: 'map-place', iconSize: [POINT, POINT] })
  return new Marker(at, { icon, title, riseOnHover: true })
}

/** Calls back when a marker is clicked, or activated with the keyboard. */
function chosen(marker: Marker, act: () => void): Marker {
  marker.on('click', act)
  return marker.on('keypress', ({ originalEvent }: LeafletKeyboardEvent) => {
    if (originalEvent.key === 'Enter' || originalEvent.key === ' ') act()
  })
}

function groupLayer(map: LeafletMap, settings: MapSettings, group: Group): Layer {
  if (group.count > 1) return groupMarker(settings, group, () => enterGroup(map, settings, group))
  const at: LatLngExpression = [group.lat, group.lon]
  return chosen(dot(at, groupText(settings, group)), () => void openGroup(map, settings, group))
}

function groupMarker(settings: MapSettings, group: Group, act: () => void): Marker {
  const title = groupText(settings, group)
  const size = sizeOf(group)
  const count = coordinateText(settings.language, group.count, {
    notation: 'compact',
    maximumSignificantDigits: group.count < 1000 ? 3 : 2,
  })
  const label = make('span', count.length > 4 ? { class: 'long' } : {}, count)
  const icon = new DivIcon({ className: 'map-group', iconSize: [size, size], html: label })
  return chosen(new Marker([group.lat, group.lon], { icon, title }), act)
}

/** Merges groups whose circles would overlap. */
export function apart(map: LeafletMap, groups: readonly Group[]): readonly Group[] {
  const cached: { group: Group; x: number; y: number }[] = []
  for (const group of groups) {
    const { x, y } = map.project([group.lat, group.lon])
    const near = cached.find(
      other => Math.hypot(other.x - x, other.y - y) < 0.45 * (sizeOf(other.group) + sizeOf(group)),
    )
    if (near === undefined) cached.push({ group, x, y })
    else near.group = { ...near.group, count: near.group.count + group.count }
  }
  return cached.map(({ group }) => group)
}

/** Pixels of the circle of a group. */
function sizeOf({ count }: Group): number {
  return count === 1 ? POINT / 2 : Math.round(Math.min(54, 26 + 7 * Math.log10(count)))
}

/** The label of a group: the number of records around a position. */
export function groupText({ texts, language }: MapSettings, { lat, lon, count }: Group): string {
  const degrees = (value: number) => `${coordinateText(language, value, { maximumFractionDigits: 1 })}°`
  return texts.group
    .replace('{n}', coordinateText(language, count))
    .replace('{place}', `${degrees(lat)}, ${degrees(lon)}`)
}

/** Zooms in on a group, or lists its records at the highest zoom. */
export function enterGroup(map: LeafletMap, settings: MapSettings, group: Group): void {
  if (map.getZoom() >= map.getMaxZoom()) void openGroup(map, settings, group)
  else map.setView([group.lat, group.lon], Math.min(map.getMaxZoom(), Math.floor(map.getZoom()) + 2))
}

async function openGroup(map: LeafletMap, settings: MapSettings, group: Group): Promise<void> {
  const { lat, lon } = group
  const span = group.count === 1 ? 0.0005 : 0.001
  const box = onGlobe({ south: lat - span, north: lat + span, west: lon - span, east: lon + span })
  const found = await fetchPlaces(
    settings,
    map.getZoom(),
    box,
    MAX_LISTED,
    new AbortController().signal,
  ).catch(() => null)
  const places = found ?? []
  const [only] = places
  if (places.length === 1 && only !== undefined) return openPlace(map, settings, only, [lat, lon])
  const popup = await import('./map-popup.ts')
  const rest = Math.max(0, group.count - places.length)
  if (found === null) popup.openFailure(map, settings, [lat, lon])
  else popup.openPlaces(map, settings, places, [lat, lon], rest)
}

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
