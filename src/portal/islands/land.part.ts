import { land } from 'lodestone:land'
import { type Corners, corners } from './corners.part.ts'

/** The shores of the world. */
export function shores(): Corners {
  return corners(land)
}
