import type { MapSettings } from '../../map/settings.ts'
import type { LeafletMap } from './leaflet.ts'
import { coordinateText, recordLink } from './map-data.ts'
import { enterGroup, groupText } from './map-layer.ts'
import { isInView, type ShownPlaces } from './map-shown.ts'

const MAX_LENGTH = 100

/** The places in view as a list, for users of screen readers and keyboards. */
export function placeList(
  frame: HTMLElement,
  map: LeafletMap,
  settings: MapSettings,
): { readonly draw: (shown: ShownPlaces) => void } {
  const list = frame.querySelector('.map-places ul')
  return {
    draw: shown => {
      const items: readonly (() => HTMLElement)[] =
        shown.type === 'places'
          ? shown.places.filter(place => isInView(map, place)).map(place => () => recordLink(settings, place))
          : shown.groups.map(group => () => {
              const button = document.createElement('button')
              button.type = 'button'
              button.className = 'plain'
              button.textContent = groupText(settings, group)
              button.addEventListener('click', () => enterGroup(map, settings, group))
              return button
            })
      const lines = items.slice(0, MAX_LENGTH).map(make => {
        const line = document.createElement('li')
        line.append(make())
        return line
      })
      const rest = items.length - MAX_LENGTH
      if (rest > 0) {
        const line = document.createElement('li')
        line.textContent = settings.texts.more.replace('{n}', coordinateText(settings.language, rest))
        lines.push(line)
      }
      list?.replaceChildren(...lines)
    },
  }
}
