import { type LocalMoment, localMoment } from './date-format.ts'
import { localToEpoch, utcParts } from './time.ts'

/** Milliseconds of the units that are shorter than a day. */
export const CLOCK_UNITS = { millisecond: 1, second: 1000, minute: 60_000, hour: 3_600_000 } as const

const DAY = 86_400_000

/**
 * The moment at which an interval on the clocks of a zone begins, in milliseconds since 1970. Where clocks are set back, the repeated
 * time is in intervals of its own, unless the interval that began before it continues.
 *
 * @param shown beginning on the clocks, in milliseconds
 * @param local a moment in the interval
 * @param size milliseconds
 */
export function intervalStart(shown: number, local: LocalMoment, size: number, zone: string): number {
  const start = shown - local.offset
  if (start >= local.since + DAY) return start
  const first = localToEpoch(utcParts(shown), zone)
  const continues = first < local.since && first + size > local.since && start <= local.since
  return continues ? first : Math.max(start, local.since)
}

/** The moment at which such an interval ends. */
export function intervalEnd(start: number, size: number, zone: string): number {
  const { offset } = localMoment(start / 1000, zone)
  const shown = (Math.floor((start + offset) / size) + 1) * size
  const { since, offset: later } = localMoment((shown - offset - 1) / 1000, zone)
  if (since <= start) return shown - offset
  return since + later < shown - size ? since : Math.max(since, shown - later)
}
