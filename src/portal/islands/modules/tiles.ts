/** Only portals with tiles load what shows them. */
export { TileLayer } from 'leaflet/src/layer/tile/TileLayer.js'
