import type { LatLngExpression } from 'leaflet'
import type { MapSettings } from '../../dataset/map-tab.ts'
import { coastlinePolygons } from './coastline.ts'
import { LeafletMap, Polygon, Polyline, Scale, Zoom } from './leaflet.ts'

const WORLD = { south: -80, west: -180, north: 84, east: 180 } as const
const TILE = 256

/** A map of the world without data: outlines of land, or tiles if the portal has some, and a graticule. */
export function baseMapOf(element: HTMLElement, settings: MapSettings): LeafletMap {
  const snap = settings.tiles === undefined ? 0.25 : 1
  const size = Math.min(element.clientWidth, element.clientHeight * 1.2)
  const smallest = Math.max(0, Math.floor(Math.log2(size / TILE) / snap) * snap)
  const isAnimated = !matchMedia('(prefers-reduced-motion: reduce)').matches
  const map = new LeafletMap(element, {
    zoomControl: false,
    attributionControl: false,
    zoomSnap: snap,
    minZoom: smallest,
    maxZoom: 18,
    maxBounds: [
      [-85.06, -300],
      [85.06, 300],
    ],
    maxBoundsViscosity: 1,
    scrollWheelZoom: false,
    zoomAnimation: isAnimated,
    fadeAnimation: isAnimated,
    inertia: isAnimated,
  })
  map.addControl(new Zoom({ zoomInTitle: settings.texts.zoomIn, zoomOutTitle: settings.texts.zoomOut }))
  map.addControl(new Scale({ imperial: false }))
  // The wheel scrolls the page until the map has the focus.
  map.on('focus', () => map.scrollWheelZoom.enable())
  map.on('blur', () => map.scrollWheelZoom.disable())
  map.createPane('ground').classList.add('map-ground')
  map.setView([20, 0], smallest)
  if (settings.tiles === undefined) addCoastline(map)
  else
    void import('leaflet/src/layer/tile/TileLayer.js').then(({ TileLayer }) =>
      new TileLayer(settings.tiles ?? '').addTo(map),
    )
  addDegrees(map)
  fitToPaper(element)
  return map
}

/** Width of the text on a page of A4 or Letter, in pixels of CSS. */
const PAPER = 660

/** Prints the whole view, which keeps the width that it has on the screen: a narrower page would cut it off. */
function fitToPaper(element: HTMLElement): void {
  const { style } = element
  addEventListener('beforeprint', () => {
    const { offsetWidth, offsetHeight } = element
    style.width = `${offsetWidth}px`
    style.height = `${offsetHeight}px`
    style.zoom = String(Math.min(1, PAPER / offsetWidth))
  })
  addEventListener('afterprint', () => {
    for (const name of ['width', 'height', 'zoom']) style.removeProperty(name)
  })
}

/** Adds the coastline, and the borders as soon as less than the whole world is in view. */
function addCoastline(map: LeafletMap): void {
  const baseMap = { pane: 'ground', interactive: false } as const
  new Polygon(coastlinePolygons(), { ...baseMap, className: 'land' }).addTo(map)
  const addBorders = async () => {
    if (map.getZoom() < map.getMinZoom() + 1) return
    map.off('zoomend', addBorders)
    const { borders } = await import('./borders.ts')
    new Polyline(borders(), { ...baseMap, className: 'borders' }).addTo(map)
  }
  map.on('zoomend', addBorders)
}

/** Adds a graticule of about six lines around the view. */
function addDegrees(map: LeafletMap): void {
  const lines = new Polyline([], { pane: 'ground', interactive: false, className: 'degrees' }).addTo(map)
  const draw = () => {
    const view = map.getBounds().pad(0.5)
    const step =
      [30, 10, 5, 1, 0.5, 0.1, 0.05, 0.01].find(each => (view.getEast() - view.getWest()) / each >= 8) ?? 0.01
    const [west, east] = [Math.max(WORLD.west, view.getWest()), Math.min(WORLD.east, view.getEast())]
    const [south, north] = [Math.max(WORLD.south, view.getSouth()), Math.min(WORLD.north, view.getNorth())]
    const meridians = steps(west, east, step).map((lon): LatLngExpression[] => [
      [south, lon],
      [north, lon],
    ])
    const parallels = steps(south, north, step).map((lat): LatLngExpression[] => [
      [lat, west],
      [lat, east],
    ])
    lines.setLatLngs([...meridians, ...parallels])
  }
  map.on('moveend', draw)
  draw()
}

function steps(from: number, to: number, step: number): readonly number[] {
  const first = Math.ceil(from / step)
  return Array.from(
    { length: Math.max(0, Math.floor(to / step) - first + 1) },
    (_, at) => (first + at) * step,
  )
}
