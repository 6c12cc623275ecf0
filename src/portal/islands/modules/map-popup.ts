import type { LatLngExpression } from 'leaflet'
import { Popup } from 'leaflet/src/layer/Popup.js'
import { lookup } from '../../../model/lookup.ts'
import { shownDigits } from '../../../model/number.ts'
import type { MapSettings, PopupField } from '../../map/settings.ts'
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
  const content = document.createElement('div')
  content.append(heading(settings, place))
  open(map, settings, content, at)
  fetchRecord(settings, place.id)
    .then(record => {
      content.append(values(settings, record))
      map.fire('resizepopup')
    })
    .catch(() => content.append(paragraph(settings.texts.failed)))
}

/** Opens the list of records at the same position. @param rest number of further records */
export function openPlaces(
  map: LeafletMap,
  settings: MapSettings,
  places: readonly MapPlace[],
  at: LatLngExpression,
  rest: number,
): void {
  const list = document.createElement('ul')
  for (const place of places) {
    const item = document.createElement('li')
    item.append(recordLink(settings, place))
    list.append(item)
  }
  const content = document.createElement('div')
  content.append(list)
  if (rest > 0)
    content.append(paragraph(settings.texts.more.replace('{n}', coordinateText(settings.language, rest))))
  open(map, settings, content, at)
}

/** Reports that the records of a position could not be loaded. */
export function openFailure(map: LeafletMap, settings: MapSettings, at: LatLngExpression): void {
  open(map, settings, paragraph(settings.texts.failed), at)
}

function open(map: LeafletMap, settings: MapSettings, content: HTMLElement, at: LatLngExpression): void {
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
  const enter = () => popup.getElement()?.querySelector<HTMLElement>('a')?.focus({ preventScroll: true })
  arrange(map, popup, at)
  map.once('resizepopup', () => {
    arrange(map, popup, at)
    enter()
  })
  const element = popup.getElement()
  element?.querySelector('.leaflet-popup-close-button')?.setAttribute('aria-label', settings.texts.close)
  enter()
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

function heading(settings: MapSettings, place: MapPlace): HTMLElement {
  const line = document.createElement('p')
  line.className = 'map-title'
  line.append(recordLink(settings, place))
  return line
}

function values(settings: MapSettings, record: Readonly<Record<string, unknown>>): HTMLElement {
  const list = document.createElement('dl')
  for (const field of settings.fields) {
    const text = valueText(settings, lookup(record, field.name), field)
    if (text === '') continue
    const [term, value] = [document.createElement('dt'), document.createElement('dd')]
    term.textContent = field.label
    term.dir = value.dir = 'auto'
    value.textContent = text
    list.append(term, value)
  }
  return list
}

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

function paragraph(text: string): HTMLElement {
  const created = document.createElement('p')
  created.textContent = text
  return created
}
