/** A line of longitudes and latitudes. */
export type Line = readonly (readonly [lon: number, lat: number])[]

/** Steps a degree in which lines are stored: sufficient for a map of the world. */
const STEPS = 4
const FIRST = 48
const BASE = 45

/**
 * Lines as a short text: each line is the steps from corner to corner, in quarters of a degree, signs in the lowest bit,
 * digits of base 45 with the smallest first; a blank begins another line.
 */
export function encodeOutline(lines: readonly Line[]): string {
  return lines
    .map(line => {
      let [x, y] = [0, 0]
      return line
        .map(([lon, lat], at) => {
          const [nextX, nextY] = [Math.round(lon * STEPS), Math.round(lat * STEPS)]
          if (at > 0 && nextX === x && nextY === y) return ''
          const step = digits(nextX - x) + digits(nextY - y)
          x = nextX
          y = nextY
          return step
        })
        .join('')
    })
    .join(' ')
}

/** All digits but the last of a number use another range of letters, which marks the end of the number. */
function digits(step: number): string {
  let rest = step < 0 ? -2 * step - 1 : 2 * step
  let text = ''
  while (rest >= BASE) {
    text += String.fromCharCode(FIRST + BASE + (rest % BASE))
    rest = Math.floor(rest / BASE)
  }
  return text + String.fromCharCode(FIRST + rest)
}

/** Decodes the lines of {@link encodeOutline}. */
export function decodeLines(text: string): readonly Line[] {
  return text.split(' ').map(line => {
    const steps: number[] = []
    let [value, scale] = [0, 1]
    for (const letter of line) {
      const code = letter.charCodeAt(0) - FIRST
      if (code >= BASE) {
        value += (code - BASE) * scale
        scale *= BASE
        continue
      }
      value += code * scale
      steps.push(value % 2 === 0 ? value / 2 : -(value + 1) / 2)
      value = 0
      scale = 1
    }
    let [x, y] = [0, 0]
    return Array.from({ length: steps.length / 2 }, (_, at) => {
      x += steps[2 * at] ?? 0
      y += steps[2 * at + 1] ?? 0
      return [x / STEPS, y / STEPS] as const
    })
  })
}
