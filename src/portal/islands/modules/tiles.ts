/** The code for tiles, loaded only by portals that have some. */
export { TileLayer } from 'leaflet/src/layer/tile/TileLayer.js'
