/** The limits of one query: time, memory, and the length of its texts. */
export interface EvaluationLimits {
  /**
   * The time of performance.now() after which the evaluation is stopped, and the part of its time that it has used, from 0 to 1. The
   * time that the reader of its answer takes is not counted.
   */
  readonly clock?: { readonly deadline: number; readonly used?: number } | undefined
  /**
   * Stops the evaluation as soon as the first number equals the id; makes it pause regularly for a time after the second has
   * changed.
   */
  readonly signal?: { readonly numbers: Int32Array; readonly id: number } | undefined
  /** Bytes of intermediate results. */
  readonly memory?: number | undefined
}

/** Why an evaluation was stopped. */
export class EvaluationStopped extends Error {
  readonly reason: 'deadline' | 'cancelled' | 'memory'

  constructor(reason: 'deadline' | 'cancelled' | 'memory') {
    super(reason)
    this.name = 'EvaluationStopped'
    this.reason = reason
  }
}

/**
 * Milliseconds of work between two pauses for others, the length of a pause, and the time after the start of other work during
 * which to pause.
 */
const [STRETCH, PAUSE, MORE] = [0.5, 0.05, 200]

/** Never notified: only for waiting. */
const NEVER = new Int32Array(new SharedArrayBuffer(4))

/** When this thread last paused, the last known start of other work, and until when it pauses for that. */
const pauses = { last: 0, known: 0, end: 0 }

/**
 * Releases the processor for a moment where other work has started recently. Otherwise the operating system makes that work wait:
 * even a thread of low priority may run for some milliseconds before another replaces it.
 */
function pauseForOthers(begun: number): void {
  const now = performance.now()
  if (begun !== pauses.known) {
    pauses.known = begun
    pauses.end = now + MORE
  }
  if (now > pauses.end || now - pauses.last < STRETCH) return
  Atomics.wait(NEVER, 0, 0, PAUSE)
  pauses.last = performance.now()
}

/**
 * Stops a query that was cancelled, or whose deadline has passed; regularly releases the processor for others. Throws {@link
 * EvaluationStopped}.
 */
export function checkDeadline({ clock, signal }: EvaluationLimits): void {
  if (signal !== undefined) {
    const { numbers, id } = signal
    if (Atomics.load(numbers, 0) === id) throw new EvaluationStopped('cancelled')
    const begun = numbers.length > 1 ? Atomics.load(numbers, 1) : 0
    if (begun !== 0) pauseForOthers(begun)
  }
  if (clock !== undefined && performance.now() > clock.deadline) throw new EvaluationStopped('deadline')
}

/** Maximum length of a text that a function returns, in characters. */
const MAX_TEXT = 2 ** 22

/**
 * Stops the query where a function is about to return a text that is too long: an error of the expression would leave its
 * variable unbound, which would change the answer. Throws EvaluationStopped.
 */
export function checkTextLength(length: number): void {
  if (length > MAX_TEXT) throw new EvaluationStopped('memory')
}

/** Limits the time that a job runs, without the time that its reader takes. */
export class WorkClock {
  /** The time of performance.now() after which the job is stopped. */
  deadline = 0
  private left: number
  private readonly milliseconds: number

  constructor(milliseconds: number) {
    this.milliseconds = milliseconds
    this.left = milliseconds
  }

  /** The part of the time that is over, from 0 to 1, while the job runs. */
  get used(): number {
    return 1 - (this.deadline - performance.now()) / this.milliseconds
  }

  begin(): void {
    this.deadline = performance.now() + this.left
  }

  end(): void {
    this.left = this.deadline - performance.now()
  }
}

/** A query that columns cannot evaluate, or a part of one: another engine must evaluate it. */
export class NotInColumns extends Error {
  readonly what: string

  constructor(what: string) {
    super(`columns do not evaluate ${what}`)
    this.name = 'NotInColumns'
    this.what = what
  }
}
