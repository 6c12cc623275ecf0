/** Why an evaluation ended before its end. */
export class EvaluationStopped extends Error {
  readonly reason: 'deadline' | 'cancelled' | 'memory'

  constructor(reason: 'deadline' | 'cancelled' | 'memory') {
    super(reason)
    this.name = 'EvaluationStopped'
    this.reason = reason
  }
}
