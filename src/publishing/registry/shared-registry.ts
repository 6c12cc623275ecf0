import { existsSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault, faultText } from '../../errors/errors.ts'
import { parseTriples } from '../../rdf/ntriples-reader.ts'
import { inGraph, triple, variable } from '../../sparql/build.ts'
import { buildColumnsAside } from '../../store/columns/build/builder-thread.ts'
import { columnsProblem } from '../../store/columns/sections.ts'
import { countOf, type FileSource, type SharedStore } from '../../store/remote/remote.ts'
import type { LoadProgress } from '../../store/store.ts'
import { graphSources } from '../versions/graph-sources.ts'
import { type Manifest, removedIds, VERSION_FORMAT, type Versions } from '../versions/versions.ts'
import type { Registry } from './registry.ts'
import { type Release, Releases, type StoredVersion } from './releases.ts'

/** Milliseconds for which somebody who loads a version has it for himself, and after which he says so again. */
const LEASE = 30_000
const RENEWAL = 10_000
/** Milliseconds after which a version that is not in force answers no queries, and those after which its graphs go. */
const RETIRED = 60_000
const DROPPED = 90_000
/** Milliseconds for which what the store said of versions is good. */
const STALE = 5000
/** Milliseconds after which columns that could not be fetched are fetched again. */
const PAUSE = 5000
/** Ids of removed records that other instances are notified of. */
const REMOVED_REPORTED = 20_000
/** Pieces of a load between two notes of how far it is. */
const NOTED = 4

/** What is stored in the store for a version: all that an instance without its files needs. */
interface VersionDocument {
  readonly manifest: Manifest
  readonly removed: readonly string[]
}

/** A version that is to be loaded, and what is there of it and of others. */
interface Load {
  readonly versions: Versions
  readonly manifest: Manifest
  readonly mine: StoredVersion | undefined
  readonly stored: readonly StoredVersion[]
  readonly onProgress: (progress: LoadProgress) => void
}

export interface SharedRegistryOptions {
  readonly store: SharedStore
  readonly base: string
  /** What this instance has published. */
  readonly versions: Versions
  /** Where the columns of versions are that others have published. */
  readonly folder: string
  /** Milliseconds since 1970; the clocks of all instances are taken to agree within some seconds. */
  readonly now: () => number
  readonly onEvent?: (event: { readonly event: string; readonly reason: string }) => void
}

/**
 * The versions in force in a store that several instances share. Each instance may publish: a version is loaded under names
 * of its own, which nobody asks for, and put in force by one triple. Whoever dies while he loads leaves a lease that ends;
 * who comes next goes on where it stopped, or the graphs are dropped.
 */
export class SharedRegistry implements Registry {
  readonly #store: SharedStore
  readonly #releases: Releases
  readonly #now: () => number
  readonly #versions: Versions
  readonly #folder: string
  /** Versions whose columns are on their way. */
  readonly #coming = new Map<string, Promise<void>>()
  /** When what could not be fetched is tried again. */
  readonly #tryAgain = new Map<string, number>()
  /** Datasets whose version in force this program cannot read. */
  readonly #unreadable = new Set<string>()
  /** The graphs whose columns the engine has, asked for once: whoever publishes does so once. */
  #withColumns: Promise<ReadonlySet<string>> | null = null
  readonly #onEvent: (event: { readonly event: string; readonly reason: string }) => void
  #read = 0
  #reading: Promise<ReadonlyMap<string, Release>> | null = null
  #known: ReadonlyMap<string, Release> = new Map()
  #hadReleases = false
  readonly #removed = new Map<string, ReadonlySet<string>>()
  /** When the versions that this instance served were replaced, as it saw it, by their graphs. */
  readonly #retired = new Map<string, number>()
  readonly #served = new Map<string, { readonly version: string; readonly graphs: readonly string[] }>()

  constructor({ store, base, versions, folder, now, onEvent = () => undefined }: SharedRegistryOptions) {
    this.#onEvent = onEvent
    this.#store = store
    this.#releases = new Releases(store, base)
    this.#now = now
    this.#versions = versions
    this.#folder = folder
    store.guard(graphs => this.#check(graphs))
  }

  async current(): Promise<ReadonlyMap<string, string>> {
    const current = new Map<string, string>()
    for (const { dataset, version } of (await this.#poll()).values())
      if (version !== null) current.set(dataset, version)
    return current
  }

  async manifest(dataset: string, version: string): Promise<Manifest | null> {
    const found = await this.#document(dataset, version)
    if (found === null || !this.#isHere(found.manifest)) return null
    const { manifest, removed } = found
    this.#removed.set(dataset, new Set(removed))
    const graphs = this.sources(manifest).map(({ graph }) => graph)
    this.#serves(dataset, version, graphs)
    return manifest
  }

  /** What is stored for a version; null for none, or one of another format. */
  async #document(dataset: string, version: string): Promise<VersionDocument | null> {
    const text = await this.#releases.document(dataset, version)
    const found = text === null ? null : (JSON.parse(text) as VersionDocument)
    if (found?.manifest.format === VERSION_FORMAT) {
      this.#unreadable.delete(dataset)
      return found
    }
    this.#unreadable.add(dataset)
    return null
  }

  sources(manifest: Manifest): readonly FileSource[] {
    return graphSources(this.#versions, manifest).map(source =>
      columnsProblem(source.columns) === null ? source : { ...source, columns: this.#fileOf(source.graph) },
    )
  }

  isComing(dataset: string): boolean {
    return (this.#known.get(dataset)?.version ?? null) !== null && !this.#unreadable.has(dataset)
  }

  #fileOf(graph: string): string {
    return path.join(this.#folder, `${encodeURIComponent(graph)}.columns`)
  }

  /** True where this instance has the columns of a version; else they are fetched meanwhile. */
  #isHere(manifest: Manifest): boolean {
    const { id } = manifest.dataset
    const missing = this.sources(manifest).filter(({ columns }) => columnsProblem(columns) !== null)
    if (missing.length === 0) return true
    // What cannot be fetched now is tried again after a while.
    if (!this.#coming.has(id) && (this.#tryAgain.get(id) ?? 0) <= this.#now())
      this.#coming.set(
        id,
        this.#fetch(manifest, missing).then(
          () => {
            this.#coming.delete(id)
            this.#tryAgain.delete(id)
          },
          (error: unknown) => {
            this.#coming.delete(id)
            this.#tryAgain.set(id, this.#now() + PAUSE)
            this.#onEvent({ event: 'columns not fetched', reason: `${id}: ${errorText(error)}` })
          },
        ),
      )
    return false
  }

  /** Gets columns, one graph after another: each may be large. */
  async #fetch({ dataset, version }: Manifest, missing: readonly FileSource[]): Promise<void> {
    const { versions } = await this.#releases.state()
    const mine = versions.find(each => each.dataset === dataset.id && each.version === version)
    for (const { graph, columns, path, isSearched } of missing)
      if (path === null)
        await this.#store.fetch({ graph, columns, isSearched, stored: mine?.loaded.get(graph) ?? null })
      else await buildColumnsAside(path, columns, { isSearched })
  }

  /** Puts the columns of a version whose files are here into the engine where it has lost them. */
  async restore(versions: Versions, manifest: Manifest): Promise<void> {
    this.#withColumns ??= this.#store.withColumns()
    const there = await this.#withColumns
    for (const source of graphSources(versions, manifest))
      if (source.path !== null && !there.has(source.graph)) await this.#store.sendColumns(source)
  }

  damage(): Promise<null> {
    return Promise.resolve(null)
  }

  withdrawn(dataset: string): 'open' | 'secret' | null {
    const withdrawn = this.#known.get(dataset)?.withdrawn ?? null
    return withdrawn === 'forgotten' ? null : withdrawn
  }

  removed(dataset: string): ReadonlySet<string> | null {
    return this.#removed.get(dataset) ?? null
  }

  /** The manifest in force, asked anew; null for none. */
  async inForce(dataset: string): Promise<Manifest | null> {
    const version = (await this.#poll()).get(dataset)?.version ?? null
    return version === null ? null : ((await this.#document(dataset, version))?.manifest ?? null)
  }

  async isWithdrawn(dataset: string): Promise<boolean> {
    const release = (await this.#poll()).get(dataset)
    return release?.withdrawn === 'open' || release?.withdrawn === 'secret'
  }

  /**
   * Loads a version whose files are here and puts it in force. Where the one in force was made of the same, nothing is
   * done; where somebody else is loading the same, that is waited for. Faults: LoadRefused, StoreUnavailable; what is
   * loaded then is gone on with the next time.
   */
  async release(
    versions: Versions,
    manifest: Manifest,
    onProgress: (progress: LoadProgress) => void = () => undefined,
  ): Promise<'released' | 'unchanged'> {
    const { id } = manifest.dataset
    for (;;) {
      const { releases, versions: stored } = await this.#releases.state()
      const inForce = releases.get(id)
      if (inForce?.version != null && sameContent(inForce.version, manifest.version)) return 'unchanged'
      const other = stored.find(
        each =>
          each.dataset === id &&
          each.version !== manifest.version &&
          sameContent(each.version, manifest.version) &&
          each.lease > this.#now(),
      )
      if (other === undefined) {
        const mine = stored.find(each => each.dataset === id && each.version === manifest.version)
        await this.#load({ versions, manifest, mine, stored, onProgress })
        await this.#putInForce(id, manifest.version)
        return 'released'
      }
      await sleep(1000)
    }
  }

  /** Takes a dataset out of service. */
  async withdraw(dataset: string, withdrawn: NonNullable<Release['withdrawn']>): Promise<boolean> {
    const before = (await this.#releases.current()).get(dataset)
    if (before === undefined || before.version === null) return false
    await this.#releases.release({ dataset, number: before.number + 1, version: null, withdrawn })
    await this.#markReplaced(dataset, before.version)
    return true
  }

  /**
   * Drops what nobody needs any more: versions that were replaced a while ago, and those that somebody began to load and
   * gave up. Every instance does it; doing it twice does no harm.
   */
  async sweep(): Promise<readonly string[]> {
    const { releases, versions, outdated } = await this.#releases.state()
    const now = this.#now()
    const isInForce = ({ dataset, version }: StoredVersion) => releases.get(dataset)?.version === version
    const isOver = (each: StoredVersion) =>
      !isInForce(each) && each.lease < now && each.replaced !== null && each.replaced + DROPPED < now
    for (const each of versions)
      if (!isInForce(each) && each.lease < now && each.replaced === null)
        await this.#releases.insert([this.#releases.replaced(each.dataset, each.version, now)])
    const over = versions.filter(isOver)
    const needed = new Set(versions.filter(each => !isOver(each)).flatMap(({ graphs }) => graphs))
    for (const each of over) {
      await this.#store.dropShared(each.graphs.filter(graph => !needed.has(graph)))
      await this.#releases.forget(each)
    }
    await this.#releases.remove(outdated)
    this.#tidy(needed)
    return over.map(({ dataset, version }) => `${dataset} ${version}`)
  }

  /** True where the store has nothing of this portal, though it had: it was emptied, or is another one. */
  isLost(): boolean {
    return this.#hadReleases && this.#known.size === 0
  }

  /** How many versions are in force, are being loaded, or wait for their end. */
  async figures(): Promise<{ readonly inForce: number; readonly loading: number; readonly over: number }> {
    const { releases, versions } = await this.#releases.state()
    const others = versions.filter(each => releases.get(each.dataset)?.version !== each.version)
    const loading = others.filter(({ lease }) => lease > this.#now()).length
    const inForce = [...releases.values()].filter(({ version }) => version !== null).length
    return { inForce, loading, over: others.length - loading }
  }

  /** What the store says, or said a moment ago where others are asking already. */
  #poll(): Promise<ReadonlyMap<string, Release>> {
    this.#reading ??= this.#releases
      .current()
      .then(releases => {
        this.#read = this.#now()
        for (const [dataset, { version, graphs }] of this.#served)
          if (releases.get(dataset)?.version !== version) {
            for (const graph of graphs) if (!this.#retired.has(graph)) this.#retired.set(graph, this.#read)
            this.#served.delete(dataset)
          }
        this.#known = releases
        if (releases.size > 0) this.#hadReleases = true
        return releases
      })
      .finally(() => {
        this.#reading = null
      })
    return this.#reading
  }

  /** Rejects queries of graphs that may be gone: an instance that could not ask for a while does not know. */
  #check(graphs: ReadonlySet<string>): Promise<void> | void {
    if (graphs.has(this.#releases.graph)) return
    const refuse = () => {
      const now = this.#now()
      for (const graph of graphs)
        if (now > (this.#retired.get(graph) ?? Number.POSITIVE_INFINITY) + RETIRED - 2 * STALE)
          throw new Fault('StoreUnavailable', {
            reason: 'another version has taken the place of this one. Try again in a moment.',
          })
    }
    if (this.#now() - this.#read < STALE) return refuse()
    return this.#poll().then(refuse)
  }

  #serves(dataset: string, version: string, graphs: readonly string[]): void {
    this.#served.set(dataset, { version, graphs })
    for (const graph of graphs) this.#retired.delete(graph)
    for (const [graph, since] of this.#retired)
      if (since + 10 * DROPPED < this.#now()) this.#retired.delete(graph)
  }

  /** Loads a version under a lease that is renewed meanwhile. */
  async #load(load: Load): Promise<void> {
    const { manifest, mine } = load
    const { version } = manifest
    const { id } = manifest.dataset
    const leases = (mine?.triples ?? []).filter(({ predicate }) =>
      /#(?:lease|replaced)$/.test(predicate.value),
    )
    let lease = await this.#releases.lease(id, version, this.#now() + LEASE, leases)
    let renewing = Promise.resolve()
    const renewal = setInterval(() => {
      renewing = renewing
        .then(async () => {
          lease = await this.#releases.lease(id, version, this.#now() + LEASE, [lease])
        })
        .catch(() => undefined)
    }, RENEWAL)
    try {
      await this.#fill(load)
    } finally {
      clearInterval(renewal)
      await renewing
    }
  }

  /** Loads what is missing of a version, and says what it is. */
  async #fill({ versions, manifest, mine, stored, onProgress }: Load): Promise<void> {
    const { version } = manifest
    const { id } = manifest.dataset
    const sources = graphSources(versions, manifest)
    const known: Map<string, number> = new Map(
      stored.flatMap(({ dataset, loaded }) => (dataset === id ? [...loaded] : [])),
    )
    const graphs = sources.map(({ graph }) => graph)
    await this.#releases.insert(this.#releases.graphsOf(id, version, graphs))
    const total = sources.reduce((sum, { triples }) => sum + triples, 0)
    let before = 0
    for (const source of sources) {
      const { graph, triples } = source
      const found = known.get(graph)
      if (found === undefined) {
        const done = before
        const uploaded = await this.#store.upload(source, {
          done: mine?.progress.get(graph) ?? 0,
          onPiece: async ({ pieces, lines }) => {
            onProgress({ triples: done + lines, total })
            if (pieces % NOTED === 0)
              await this.#releases.insert([this.#releases.progress(id, version, graph, pieces)])
          },
        })
        const count = await this.#checked(source, uploaded.samples, isRepeating(manifest, graph))
        known.set(graph, count)
        await this.#releases.insert([this.#releases.loaded(id, version, graph, count)])
      } else await this.#releases.insert([this.#releases.loaded(id, version, graph, found)])
      before += triples
      onProgress({ triples: before, total })
    }
    const document: VersionDocument = {
      manifest,
      removed: [...removedIds(versions, id)].slice(-REMOVED_REPORTED),
    }
    await this.#releases.keepDocument(id, version, JSON.stringify(document))
  }

  /** Looks whether the engine has what was loaded, and gives the number of triples. Faults: LoadRefused. */
  async #checked(
    { graph, triples }: { readonly graph: string; readonly triples: number },
    samples: readonly string[],
    isRepeated: boolean,
  ): Promise<number> {
    const refuse = (what: string) => {
      throw new Fault('LoadRefused', { reason: `the engine lacks ${what} of ${graph}` })
    }
    if (triples > COUNTED && !isRepeated) {
      // Counting takes some engines minutes; what each piece ended with tells whether the pieces are there.
      const object = variable('object')
      for (const { subject, predicate } of parseTriples(samples.join(''))) {
        const where = [inGraph(graph, triple(subject, predicate, object))]
        const query = { type: 'select', projection: [{ variable: object }], where, limit: 1 } as const
        if ((await this.#store.read(query)).length === 0) refuse('a piece')
      }
      return triples
    }
    const [row] = await this.#store.read(countOf(graph), COUNTING)
    const count = Number(row?.count?.value ?? 0)
    if (count > triples || (count < triples && !isRepeated))
      refuse(`${triples - count} of ${triples} triples`)
    return count
  }

  async #putInForce(dataset: string, version: string): Promise<void> {
    const before = (await this.#releases.current()).get(dataset)
    await this.#releases.release({ dataset, number: (before?.number ?? 0) + 1, version, withdrawn: null })
    if (before?.version != null) await this.#markReplaced(dataset, before.version)
    const { versions } = await this.#releases.state()
    const mine = versions.find(each => each.dataset === dataset && each.version === version)
    // Nobody loads it any more; how far the load was is of no use.
    const over = (mine?.triples ?? []).filter(({ predicate }) => /#(?:lease|progress)$/.test(predicate.value))
    await this.#releases.remove(over)
  }

  /** Forgets the columns of graphs that nobody needs any more. */
  #tidy(needed: ReadonlySet<string>): void {
    if (!existsSync(this.#folder)) return
    const files = new Set([...needed].map(graph => path.basename(this.#fileOf(graph))))
    for (const file of readdirSync(this.#folder))
      if (file.endsWith('.columns') && !files.has(file))
        rmSync(path.join(this.#folder, file), { force: true })
  }

  #markReplaced(dataset: string, version: string): Promise<void> {
    return this.#releases.insert([this.#releases.replaced(dataset, version, this.#now())])
  }
}

/** Milliseconds for counting a graph that was loaded. */
const COUNTING = 1_800_000
/** Triples up to which all of them are counted. */
const COUNTED = 2_000_000

/** The name of a version ends in the digest of what it was made from. */
function sameContent(a: string, b: string): boolean {
  return a.slice(a.indexOf('-')) === b.slice(b.indexOf('-'))
}

/** Facts say a value that a field has twice once; all other files have each triple once. */
function isRepeating({ dataset, content }: Manifest, graph: string): boolean {
  return (
    content === 'records' && graph.endsWith(':facts') && dataset.fields.some(({ multivalued }) => multivalued)
  )
}

function errorText(error: unknown): string {
  return error instanceof Fault ? faultText(error) : String(error)
}
