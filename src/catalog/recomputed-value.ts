import { ignoreRejection } from '../errors/ignore-rejection.ts'

/** The computation of a value. */
interface Computation<Value> {
  /** The basis of the value: a value with another basis is never reused. */
  readonly basis: () => unknown
  /** A text that changes whenever the value may have changed. */
  readonly state: () => string
  readonly make: () => Promise<Value>
}

/** Maximum share of time spent on recomputing, and the maximum milliseconds that may accumulate for it. */
const MAX_LOAD = 0.05
const MAX_ALLOWANCE = 1000

/**
 * A value that is computed on demand, and recomputed if its state has changed. If the state changes with every call, the last
 * value is reused for a while, so that recomputing remains a small share of the work.
 */
export class RecomputedValue<Value> {
  private readonly now: () => number
  private last: { readonly basis: unknown; readonly state: string; readonly value: Value } | null = null
  private making: Promise<Value> | null = null
  /** Milliseconds available for computing. */
  private allowance = MAX_ALLOWANCE
  private reckoned: number

  /** @param now a clock in milliseconds that is never set */
  constructor(now: () => number = () => performance.now()) {
    this.now = now
    this.reckoned = now()
  }

  async current({ basis, state, make }: Computation<Value>): Promise<Value> {
    while (this.making !== null) await ignoreRejection(this.making, 'whoever began it gets it')
    const { last } = this
    const isUsable = last !== null && last.basis === basis()
    if (isUsable && this.reckon() <= 0) return last.value
    const found = { basis: basis(), state: state() }
    if (isUsable && last.state === found.state) return last.value
    const begun = this.now()
    this.making = make()
    try {
      const value = await this.making
      this.last = { ...found, value }
      return value
    } finally {
      this.making = null
      this.allowance -= this.now() - begun
    }
  }

  /** Updates the milliseconds available for computing. */
  private reckon(): number {
    const moment = this.now()
    this.allowance = Math.min(MAX_ALLOWANCE, this.allowance + (moment - this.reckoned) * MAX_LOAD)
    this.reckoned = moment
    return this.allowance
  }
}
