/** Maps are drawn after the page is loaded: their code is loaded on demand. */
const element = document.getElementById('map')
const frame = element?.closest<HTMLElement>('.map-frame')

if (element !== null && frame) {
  frame.hidden = false
  void import('./modules/map-view.ts').then(({ showMap }) => showMap(element, frame))
}

export {}
