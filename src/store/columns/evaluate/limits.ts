/** What one query may take: time, memory, and the length of its texts. */
export interface EvaluationLimits {
  /** Its deadline is a moment of performance.now() after which the evaluation is stopped. */
  readonly clock?: { readonly deadline: number } | undefined
  /** The evaluation is stopped as soon as the first number is its own, and pauses now and then after the second has become another. */
  readonly signal?: { readonly numbers: Int32Array; readonly id: number } | undefined
  /** Bytes of intermediate results. */
  readonly memory?: number | undefined
}

/** Why an evaluation ended before its end. */
export class EvaluationStopped extends Error {
  readonly reason: 'deadline' | 'cancelled' | 'memory'

  constructor(reason: 'deadline' | 'cancelled' | 'memory') {
    super(reason)
    this.name = 'EvaluationStopped'
    this.reason = reason
  }
}

/** Milliseconds of work between two pauses for others, of a pause, and after the beginning of their work in which more may begin. */
const [STRETCH, PAUSE, MORE] = [0.5, 0.05, 200]

/** Nobody wakes who waits here. */
const NEVER = new Int32Array(new SharedArrayBuffer(4))

/** When this thread last paused, which work of others it knows of, and until when it pauses for it. */
const pauses = { last: 0, known: 0, end: 0 }

/**
 * Leaves the processor for a moment where work of others has begun lately. Without that the system has them wait for it: also a thread
 * that stands back may run for some milliseconds before another takes its place.
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
 * Ends a query that was cancelled, or whose deadline has passed; lets others have the processor between two looks. Throws
 * {@link EvaluationStopped}.
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
 * Ends the query where a function is about to return a text that is too long: an error of the expression would leave its variable
 * unbound, which is another answer. Throws EvaluationStopped.
 */
export function checkTextLength(length: number): void {
  if (length > MAX_TEXT) throw new EvaluationStopped('memory')
}
