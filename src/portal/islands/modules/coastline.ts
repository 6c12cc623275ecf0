import { coastline } from 'lodestone:land'
import { decodeLines } from '../../map/outline.ts'

/** The coastlinePolygons of the world. */
export function coastlinePolygons(): Corners {
  return corners(coastline)
}

/** Lines in the form of Leaflet, latitude first. */
export type Corners = [number, number][][]

/** Decodes lines from a text that the build generated. */
export function corners(text: string): Corners {
  return decodeLines(text).map(line => line.map(([lon, lat]) => [lat, lon]))
}
