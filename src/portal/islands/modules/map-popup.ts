import type { LatLngExpression } from 'leaflet'
import { Popup } from 'leaflet/src/layer/Popup.js'
import { lookup } from '../../../model/lookup.ts'
import { shownDigits } from '../../../model/number.ts'
import type { MapSettings } from '../../dataset/map-tab.ts'
import { make } from './elements.ts'
import type { LeafletMap } from './leaflet.ts'
import { coordinateText, fetchRecord, type MapPlace, recordLink } from './map-data.ts'
import { BUTTONS, popupPlace } from './popup-place.ts'

/** Opens the popup of a record: its name as a link to its page, and some of its values. */
export function openPlace(
  map: LeafletMap,
  settings: MapSettings,
  place: MapPlace,
  at: LatLngExpression,
): void {
  const waiting = make('p', { 'aria-busy': 'true' }, '…')
  const content = make('div', {}, make('p', { class: 'map-title' }, recordLink(settings, place)), waiting)
  const settle = open(map, settings, content, at)
  fetchRecord(settings, place.id)
    .then(record => values(settings, record))
    .catch(() => make('p', {}, settings.texts.failed))
    .then(late => {
      waiting.replaceWith(late)
      settle()
    })
}

/** Opens the list of records at the same position. @param rest number of further records */
export function openPlaces(
  map: LeafletMap,
  settings: MapSettings,
  places: readonly MapPlace[],
  at: LatLngExpression,
  rest: number,
): void {
  const items = places.map(place => make('li', {}, recordLink(settings, place)))
  const content = make('div', {}, make('ul', {}, ...items))
  if (rest > 0)
    content.append(make('p', {}, settings.texts.more.replace('{n}', coordinateText(settings.language, rest))))
  open(map, settings, content, at)
}

/** Reports that the records of a position could not be loaded. */
export function openFailure(map: LeafletMap, settings: MapSettings, at: LatLngExpression): void {
  open(map, settings, make('p', {}, settings.texts.failed), at)
}

/** Opens a popup; returns what places it again when its content has grown. */
function open(
  map: LeafletMap,
  settings: MapSettings,
  content: HTMLElement,
  at: LatLngExpression,
): () => void {
  const before = document.activeElement
  const { clientHeight, clientWidth } = map.getContainer()
  const maxHeight = Math.min(260, clientHeight * 0.45)
  const maxWidth = Math.min(280, clientWidth - 2 * BUTTONS.width)
  const popup = new Popup({ minWidth: Math.min(240, maxWidth), maxWidth, maxHeight, autoPan: false })
    .setContent(content)
    .setLatLng(at)
  // Leaflet closes it by Escape only where the map itself has the focus.
  const closing = new AbortController()
  const onKey = ({ key }: KeyboardEvent) => key === 'Escape' && popup.close()
  map.getContainer().addEventListener('keydown', onKey, { signal: closing.signal })
  popup.on('remove', () => {
    closing.abort()
    if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
  })
  popup.openOn(map)
  const element = popup.getElement()
  element?.querySelector('.leaflet-popup-close-button')?.setAttribute('aria-label', settings.texts.close)
  const settle = () => {
    const { activeElement } = document
    const isInside = element?.contains(activeElement) === true
    // Leaflet inserts the content again.
    arrange(map, popup, at)
    if (isInside) (activeElement as HTMLElement).focus({ preventScroll: true })
  }
  settle()
  // Once: when more content comes, the reader may be elsewhere.
  element?.querySelector<HTMLElement>('a')?.focus({ preventScroll: true })
  return settle
}

/** Places a popup within the map. Leaflet would move the map, but one of the whole world cannot be moved far enough. */
function arrange(map: LeafletMap, popup: Popup, at: LatLngExpression): void {
  const shift = (x: number, y: number) => {
    popup.options.offset = [x, y]
    popup.update()
  }
  shift(0, 0)
  const [box, frame] = [popup.getElement(), map.getContainer()].map(each => each?.getBoundingClientRect())
  if (box === undefined || frame === undefined) return
  const above = { left: box.left - frame.left, top: box.top - frame.top }
  const { left, top } = popupPlace(above, box, frame, map.latLngToContainerPoint(at).y)
  shift(left - above.left, top - above.top)
}

function values(settings: MapSettings, record: Readonly<Record<string, unknown>>): HTMLElement {
  const items = settings.fields.flatMap(field => {
    const text = valueText(settings, lookup(record, field.name), field)
    if (text === '') return []
    return [make('dt', { dir: 'auto' }, field.label), make('dd', { dir: 'auto' }, text)]
  })
  return make('dl', {}, ...items)
}

type PopupField = MapSettings['fields'][number]

function valueText(settings: MapSettings, value: unknown, { type, isName }: PopupField): string {
  const { language, texts } = settings
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.slice(0, 8).map(String).join(', ')
  if (typeof value === 'boolean') return value ? texts.yes : texts.no
  if (type === 'date' || type === 'datetime') {
    const time = type === 'date' ? {} : ({ timeStyle: 'short' } as const)
    return new Intl.DateTimeFormat(language, { dateStyle: 'medium', ...time, timeZone: 'UTC' }).format(
      new Date(String(value)),
    )
  }
  if (typeof value === 'number' || typeof value === 'bigint')
    return isName ? String(value) : coordinateText(language, value, shownDigits(value, 6))
  return String(value).slice(0, 160)
}
