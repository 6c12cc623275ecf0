import { utcEpoch, zoneOffset } from './time.ts'

/** From a moment on, clocks of a zone are so many milliseconds ahead of UTC. */
export interface OffsetStep {
  /** Milliseconds since 1970. */
  readonly from: number
  readonly offset: number
}

const DAY = 86_400_000
/** Shorter than any stretch for which a zone ever changed its clocks. */
const STRIDE = 7 * DAY

/** Steps of each year of each zone that was asked for: a zone's years are few. */
const YEARS = new Map<string, Map<number, readonly OffsetStep[]>>()
const MAX_YEARS = 20_000

/** The step in which a moment lies, in milliseconds since 1970: the offset of a zone there and since when it holds. */
export function offsetStep(zone: string, epoch: number): OffsetStep {
  const steps = stepsOf(zone, new Date(epoch).getUTCFullYear())
  let found = steps[0] as OffsetStep
  for (const step of steps) if (step.from <= epoch) found = step
  return found
}

const UTC: readonly OffsetStep[] = [{ from: Number.NEGATIVE_INFINITY, offset: 0 }]

function stepsOf(zone: string, year: number): readonly OffsetStep[] {
  if (zone === 'UTC') return UTC
  let years = YEARS.get(zone)
  if (years === undefined || years.size > MAX_YEARS) {
    years = new Map()
    YEARS.set(zone, years)
  }
  let steps = years.get(year)
  if (steps === undefined) {
    steps = makeSteps(zone, year)
    years.set(year, steps)
  }
  return steps
}

function makeSteps(zone: string, year: number): readonly OffsetStep[] {
  const [start, end] = [utcEpoch(year, 1, 1), utcEpoch(year + 1, 1, 1)]
  const steps: OffsetStep[] = [{ from: start, offset: zoneOffset(zone, start) }]
  for (let before = start; before < end; before += STRIDE) {
    const after = Math.min(before + STRIDE, end)
    const offset = zoneOffset(zone, after)
    if (offset !== steps.at(-1)?.offset) steps.push({ from: change(zone, before, after), offset })
  }
  return steps
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
