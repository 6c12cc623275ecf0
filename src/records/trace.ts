import type { SelectQuery } from '../sparql/algebra.ts'
import { generate } from '../sparql/generate.ts'
import type { Solution, Store } from '../store/store.ts'
import type { Stopwatch } from './stopwatch.ts'

/** A statement that was asked of the store: what for, why in this way, and how long it took. */
export interface AskedStatement {
  readonly name: string
  readonly reason: string
  readonly sparql: string
  readonly rows: number
  readonly milliseconds: number
}

/** A statement to ask. */
interface Statement {
  readonly name: string
  readonly reason: string
  readonly query: SelectQuery
}

/** Asks the store the statements of one request, one after another, so that a request never holds two workers. */
export class Asker {
  private readonly store: Store
  readonly watch: Stopwatch
  private readonly onAsked: ((statement: AskedStatement) => void) | undefined

  /** @param onAsked is told each statement once it is answered, for `lodestone explain` */
  constructor(store: Store, watch: Stopwatch, onAsked?: (statement: AskedStatement) => void) {
    this.store = store
    this.watch = watch
    this.onAsked = onAsked
  }

  async ask({ name, reason, query }: Statement): Promise<readonly Solution[]> {
    const before = this.watch.stages().get('store') ?? 0
    const solutions = await this.watch.wait('store', this.store.select(query))
    const milliseconds = (this.watch.stages().get('store') ?? 0) - before
    this.onAsked?.({ name, reason, sparql: generate(query), rows: solutions.length, milliseconds })
    return solutions
  }
}
