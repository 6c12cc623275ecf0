/** Why an evaluation ended before its end. */
export class EvaluationStopped extends Error {
  readonly reason: 'deadline' | 'cancelled' | 'memory'

  constructor(reason: 'deadline' | 'cancelled' | 'memory') {
    super(reason)
    this.name = 'EvaluationStopped'
    this.reason = reason
  }
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
