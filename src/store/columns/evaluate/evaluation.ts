import { randomUUID } from 'node:crypto'
import { memoised } from '../../../model/memoised.ts'
import type { AlgebraExpression } from '../../../sparql/algebra.ts'
import { type Grown, grown } from '../bytes.ts'
import type { GraphColumns } from '../graph.ts'
import { checkDeadline, type EvaluationLimits, EvaluationStopped } from './evaluation-limits.ts'
import type { SelectionCache } from './expressions/selection-cache.ts'
import type { FunctionContext } from './functions/extension-function.ts'
import type { Regex } from './functions/regex.ts'
import { type Domain, GraphDomains } from './vectors/domain.ts'
import { PoolDomain } from './vectors/pool-domain.ts'
import { outlivingReuse } from './vectors/scratch.ts'
import type { TermValue } from './vectors/value.ts'

/** The graphs that a query can access. */
export interface DatasetView {
  /** Their merge is the default graph. */
  readonly defaultGraphs: readonly GraphColumns[]
  readonly namedGraphs: ReadonlyMap<string, readonly GraphColumns[]>
}

/** Rows between two checks of the clock. */
const ROWS_BETWEEN_CHECKS = 8192

/** Characters of a text or geometry for which one call may take as long as the rows between two checks of the clock. */
const LONG_TEXT = 4096

/** Domains of graphs, cached as long as the graphs, including the values that were read. */
const DOMAINS = new WeakMap<GraphColumns, GraphDomains>()

export function domainsOf(graph: GraphColumns): GraphDomains {
  return memoised(DOMAINS, graph, () => new GraphDomains(graph))
}

/** The state of one query: its dataset, its limits, its computed terms, and its caches. */
export class Evaluation implements FunctionContext {
  readonly dataset: DatasetView
  readonly now: Date
  readonly base: string | null
  /** The selections of conditions, shared by queries that are evaluated together; null for a single query. */
  readonly selections: SelectionCache | null
  readonly pool = new PoolDomain(
    bytes => this.allocate(bytes),
    () => this.check(),
  )
  readonly regexes = new Map<string, Regex | null>()
  /** True where all solutions of the patterns are read before the first answer: then scans start with large batches. */
  readsAll = false
  /** Columns that were read, for explaining the query. */
  readonly columns = new Set<string>()
  private readonly limits: EvaluationLimits
  private readonly memos = new WeakMap<AlgebraExpression, Map<string, Map<Domain, unknown>>>()
  private rows = 0
  private bytes = 0
  private blanks = 0
  private readonly blankPrefix = randomUUID().replaceAll('-', '')

  constructor(
    dataset: DatasetView,
    limits: EvaluationLimits = {},
    options: {
      readonly now?: Date
      readonly base?: string | undefined
      readonly selections?: SelectionCache | null
    } = {},
  ) {
    this.selections = options.selections ?? null
    this.dataset = dataset
    this.limits = limits
    this.now = options.now ?? new Date()
    this.base = options.base ?? null
  }

  readonly random = (): number => Math.random()

  readonly freshBlank = (): string => `b${this.blankPrefix}${this.blanks++}`

  /** Counts processed rows and periodically checks whether to continue. Throws {@link EvaluationStopped}. */
  advance(rows: number): void {
    this.rows += rows
    if (this.rows < ROWS_BETWEEN_CHECKS) return
    this.rows = 0
    this.check()
  }

  check(): void {
    checkDeadline(this.limits)
  }

  /** The arguments of a call, after {@link check} where it may take long: rows are counted, not what is done for them. */
  checkedFor(values: readonly TermValue[]): readonly TermValue[] {
    for (const value of values) {
      const text = value.type === 'text' ? value.value : value.type === 'other' ? value.term.value : ''
      if (text.length > LONG_TEXT) this.check()
    }
    return values
  }

  /** The part of its time that the query has used, from 0 to 1; 0 where its time is not limited. */
  get usedTime(): number {
    return this.limits.clock?.used ?? 0
  }

  /** Counts bytes of intermediate results that are kept until the end. Throws {@link EvaluationStopped}. */
  allocate(bytes: number): void {
    this.bytes += bytes
    if (this.limits.memory !== undefined && this.bytes > this.limits.memory)
      throw new EvaluationStopped('memory')
  }

  /** An array with at least some length, whose bytes are counted. */
  readonly grown = <Numbers extends Grown>(numbers: Numbers, length: number): Numbers => {
    if (length <= numbers.length) return numbers
    this.allocate(Math.max(length - numbers.length, numbers.length) * numbers.BYTES_PER_ELEMENT)
    return grown(numbers, length)
  }

  release(bytes: number): void {
    this.bytes -= bytes
  }

  /** True where {@link memo} has a cached value. */
  hasMemo(kind: string, expression: AlgebraExpression, domain: Domain): boolean {
    return this.memos.get(expression)?.get(kind)?.has(domain) === true
  }

  /**
   * The memoised result of an expression for the values of a domain.
   *
   * @param kind distinguishes the memoised values of different callers for one expression
   */
  memo<Table>(kind: string, expression: AlgebraExpression, domain: Domain, make: () => Table): Table {
    const kinds = memoised(this.memos, expression, () => new Map<string, Map<Domain, unknown>>())
    const tables = memoised(kinds, kind, () => new Map<Domain, unknown>())
    return memoised(tables as Map<Domain, Table>, domain, () => outlivingReuse(make))
  }
}
