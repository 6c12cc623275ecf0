/** A size in pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

/** Pixels between a popup and the edge of the map, and between it and the place above it. */
const EDGE = 8
const GAP = 16
/** Pixels that the scale takes at the bottom. */
const SCALE = 36

/** Pixels that the buttons take at the top left. */
export const BUTTONS: Size = { width: 52, height: 84 }

/**
 * The position of a popup within a map: above its place, else below it, else over it, and beside the buttons.
 *
 * @param above where it would be above its place
 * @param place distance of the place from the top of the map
 */
export function popupPlace(
  above: { readonly left: number; readonly top: number },
  popup: Size,
  map: Size,
  place: number,
): { readonly left: number; readonly top: number } {
  const lowest = map.height - popup.height - SCALE
  const higher = Math.min(above.top, lowest)
  const top = higher >= EDGE ? higher : place + GAP <= lowest ? place + GAP : EDGE
  const leftmost = top < BUTTONS.height ? BUTTONS.width : EDGE
  return { left: Math.max(leftmost, Math.min(above.left, map.width - popup.width - EDGE)), top }
}
