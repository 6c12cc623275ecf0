import { Fault } from '../errors.ts'
import type { TripleText } from '../mapping/triple-text.ts'
import type { Field } from '../model/field.ts'
import type { Metas } from '../model/metadata.ts'
import type { CompileTarget } from '../query/compile/scope.ts'
import { datasetIri, graphIri } from '../rdf/iris.ts'
import { iriText, literalText } from '../rdf/ntriples.ts'
import { DCAT, DCTERMS, RDF, XSD } from '../rdf/vocab.ts'
import type { GraphSource, LoadProgress, Store } from '../store/store.ts'
import { CATALOG_ID, catalogFields, catalogRecord, FIGURE_FIELDS, type Figures } from './catalog-dataset.ts'
import { DATASET_ID } from './definition.ts'
import { LatestGraphs, MadeOnDemand, madeGraphs } from './made.ts'
import { graphSources, graphsOf, type ServedDataset, servedDataset } from './served.ts'
import {
  currentManifest,
  currentVersion,
  isWithdrawn,
  type Manifest,
  publishedDatasets,
  type Versions,
} from './versions.ts'

/** A source of datasets: the catalog, the monitoring or the network (query API, "Search API v2"). */
export interface DatasetSource {
  /** The datasets in force, as a dataset of their own. */
  current(): ServedCatalog
  /** One of them. Faults: NotFoundResource, NotPublishedYet, Unauthorised. */
  dataset(id: string): ServedDataset
  /** The datasets in force with figures of their use as fields; a source without it has no such fields. */
  counted?(figures: Figures): Promise<ServedCatalog>
}

/** The catalog as a dataset: what catalog queries are asked of. */
export interface ServedCatalog {
  readonly version: string
  readonly target: CompileTarget
  readonly entries: readonly ServedDataset[]
  /** The figures of use that its records have, by the ids of the entries; it has the fields for them then. */
  readonly figures?: ReadonlyMap<string, Metas[string]>
}

export interface CatalogOptions {
  readonly base: string
  readonly store: Store
  readonly versions: Versions
  /** Milliseconds for which the graphs of a replaced version stay, for answers that are still reading them. */
  readonly grace: number
  readonly onProgress?: (progress: LoadProgress) => void
}

/**
 * The datasets that are served. A new version is loaded beside the old one; one assignment then puts it in its place,
 * together with a new catalog graph, so that every request sees the old state or the new one.
 */
export class Catalog implements DatasetSource {
  private readonly options: CatalogOptions
  private served: ServedCatalog
  private byId: ReadonlyMap<string, ServedDataset> = new Map()
  private generation = 0
  private refreshing: Promise<boolean> | null = null
  private readonly timers = new Set<NodeJS.Timeout>()
  private expected: ReadonlySet<string> = new Set()
  private readonly withFigures = new MadeOnDemand<ServedCatalog>(() => Date.now())
  private readonly figureGraphs: LatestGraphs
  private countings = 0

  constructor(options: CatalogOptions) {
    this.options = options
    this.figureGraphs = new LatestGraphs(options.store, options.grace)
    this.served = { version: 'empty', target: emptyTarget(options.base), entries: [] }
  }

  /** Names datasets that will be served once they are published, so that asking for one early says so. */
  expect(ids: readonly string[]): void {
    this.expected = new Set(ids)
  }

  /** The catalog in force. */
  current(): ServedCatalog {
    return this.served
  }

  /**
   * The catalog in force with figures of use as fields of the explore template. They change with every call, so its
   * graphs are made where somebody asks for them; while little changes they are those of the moment.
   */
  counted(figures: Figures): Promise<ServedCatalog> {
    const figuresNow = () =>
      new Map(this.served.entries.map(({ dataset: { id } }) => [id, figures(id)] as const))
    return this.withFigures.current({
      basis: () => this.served,
      state: () => JSON.stringify([...figuresNow()]),
      make: () => this.count(figuresNow()),
    })
  }

  /** A dataset that everyone may see. Faults: NotFoundResource, NotPublishedYet. */
  dataset(id: string): ServedDataset {
    const found = this.byId.get(id)
    if (found !== undefined) return found
    if (this.expected.has(id)) throw new Fault('NotPublishedYet', { id })
    throw new Fault('NotFoundResource', {
      kind: 'dataset',
      id: id.length > 100 ? `${id.slice(0, 100)}…` : id,
    })
  }

  /** True for a dataset that was withdrawn: its addresses led somewhere and do so no more. */
  isGone(id: string): boolean {
    return DATASET_ID.test(id) && !this.byId.has(id) && isWithdrawn(this.options.versions, id)
  }

  /**
   * Serves what is published now: loads versions that are new, takes out what was withdrawn. True where something
   * changed. Calls that come while one is under way share it.
   */
  refresh(): Promise<boolean> {
    this.refreshing ??= this.load().finally(() => {
      this.refreshing = null
    })
    return this.refreshing
  }

  /** Forgets pending clean-ups; the store is not closed. */
  close(): void {
    for (const timer of this.timers) clearTimeout(timer)
    this.timers.clear()
    this.figureGraphs.close()
  }

  private async load(): Promise<boolean> {
    const { store, versions, onProgress } = this.options
    const wanted = publishedDatasets(versions)
    const fresh: Manifest[] = []
    const kept: ServedDataset[] = []
    for (const id of wanted) {
      const served = this.byId.get(id)
      if (served !== undefined && served.version === currentVersion(versions, id)) {
        kept.push(served)
        continue
      }
      const manifest = currentManifest(versions, id)
      if (manifest !== null && manifest.base !== this.options.base) {
        // Published for another address: the version that is served stays, its IRIs are right.
        if (served !== undefined) kept.push(served)
      } else if (manifest !== null && manifest.dataset.visibility === 'public') {
        fresh.push(manifest)
      }
    }
    const gone = [...this.byId.values()].filter(served => !kept.includes(served))
    if (fresh.length === 0 && gone.length === 0) return false
    const next = fresh.map(manifest => servedDataset(versions, manifest))
    const loaded = new Set([...this.byId.values()].flatMap(graphsOf))
    const sources = fresh
      .flatMap(manifest => graphSources(versions, manifest))
      .filter(({ graph }) => !loaded.has(graph))
    const entries = [...kept, ...next].sort((a, b) => (a.dataset.id < b.dataset.id ? -1 : 1))
    this.generation += 1
    const catalog = catalogGraphs(entries, this.options.base, `g${this.generation}`)
    try {
      await store.load([...sources, ...catalog.sources], onProgress)
    } catch (error) {
      // Files of a version that was replaced or withdrawn meanwhile are not needed any more.
      const isCurrent = ({ dataset, version }: Manifest) => currentVersion(versions, dataset.id) === version
      if (fresh.every(isCurrent)) throw error
      return this.load()
    }
    const replaced = this.served
    this.served = catalog.served
    this.byId = new Map(entries.map(entry => [entry.dataset.id, entry]))
    const needed = new Set(entries.flatMap(graphsOf))
    this.dropLater([
      ...gone.flatMap(graphsOf).filter(graph => !needed.has(graph)),
      ...(replaced.version === 'empty' ? [] : [replaced.target.graphs.facts, replaced.target.graphs.index]),
    ])
    return true
  }

  private async count(figures: ReadonlyMap<string, Metas[string]>): Promise<ServedCatalog> {
    this.countings += 1
    const version = `c${this.countings}`
    const { entries } = this.served
    const made = catalogGraphs(entries, this.options.base, version, CATALOG_ID, figures)
    await this.figureGraphs.replace(made.sources)
    return made.served
  }

  private dropLater(graphs: readonly string[]): void {
    if (graphs.length === 0) return
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      this.options.store.drop(graphs).catch(() => undefined)
    }, this.options.grace)
    timer.unref()
    this.timers.add(timer)
  }
}

/**
 * The graphs of a catalog: every entry's metadata, one triple each, and its description in DCAT; and its index.
 *
 * @param id what the catalog is called where it is asked like a dataset
 * @param figures of the use of each entry, by its id
 */
export function catalogGraphs(
  entries: readonly ServedDataset[],
  base: string,
  version: string,
  id = CATALOG_ID,
  figures?: ReadonlyMap<string, Metas[string]>,
): { readonly served: ServedCatalog; readonly sources: readonly GraphSource[] } {
  const fields = catalogFields(entries, figures === undefined ? [] : FIGURE_FIELDS)
  const records = entries.map((entry, position) =>
    catalogRecord(entry, position, fields, figures?.get(entry.dataset.id)),
  )
  const made = { dataset: { id, fields }, records, base, version, published: EPOCH, isSearched }
  const { target, sources } = madeGraphs(made, ({ position }, facts) => {
    const entry = entries[position]
    if (entry !== undefined) describe(entry, base, facts)
  })
  const counted = figures === undefined ? {} : { figures }
  return { served: { version, entries, target, ...counted }, sources }
}

/** A word of a dataset's mapping is not what somebody looks for who looks for datasets. */
function isSearched({ name }: Field): boolean {
  return !name.startsWith('semantic.')
}

/** A dataset in DCAT (W3C DCAT 3, section 6.6). */
function describe({ dataset, published }: ServedDataset, base: string, out: TripleText): void {
  const subject = iriText(datasetIri(base, dataset.id))
  const metas = dataset.metas.default ?? {}
  const lines = [
    `${subject} <${RDF.type}> <${DCAT.Dataset}> .\n`,
    `${subject} <${DCTERMS.identifier}> ${literalText(dataset.id)} .\n`,
    `${subject} <${DCTERMS.modified}> ${literalText(published, XSD.dateTime)} .\n`,
  ]
  if (typeof metas.title === 'string')
    lines.push(`${subject} <${DCTERMS.title}> ${literalText(metas.title)} .\n`)
  if (typeof metas.description === 'string')
    lines.push(`${subject} <${DCTERMS.description}> ${literalText(metas.description)} .\n`)
  if (Array.isArray(metas.keyword))
    for (const keyword of metas.keyword)
      lines.push(`${subject} <${DCAT.keyword}> ${literalText(String(keyword))} .\n`)
  out.add(lines.join(''), lines.length)
}

/** The catalog has no timestamp of its own: its queries know no technical fields. */
const EPOCH = '1970-01-01T00:00:00Z'

/** What queries of a catalog without datasets are asked of: graphs that are never loaded. */
export function emptyTarget(base: string, id = CATALOG_ID): CompileTarget {
  const graphs = { facts: graphIri(id, 'empty', 'facts'), index: graphIri(id, 'empty', 'index') }
  return {
    base,
    dataset: { id, fields: catalogFields([]) },
    graphs,
    statistics: { records: 0, fields: {} },
    published: EPOCH,
  }
}
