/** Maps are drawn when the page is there: their code is loaded after it. */
const element = document.getElementById('map')
const frame = element?.closest<HTMLElement>('.map-frame')

if (element !== null && frame) {
  frame.hidden = false
  void import('./modules/map-view.ts').then(({ showMap }) => showMap(element, frame))
}

export {}
