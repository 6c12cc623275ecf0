/** The stages of a request, in order. */
export type Stage = 'parse' | 'resolve' | 'compile' | 'store' | 'decode' | 'present'

/** Measures how long each stage of one request takes, for `Server-Timing` and `lodestone explain`. */
export class Stopwatch {
  private readonly elapsed = new Map<Stage, number>()
  private readonly now: () => number

  /** @param now a clock in milliseconds */
  constructor(now: () => number) {
    this.now = now
  }

  /** Runs one stage and measures its time. */
  time<T>(stage: Stage, work: () => T): T {
    const begun = this.now()
    try {
      return work()
    } finally {
      this.add(stage, this.now() - begun)
    }
  }

  /** Awaits one stage and measures its time. */
  async wait<T>(stage: Stage, work: Promise<T>): Promise<T> {
    const begun = this.now()
    try {
      return await work
    } finally {
      this.add(stage, this.now() - begun)
    }
  }

  /** Milliseconds by stage. */
  stages(): ReadonlyMap<Stage, number> {
    return this.elapsed
  }

  /** The value of a Server-Timing header (W3C Server Timing, section 2). */
  header(): string {
    return [...this.elapsed].map(([stage, consumed]) => `${stage};dur=${consumed.toFixed(2)}`).join(', ')
  }

  private add(stage: Stage, consumed: number): void {
    this.elapsed.set(stage, (this.elapsed.get(stage) ?? 0) + consumed)
  }
}
