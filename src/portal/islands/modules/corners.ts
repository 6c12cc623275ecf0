import { decodeLines } from '../../map/outline.ts'

/** Lines as Leaflet has them, latitude first. */
export type Corners = [number, number][][]

/** Lines of a text that the build made. */
export function corners(text: string): Corners {
  return decodeLines(text).map(line => line.map(([lon, lat]) => [lat, lon]))
}
