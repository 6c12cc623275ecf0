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
