import { generate } from '../../sparql/generate.ts'
import type { GraphColumns } from '../../store/columns/graph.ts'
import type { PageOptions, Solution, SolutionPage, Store } from '../../store/store.ts'
import type { Statement } from '../compile/target.ts'

/** An executed statement: its purpose, who answered it with which columns, and how long it took. */
export interface ExecutedStatement {
  readonly name: string
  readonly sparql: string
  /** Predicates whose columns were read. */
  readonly columns: readonly string[]
  readonly rows: number
  readonly milliseconds: number
}

/** Statements of one job: a job should be short enough not to be interrupted for others. */
const MAX_TOGETHER = 4

/** Sends the statements of one request to the store, one after another, so that a request never occupies two threads. */
export class Executor {
  private readonly store: Store
  readonly watch: Stopwatch
  private readonly onExecuted: ((statement: ExecutedStatement) => void) | undefined

  /** @param onExecuted receives each statement after it is answered, for `lodestone explain` */
  constructor(store: Store, watch: Stopwatch, onExecuted?: (statement: ExecutedStatement) => void) {
    this.store = store
    this.watch = watch
    this.onExecuted = onExecuted
  }

  async select(statement: Statement): Promise<readonly Solution[]> {
    return (await this.page(statement)).solutions()
  }

  async page({ name, query }: Statement, options?: PageOptions): Promise<SolutionPage> {
    const before = this.watch.stages().get('store') ?? 0
    const page = await this.watch.wait('store', this.store.page(query, options))
    const milliseconds = (this.watch.stages().get('store') ?? 0) - before
    const { rows, columns } = page
    this.onExecuted?.({ name, sparql: generate(query), columns, rows, milliseconds })
    return page
  }

  /** Several statements about the same records, in one job of a thread. */
  async together(statements: readonly Statement[]): Promise<readonly SolutionPage[]> {
    const pages: SolutionPage[] = []
    for (let from = 0; from < statements.length; from += MAX_TOGETHER)
      pages.push(...(await this.piece(statements.slice(from, from + MAX_TOGETHER))))
    return pages
  }

  private async piece(statements: readonly Statement[]): Promise<readonly SolutionPage[]> {
    const before = this.watch.stages().get('store') ?? 0
    const pages = await this.watch.wait('store', this.store.together(statements.map(({ query }) => query)))
    const milliseconds = ((this.watch.stages().get('store') ?? 0) - before) / statements.length
    statements.forEach(({ name, query }, at) => {
      const { rows, columns } = pages[at] as SolutionPage
      this.onExecuted?.({ name, sparql: generate(query), columns, rows, milliseconds })
    })
    return pages
  }

  pages({ query }: Statement): AsyncGenerator<SolutionPage> {
    return this.store.pages(query)
  }

  contents(graph: string, predicates: readonly string[]): Promise<GraphColumns> {
    return this.watch.wait('store', this.store.contents(graph, predicates))
  }
}

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
