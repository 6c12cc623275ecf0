import { coastline } from 'lodestone:land'
import { type Corners, corners } from './corners.ts'

/** The shores of the world. */
export function shores(): Corners {
  return corners(coastline)
}
