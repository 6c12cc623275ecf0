import { utcEpoch, zoneOffset } from '../../model/time.ts'

/** From a moment on, clocks of a zone are so many milliseconds ahead of UTC. */
export interface OffsetStep {
  /** Milliseconds since 1970; the first step reaches back without end. */
  readonly from: number
  readonly offset: number
}

const DAY = 86_400_000
/** Shorter than any stretch for which a zone ever changed its clocks. */
const STRIDE = 7 * DAY

/** Steps of one year of one zone; a few thousand entries at most, for a zone's years are few. */
const KNOWN = new Map<string, readonly OffsetStep[]>()
const MOST_KNOWN = 20_000

/** The offsets that a zone has in some years, oldest first, without steps that change nothing. */
export function offsetSteps(zone: string, years: readonly number[]): readonly OffsetStep[] {
  if (zone === 'UTC') return [{ from: Number.NEGATIVE_INFINITY, offset: 0 }]
  const steps: OffsetStep[] = []
  for (const year of [...new Set(years)].sort((a, b) => a - b))
    for (const step of yearSteps(zone, year)) if (steps.at(-1)?.offset !== step.offset) steps.push(step)
  return steps.length === 0 ? [{ from: Number.NEGATIVE_INFINITY, offset: 0 }] : steps
}

function yearSteps(zone: string, year: number): readonly OffsetStep[] {
  const key = `${zone} ${year}`
  const known = KNOWN.get(key)
  if (known !== undefined) return known
  const [start, end] = [utcEpoch(year, 1, 1), utcEpoch(year + 1, 1, 1)]
  const steps: OffsetStep[] = [{ from: start, offset: zoneOffset(zone, start) }]
  let before = start
  while (before < end) {
    const after = Math.min(before + STRIDE, end)
    const offset = zoneOffset(zone, after)
    if (offset !== steps.at(-1)?.offset) steps.push({ from: change(zone, before, after), offset })
    before = after
  }
  const own = steps.filter(({ from }) => from < end)
  if (KNOWN.size >= MOST_KNOWN) KNOWN.clear()
  KNOWN.set(key, own)
  return own
}

/** The second at which the offset changes between two moments. */
function change(zone: string, before: number, after: number): number {
  const old = zoneOffset(zone, before)
  let [low, high] = [before, after]
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2000) * 1000
    if (zoneOffset(zone, middle) === old) low = middle
    else high = middle
  }
  return high
}
