import { coastline } from 'lodestone:land'
import { type Corners, corners } from './corners.ts'

/** The coastlinePolygons of the world. */
export function coastlinePolygons(): Corners {
  return corners(coastline)
}
