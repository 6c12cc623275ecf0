/** The parts of Leaflet that the maps use, one by one: all of it would be a third larger. */
declare module 'leaflet/src/map/Map.js' {
  export { Map } from 'leaflet'
}
declare module 'leaflet/src/map/handler/Map.Drag.js'
declare module 'leaflet/src/map/handler/Map.DoubleClickZoom.js'
declare module 'leaflet/src/map/handler/Map.Keyboard.js'
declare module 'leaflet/src/map/handler/Map.ScrollWheelZoom.js'
declare module 'leaflet/src/map/handler/Map.TouchZoom.js'
declare module 'leaflet/src/layer/vector/SVG.js' {
  export { SVG } from 'leaflet'
}
declare module 'leaflet/src/control/Control.Zoom.js' {
  import type { Control } from 'leaflet'
  export const Zoom: typeof Control.Zoom
}
declare module 'leaflet/src/control/Control.Scale.js' {
  import type { Control } from 'leaflet'
  export const Scale: typeof Control.Scale
}
declare module 'leaflet/src/layer/marker/Marker.js' {
  export { Marker } from 'leaflet'
}
declare module 'leaflet/src/layer/marker/DivIcon.js' {
  export { DivIcon } from 'leaflet'
}
declare module 'leaflet/src/layer/Popup.js' {
  export { Popup } from 'leaflet'
}
declare module 'leaflet/src/layer/LayerGroup.js' {
  export { LayerGroup } from 'leaflet'
}
declare module 'leaflet/src/layer/GeoJSON.js' {
  export { GeoJSON } from 'leaflet'
}
declare module 'leaflet/src/layer/vector/Polygon.js' {
  export { Polygon } from 'leaflet'
}
declare module 'leaflet/src/layer/vector/Polyline.js' {
  export { Polyline } from 'leaflet'
}
declare module 'leaflet/src/layer/tile/TileLayer.js' {
  export { TileLayer } from 'leaflet'
}
