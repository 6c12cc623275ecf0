import type { LatLngBoundsLiteral } from 'leaflet'
import { positionsOf } from '../../../model/geometry.ts'
import type { MapSettings } from '../../dataset/map-tab.ts'
import { make } from './elements.ts'
import type { LeafletMap } from './leaflet.ts'
import {
  boxOfAll,
  coordinateText,
  fetchExtent,
  fetchGroups,
  fetchPlaces,
  type MapBox,
  onGlobe,
  recordLink,
} from './map-data.ts'
import { baseMapOf } from './map-ground.ts'
import {
  apart,
  EDGE_LATITUDE,
  enterGroup,
  groupText,
  isInView,
  isPositionInView,
  mapLayer,
  type ShownPlaces,
} from './map-layer.ts'

/** Maximum records in view that are shown one by one; more are shown as groups. */
const MAX_PLACES = 250
/** Milliseconds without movement of a map before its places are requested. */
const PAUSE = 200
/** Degrees of latitude and longitude within which places are shown as one. */
const MIN_EXTENT = 0.001
/** Degrees of longitude from which on all groups of the world are requested. */
const WIDE = 120

/** Shows the records of a page on a map, and requests those of another part of the world when it is moved. */
export function showMap(element: HTMLElement, frame: HTMLElement): void {
  const settings = JSON.parse(element.dataset.map ?? '{}') as MapSettings
  const map = baseMapOf(element, settings)
  const status = frame.querySelector<HTMLElement>('.map-status')
  const layer = mapLayer(map, settings)
  const list = placeList(frame, map, settings)
  const report = (text: string) => {
    if (status !== null && status.textContent !== text) status.textContent = text
  }
  let requested = new AbortController()
  let whole: ShownPlaces | null = null

  const show = (shown: ShownPlaces) => {
    layer.draw(shown)
    list.draw(shown)
    report(statusText(shown, settings, map, shown === whole))
  }
  const refresh = async () => {
    requested.abort()
    requested = new AbortController()
    const { signal } = requested
    try {
      if (whole !== null) return show(whole)
      report(settings.texts.waiting)
      show(await inView(map, settings, boxOf(map), signal))
    } catch {
      if (!signal.aborted) report(settings.texts.failed)
    }
  }
  const start = async () => {
    const named = viewOfAddress()
    if (named !== null) map.setView([named.lat, named.lon], named.zoom, { animate: false })
    try {
      if (settings.total <= MAX_PLACES && !settings.isShape) {
        const places = await fetchPlaces(settings, 0, null, MAX_PLACES, requested.signal)
        whole = { type: 'places', places, isCut: false }
        if (named === null)
          fit(
            map,
            places.flatMap(({ geometry }) => positionsOf(geometry)),
          )
        show(whole)
      } else {
        const extent = named === null ? await fetchExtent(settings, requested.signal) : null
        if (extent !== null) fit(map, extent)
        if (extent?.length === 0) whole = { type: 'places', places: [], isCut: false }
        await refresh()
      }
    } catch {
      report(settings.texts.failed)
    }
    let timer = 0
    map.on('moveend', () => {
      keepView(map)
      clearTimeout(timer)
      timer = window.setTimeout(() => void refresh(), PAUSE)
    })
  }
  void start()
}

/** The records in view, or their groups if they are many. */
async function inView(
  map: LeafletMap,
  settings: MapSettings,
  box: MapBox | null,
  signal: AbortSignal,
): Promise<ShownPlaces> {
  if (!settings.isShape) {
    const isWide = box === null || box.east - box.west > WIDE
    const found = await fetchGroups(settings, map.getZoom(), isWide ? null : box, signal)
    const groups = box === null ? found : found.filter(({ lat, lon }) => isPositionInView(map, lon, lat))
    const count = groups.reduce((sum, group) => sum + group.count, 0)
    if (count > MAX_PLACES) return { type: 'groups', groups: apart(map, groups) }
  }
  const found = await fetchPlaces(settings, map.getZoom(), box, MAX_PLACES, signal)
  return { type: 'places', places: found.slice(0, MAX_PLACES), isCut: found.length > MAX_PLACES }
}

/** @param isWhole true if all records of the page are shown, wherever they are */
function statusText(
  shown: ShownPlaces,
  { texts, language }: MapSettings,
  map: LeafletMap,
  isWhole: boolean,
): string {
  const number = (value: number) => coordinateText(language, value)
  if (shown.type === 'groups') {
    const count = shown.groups.reduce((sum, group) => sum + group.count, 0)
    return texts.groups.replace('{n}', number(count)).replace('{groups}', number(shown.groups.length))
  }
  const { places, isCut } = shown
  if (places.length === 0 && isWhole) return texts.nowhere
  const inside = places.filter(place => isInView(map, place)).length
  return (isCut ? texts.cut : texts.status).replace('{n}', number(inside))
}

/** The part of the world that is in view: what is nearer to a pole than the map goes is at its edge. */
function boxOf(map: LeafletMap): MapBox {
  const view = map.getBounds()
  const [south, north] = [view.getSouth(), view.getNorth()]
  return onGlobe({
    south: south <= -EDGE_LATITUDE ? -90 : south,
    west: view.getWest(),
    north: north >= EDGE_LATITUDE ? 90 : north,
    east: view.getEast(),
  })
}

function fit(map: LeafletMap, positions: readonly (readonly number[])[]): void {
  const box = boxOfAll(positions)
  if (box === null) return
  const shown = (lat: number) => Math.max(-80, Math.min(84, lat))
  const bounds: LatLngBoundsLiteral = [
    [shown(box.south), box.west],
    [shown(box.north), box.east],
  ]
  // Places of a town fill the view; around a single one its country is seen.
  const isExtended = box.north - box.south + box.east - box.west > MIN_EXTENT
  map.fitBounds(bounds, { padding: [24, 24], maxZoom: isExtended ? 15 : 8, animate: false })
}

/** The view that the address names: `map=zoom/lat/lon`. */
function viewOfAddress(): { readonly zoom: number; readonly lat: number; readonly lon: number } | null {
  const text = new URL(location.href).searchParams.get('map')
  const [zoom, lat, lon] = (text ?? '').split('/').map(Number)
  return text !== null && [zoom, lat, lon].every(Number.isFinite)
    ? { zoom: zoom ?? 0, lat: lat ?? 0, lon: lon ?? 0 }
    : null
}

function keepView(map: LeafletMap): void {
  const { lat, lng } = map.getCenter()
  const zoom = map.getZoom()
  const digits = Math.max(1, Math.ceil(zoom / 3))
  const url = new URL(location.href)
  url.searchParams.delete('map')
  const view = `map=${zoom}/${lat.toFixed(digits)}/${lng.toFixed(digits)}`
  history.replaceState(
    history.state,
    '',
    `${url.pathname}${url.search}${url.search === '' ? '?' : '&'}${view}${url.hash}`,
  )
}

const MAX_LENGTH = 100

/** The places in view as a list, for users of screen readers and keyboards. */
function placeList(
  frame: HTMLElement,
  map: LeafletMap,
  settings: MapSettings,
): { readonly draw: (shown: ShownPlaces) => void } {
  const list = frame.querySelector<HTMLElement>('.map-places ul')
  return {
    draw: shown => {
      const items: readonly (() => HTMLElement)[] =
        shown.type === 'places'
          ? shown.places.filter(place => isInView(map, place)).map(place => () => recordLink(settings, place))
          : shown.groups.map(group => () => {
              const button = make('button', { type: 'button', class: 'plain' }, groupText(settings, group))
              button.addEventListener('click', () => enterGroup(map, settings, group))
              return button
            })
      const lines = items.slice(0, MAX_LENGTH).map(item => make('li', {}, item()))
      const rest = items.length - MAX_LENGTH
      const more = settings.texts.more.replace('{n}', coordinateText(settings.language, rest))
      if (rest > 0) lines.push(make('li', {}, more))
      // A group of the list that was entered makes way for what it has.
      const hasFocus = list?.contains(document.activeElement) === true
      list?.replaceChildren(...lines)
      if (hasFocus) list.querySelector<HTMLElement>('a, button')?.focus()
    },
  }
}
