import { createHash } from 'node:crypto'
import type { SparqlOperation } from '../../../../sparql/algebra.ts'

/** A share of the subjects that a query scans, in the order of the scan. */
export interface ScanShare {
  /** The index of a component of graphs, and of a graph in it. */
  readonly component: number
  readonly graph: number
  /** Range of subject numbers of the graph, the end exclusive; null for the initial size of a scan. */
  readonly from: number
  readonly to: number | null
}

/** The position at which a stopped answer continues. */
export interface Continuation {
  readonly share: ScanShare
  /** Digest of the steps of the query: with other steps the share has its solutions in another order. */
  readonly steps: string
  /** Number of solutions before those of the share, and number of solutions that were returned or skipped. */
  readonly before: number
  readonly reached: number
}

/** The first part of a share that takes longer than an answer may; null for one that cannot be divided. */
export function dividedShare(share: ScanShare): ScanShare | null {
  const { from, to } = share
  if (to === null || to - from < 2) return null
  return { ...share, to: from + Math.max(1, (to - from) >>> 3) }
}

/** A step of the evaluation of triple patterns, and how a star finds its subjects. */
interface Step {
  readonly type: string
  readonly via?: unknown
}

/** A continuation that does not belong to the query. */
export class ContinuationRefused extends Error {}

/** Integers that a number represents exactly. */
const PLACE = /^([0-9a-f]{8})((?:-\d{1,15}){6})$/

/** A continuation as text: hexadecimal and decimal digits separated by hyphens. */
export function continuationText({ share, steps, before, reached }: Continuation): string {
  const { component, graph, from, to } = share
  return [steps, component, graph, from, to ?? 0, before, reached].join('-')
}

/** Throws {@link ContinuationRefused} for an invalid text. */
export function parseContinuation(text: string): Continuation {
  const [, steps = '', numbers = ''] = PLACE.exec(text) ?? []
  const [component = 0, graph = 0, from = 0, to = 0, before = 0, reached = 0] = numbers
    .slice(1)
    .split('-')
    .map(Number)
  if (steps === '' || reached < before || (to !== 0 && to <= from)) throw new ContinuationRefused(text)
  return { share: { component, graph, from, to: to === 0 ? null : to }, steps, before, reached }
}

/**
 * The scan that finds the solutions of a query, one share of the subjects after another. Versions of graphs never change, so a
 * stopped query continues with the share that it had reached, and earlier shares are not computed again.
 */
export class OutermostScan {
  /** The current share; null before the first, and where it is unknown. */
  share: ScanShare | null = null
  /** Number of shares that were started. */
  shares = 0
  steps = ''
  private readonly begin: Continuation | null
  private readonly operation: SparqlOperation | null
  private component = 0
  private graph = 0
  private isTaken = false
  private isLost = false

  /**
   * @param operation the operation whose patterns are evaluated first; null where there is none
   * @param begin the position to continue at; null for the beginning
   */
  constructor(operation: SparqlOperation | null, begin: Continuation | null) {
    this.operation = operation
    this.begin = begin
    if (begin !== null && this.operation === null) throw new ContinuationRefused('no scan')
  }

  /** Returns this scan to the operation that it belongs to, once; null for others. */
  takenBy(operation: SparqlOperation): OutermostScan | null {
    if (operation !== this.operation || this.isTaken) return null
    this.isTaken = true
    return this
  }

  /** Registers the steps of the query, of which the first must be a scan. False where it is not. */
  isScanOf(steps: readonly Step[]): boolean {
    const [first] = steps
    const isScan = first?.type === 'open' || (first?.type === 'star' && first.via === 'scan')
    this.steps = createHash('sha256').update(JSON.stringify(steps)).digest('hex').slice(0, 8)
    if (this.begin !== null && (!isScan || this.steps !== this.begin.steps))
      throw new ContinuationRefused('other steps')
    return isScan
  }

  /** True for a part of the graphs that was completed before. */
  isBehind(component: number, graph: number): boolean {
    ;[this.component, this.graph] = [component, graph]
    const { share } = this.begin ?? {}
    if (share === undefined) return false
    return component < share.component || (component === share.component && graph < share.graph)
  }

  /** The share with which the scan of this part starts; null where it starts at the beginning. */
  get first(): ScanShare | null {
    const { share } = this.begin ?? {}
    return share?.component === this.component && share.graph === this.graph ? share : null
  }

  /** Sets the current share. */
  enter(from: number, to: number): void {
    this.shares += 1
    this.share = this.isLost ? null : { component: this.component, graph: this.graph, from, to }
  }

  /** Records that from now on solutions are found in another way. */
  lose(): void {
    this.isLost = true
    this.share = null
  }
}
