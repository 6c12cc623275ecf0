import { encode } from 'uqr'
import { type Html, html } from '../../site/html.ts'

/** Modules of the quiet zone around a code (ISO/IEC 18004, section 6.3.8), and minimum pixels of a module. */
const [QUIET, PIXELS] = [4, 4]

/** Maximum characters: the modules of longer codes are too small for the camera of a phone. */
const MAX_LENGTH = 600

/**
 * A QR code as SVG within the page: dark on light even on a dark page, for scanners expect it. Null for texts that are too
 * long.
 *
 * @param label its description for screen readers
 */
export function qrCode(text: string, label: string): Html | null {
  if (text.length > MAX_LENGTH) return null
  const { size, data } = encode(text, { ecc: 'M', border: QUIET })
  const path = data.flatMap((row, y) =>
    runsOf(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`),
  )
  const side = size * PIXELS
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" width="${side}" height="${side}" shape-rendering="crispEdges"><rect width="100%" height="100%" fill="#fff"/><path d="${path.join('')}" fill="#000"/></svg>
`
}

/** Runs of dark modules in a row: start and length. */
function runsOf(row: readonly boolean[]): readonly (readonly [number, number])[] {
  const bits = row.map(isDark => (isDark ? '1' : '0')).join('')
  return [...bits.matchAll(/1+/g)].map(({ index, 0: run }) => [index, run.length])
}
