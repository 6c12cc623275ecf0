/** Upper bounds of the buckets that durations are counted in, in seconds. */
export const BOUNDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
]

const BOUNDS_IN_MILLISECONDS = BOUNDS.map(bound => bound * 1000)

/**
 * Durations counted by their length, as a histogram of Prometheus tells them. To note one costs some twenty nanoseconds,
 * which is what an answer that is given again can bear.
 */
export class Durations {
  /** Durations by the first bound that they do not exceed; the last are beyond all. */
  private readonly counts: number[] = Array.from({ length: BOUNDS.length + 1 }, () => 0)
  private total = 0

  note(milliseconds: number): void {
    let at = 0
    while (at < BOUNDS_IN_MILLISECONDS.length && milliseconds > (BOUNDS_IN_MILLISECONDS[at] as number)) at++
    this.counts[at] = (this.counts[at] as number) + 1
    this.total += milliseconds
  }

  /** Number of all, their sum in seconds, and for each bound the number of those that do not exceed it. */
  summary(): { readonly count: number; readonly seconds: number; readonly upTo: readonly number[] } {
    let sum = 0
    const upTo = this.counts.map(count => (sum += count))
    return { count: sum, seconds: this.total / 1000, upTo: upTo.slice(0, -1) }
  }
}
