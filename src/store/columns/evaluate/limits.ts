/** What one query may take: time, memory, and the length of its texts. */
export interface EvaluationLimits {
  /** Its deadline is a moment of performance.now() after which the evaluation is stopped. */
  readonly clock?: { readonly deadline: number } | undefined
  /** The evaluation is stopped as soon as the first number is its own. */
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

/** Ends a query that was cancelled, or whose deadline has passed. Throws {@link EvaluationStopped}. */
export function checkDeadline({ clock, signal }: EvaluationLimits): void {
  if (signal !== undefined && Atomics.load(signal.numbers, 0) === signal.id)
    throw new EvaluationStopped('cancelled')
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
