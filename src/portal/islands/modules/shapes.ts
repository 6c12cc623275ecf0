/** Only maps of shapes load what draws them. */
export { GeoJSON } from 'leaflet/src/layer/GeoJSON.js'
