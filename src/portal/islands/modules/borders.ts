import { borders as text } from 'lodestone:borders'
import { type Corners, corners } from './coastline.ts'

/** The borders of the countries of the world: loaded when a map shows a part of it. */
export function borders(): Corners {
  return corners(text)
}
