/** The code for shapes, loaded only by maps that have some. */
export { GeoJSON } from 'leaflet/src/layer/GeoJSON.js'
