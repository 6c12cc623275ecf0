import { utcEpoch, zoneOffset } from './time.ts'

/** From a moment on, the local time of a zone has this offset from UTC in milliseconds. */
export interface OffsetStep {
  /** Milliseconds since 1970. */
  readonly from: number
  readonly offset: number
}

const DAY = 86_400_000
/** Shorter than any period for which a zone ever changed its offset. */
const STRIDE = 7 * DAY

/** Cache of the steps of each year of each zone, which clients may name in any case; and the number of years in all of them. */
const YEARS = new Map<string, Map<number, readonly OffsetStep[]>>()
const MAX_YEARS = 20_000
let cachedYears = 0

/** The step that contains a moment in milliseconds since 1970: the offset of a zone, and the moment from which on it applies. */
export function offsetStep(zone: string, epoch: number): OffsetStep {
  const steps = stepsOf(zone, new Date(epoch).getUTCFullYear())
  let found = steps[0] as OffsetStep
  for (const step of steps) if (step.from <= epoch) found = step
  return found
}

const UTC: readonly OffsetStep[] = [{ from: Number.NEGATIVE_INFINITY, offset: 0 }]

function stepsOf(zone: string, year: number): readonly OffsetStep[] {
  if (zone === 'UTC') return UTC
  const known = YEARS.get(zone)?.get(year)
  if (known !== undefined) return known
  if (cachedYears >= MAX_YEARS) {
    YEARS.clear()
    cachedYears = 0
  }
  const steps = makeSteps(zone, year)
  const years = YEARS.get(zone) ?? new Map<number, readonly OffsetStep[]>()
  YEARS.set(zone, years.set(year, steps))
  cachedYears++
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
