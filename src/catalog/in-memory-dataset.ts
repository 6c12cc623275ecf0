import { ignoreRejection } from '../errors/ignore-rejection.ts'
import { compileMapping } from '../mapping/compile.ts'
import { directMapping } from '../mapping/direct.ts'
import { WrittenTriple } from '../mapping/triple-text.ts'
import type { Field } from '../model/field.ts'
import type { DatasetRecord } from '../model/value.ts'
import { StatisticsGatherer } from '../publishing/statistics.ts'
import type { CompileTarget } from '../query/compile/target.ts'
import { graphIri, recordIri } from '../rdf/iris.ts'
import { fieldPredicates } from '../store/record-reader.ts'
import type { GraphSource, Store } from '../store/store.ts'

/** Records that are made in memory, and the dataset that they are records of. */
export interface InMemoryRecords {
  readonly dataset: { readonly id: string; readonly fields: readonly Field[] }
  readonly records: readonly DatasetRecord[]
  readonly base: string
  /** Name of this state of the records; the names of the graphs have it in them. */
  readonly version: string
  /** ISO 8601 moment at which the records were made. */
  readonly published: string
  /** The fields whose words are found by a search of everything: all by default. */
  readonly isSearched?: (field: Field) => boolean
}

/** The graphs of records that were made in memory, to be loaded, and what queries need to ask them. */
export interface InMemoryGraphs {
  readonly target: CompileTarget
  readonly sources: readonly GraphSource[]
}

/**
 * Makes the facts of records at hand, so that what Lodestone knows by itself (its catalog, its
 * monitoring) is asked like any dataset.
 */
export function inMemoryGraphs({
  dataset,
  records,
  base,
  version,
  published,
  isSearched,
}: InMemoryRecords): InMemoryGraphs {
  const { id, fields } = dataset
  const { map } = compileMapping(directMapping(base, dataset), fields)
  const statistics = new StatisticsGatherer(fields)
  const facts = new WrittenTriple()
  for (const record of records) {
    map(record, facts)
    statistics.add(record.values)
  }
  const graph = graphIri(id, version, 'facts')
  const searched = isSearched === undefined ? undefined : fields.filter(isSearched)
  return {
    target: {
      base,
      dataset,
      graphs: { facts: graph },
      statistics: statistics.statistics(),
      published,
      ...(searched === undefined ? {} : { searched }),
    },
    sources: [
      {
        graph,
        text: facts.take().toString(),
        subjects: records.map(record => recordIri(base, id, record.id)),
        predicates: fieldPredicates({ base, dataset }),
        isSearched: true,
      },
    ],
  }
}

/** How something is made for those who ask for it. */
export interface Making<Made> {
  /** What it is made of: as soon as that is another one, nothing that was made before is given. */
  readonly basis: () => unknown
  /** A text that changes whenever what is made may have changed. */
  readonly state: () => string
  readonly make: () => Promise<Made>
}

/** Part of the time that goes into making the same thing anew, and milliseconds of it that may go at once. */
const SHARE = 0.05
const AT_ONCE = 1000

/**
 * What is made where somebody asks for it, and made anew where its state is another one by then. Of something that
 * changes with every call and is asked for all the time the last one is given for a while, so that making it stays a
 * small part of the work.
 */
export class Memoised<Made> {
  private readonly now: () => number
  private last: { readonly basis: unknown; readonly state: string; readonly made: Made } | null = null
  private making: Promise<Made> | null = null
  /** Milliseconds that may go into making. */
  private allowance = AT_ONCE
  private reckoned: number

  /** @param now a clock in milliseconds */
  constructor(now: () => number) {
    this.now = now
    this.reckoned = now()
  }

  async current({ basis, state, make }: Making<Made>): Promise<Made> {
    while (this.making !== null) await ignoreRejection(this.making, 'whoever began it gets it')
    const { last } = this
    const isUsable = last !== null && last.basis === basis()
    if (isUsable && this.reckon() <= 0) return last.made
    const found = { basis: basis(), state: state() }
    if (isUsable && last.state === found.state) return last.made
    const begun = this.now()
    this.making = make()
    try {
      const made = await this.making
      this.last = { ...found, made }
      return made
    } finally {
      this.making = null
      this.allowance -= this.now() - begun
    }
  }

  /** What may go into making by now. */
  private reckon(): number {
    const moment = this.now()
    this.allowance = Math.min(AT_ONCE, this.allowance + (moment - this.reckoned) * SHARE)
    this.reckoned = moment
    return this.allowance
  }
}

/** The graphs of one dataset that is made anew again and again: the replaced ones stay for answers that are reading them. */
export class LatestGraphs {
  private readonly store: Store
  /** Milliseconds for which replaced graphs stay. */
  private readonly grace: number
  private held: readonly string[] = []
  private readonly timers = new Set<NodeJS.Timeout>()

  constructor(store: Store, grace: number) {
    this.store = store
    this.grace = grace
  }

  /** Loads graphs beside those that are held, which are dropped after the grace. */
  async replace(sources: readonly GraphSource[]): Promise<void> {
    await this.store.load(sources)
    this.hold(sources.map(({ graph }) => graph))
  }

  /** Holds graphs that are loaded already. */
  hold(graphs: readonly string[]): void {
    this.dropLater(this.held)
    this.held = graphs
  }

  /** Drops what is held after the grace. */
  release(): void {
    this.hold([])
  }

  /** Forgets pending clean-ups; the store is not closed. */
  close(): void {
    for (const timer of this.timers) clearTimeout(timer)
    this.timers.clear()
  }

  private dropLater(graphs: readonly string[]): void {
    if (graphs.length === 0) return
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      void ignoreRejection(this.store.drop(graphs), 'a shared store is swept, one of this process is gone')
    }, this.grace)
    timer.unref()
    this.timers.add(timer)
  }
}
