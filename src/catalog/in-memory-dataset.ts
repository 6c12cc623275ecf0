import { ignoreRejection } from '../errors/ignore-rejection.ts'
import { compileMapping } from '../mapping/compile.ts'
import { directMapping } from '../mapping/direct.ts'
import { WrittenTriple } from '../mapping/triple-text.ts'
import type { Field } from '../model/field.ts'
import type { Metas } from '../model/metadata.ts'
import type { DatasetRecord } from '../model/value.ts'
import { StatisticsGatherer } from '../publishing/statistics.ts'
import type { CompileTarget } from '../query/compile/target.ts'
import { graphIri, recordIri } from '../rdf/minted-iris.ts'
import { fieldPredicates } from '../store/record-reader.ts'
import { EMPTY_GRAPH, type GraphSource, type Store } from '../store/store.ts'
import { CATALOG_ID, catalogFields, catalogRecord, USAGE_FIELDS } from './catalog-dataset.ts'
import type { ServedDataset } from './served.ts'

/** Records that are generated in memory, and their dataset. */
interface InMemoryRecords {
  readonly dataset: { readonly id: string; readonly fields: readonly Field[] }
  readonly records: readonly DatasetRecord[]
  readonly base: string
  /** Name of this state of the records, part of the names of the graphs. */
  readonly version: string
  /** ISO 8601 moment at which the records were generated. */
  readonly published: string
  /** The fields that full-text search covers: all by default. */
  readonly isSearched?: (field: Field) => boolean
}

/** The graphs of records that were generated in memory, for loading, and the target of queries of them. */
interface InMemoryGraphs {
  readonly target: CompileTarget
  readonly sources: readonly GraphSource[]
}

/**
 * Builds the facts of given records, so that data that Lodestone itself generates (its catalog, its monitoring) are queried like
 * any dataset.
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

/** Graphs that are dropped after a grace period: responses may be reading them. */
export class LateDrops {
  private readonly store: Store
  private readonly grace: number
  private readonly timers = new Set<NodeJS.Timeout>()

  /** @param grace milliseconds */
  constructor(store: Store, grace: number) {
    this.store = store
    this.grace = grace
  }

  drop(graphs: readonly string[]): void {
    if (graphs.length === 0) return
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      void ignoreRejection(this.store.drop(graphs), 'a shared store is swept, one of this process is gone')
    }, this.grace)
    timer.unref()
    this.timers.add(timer)
  }

  /** Cancels pending clean-ups; the store is not closed. */
  close(): void {
    for (const timer of this.timers) clearTimeout(timer)
    this.timers.clear()
  }
}

/** The graphs of one dataset that is regenerated repeatedly: replaced ones remain for responses that are reading them. */
export class LatestGraphs {
  private readonly store: Store
  private readonly drops: LateDrops
  private loaded: readonly string[] = []

  constructor(store: Store, grace: number) {
    this.store = store
    this.drops = new LateDrops(store, grace)
  }

  /** Loads new graphs and drops the current ones after the grace period. */
  async replace(sources: readonly GraphSource[]): Promise<void> {
    await this.store.load(sources)
    this.setLoaded(sources.map(({ graph }) => graph))
  }

  /** Sets the current graphs, which are loaded already. */
  setLoaded(graphs: readonly string[]): void {
    this.drops.drop(this.loaded)
    this.loaded = graphs
  }

  /** Drops the current graphs after the grace period. */
  release(): void {
    this.setLoaded([])
  }

  /** Cancels pending clean-ups; the store is not closed. */
  close(): void {
    this.drops.close()
  }
}

/** Datasets sorted by id. */
export interface DatasetList {
  readonly version: string
  readonly entries: readonly ServedDataset[]
}

/** A list of datasets as a dataset: the target of catalog queries. */
export interface ServedCatalog extends DatasetList {
  readonly target: CompileTarget
  /** The usage statistics in its records, by the ids of the entries; if present, it has fields for them. */
  readonly statistics?: ReadonlyMap<string, Metas[string]>
}

/**
 * The graphs of a catalog: every entry's metadata, one triple each.
 *
 * @param id the id of the catalog as a queryable dataset
 * @param statistics usage statistics of each entry, by its id
 */
export function catalogGraphs(
  entries: readonly ServedDataset[],
  base: string,
  version: string,
  id = CATALOG_ID,
  statistics?: ReadonlyMap<string, Metas[string]>,
): { readonly served: ServedCatalog; readonly sources: readonly GraphSource[] } {
  const fields = catalogFields(entries, statistics === undefined ? [] : USAGE_FIELDS)
  const records = entries.map((entry, position) =>
    catalogRecord(entry, position, fields, statistics?.get(entry.dataset.id)),
  )
  const content = { dataset: { id, fields }, records, base, version, published: EPOCH, isSearched }
  const { target, sources } = inMemoryGraphs(content)
  const served: ServedCatalog = { version, entries, target }
  return { served: statistics === undefined ? served : { ...served, statistics }, sources }
}

/** Words of a dataset's mapping are irrelevant to a search for datasets. */
function isSearched({ name }: Field): boolean {
  return !name.startsWith('semantic.')
}

/** The catalog has no timestamp of its own: its queries know no technical fields. */
const EPOCH = '1970-01-01T00:00:00Z'

/** The target of queries of a catalog without datasets. */
export function emptyTarget(base: string, id = CATALOG_ID): CompileTarget {
  return {
    base,
    dataset: { id, fields: catalogFields([]) },
    graphs: { facts: EMPTY_GRAPH },
    statistics: { records: 0, fields: {} },
    published: EPOCH,
  }
}
