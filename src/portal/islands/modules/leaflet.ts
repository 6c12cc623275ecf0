import 'leaflet/src/map/handler/Map.DoubleClickZoom.js'
import 'leaflet/src/map/handler/Map.Drag.js'
import 'leaflet/src/map/handler/Map.Keyboard.js'
import 'leaflet/src/map/handler/Map.ScrollWheelZoom.js'
import 'leaflet/src/map/handler/Map.TouchZoom.js'
import { SVG } from 'leaflet/src/layer/vector/SVG.js'
import { Map as LeafletMap } from 'leaflet/src/map/Map.js'

export { Scale } from 'leaflet/src/control/Control.Scale.js'
export { Zoom } from 'leaflet/src/control/Control.Zoom.js'
export { LayerGroup } from 'leaflet/src/layer/LayerGroup.js'
export { DivIcon } from 'leaflet/src/layer/marker/DivIcon.js'
export { Marker } from 'leaflet/src/layer/marker/Marker.js'
export { Polygon } from 'leaflet/src/layer/vector/Polygon.js'
export { Polyline } from 'leaflet/src/layer/vector/Polyline.js'
export { LeafletMap }

/** The parts of Leaflet that every map needs: lines are drawn as SVG, one drawing for each pane. */
const drawings = new WeakMap<LeafletMap, Map<string, SVG>>()

LeafletMap.include({
  getRenderer(this: LeafletMap, layer: { readonly options: { readonly pane?: string } }): SVG {
    const pane = layer.options.pane ?? 'overlayPane'
    const known = drawings.get(this) ?? new Map<string, SVG>()
    drawings.set(this, known)
    const drawing = known.get(pane) ?? new SVG({ pane, padding: 0.3 })
    known.set(pane, drawing)
    if (!this.hasLayer(drawing)) this.addLayer(drawing)
    return drawing
  },
})
