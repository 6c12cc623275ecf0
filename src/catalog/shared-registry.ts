import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../errors.ts'
import type { FieldType } from '../model/field.ts'
import { fieldIri } from '../rdf/iris.ts'
import { parseTriples } from '../rdf/ntriples-reader.ts'
import { GEO, INDEX, RDF, XSD } from '../rdf/vocab.ts'
import type { GraphKnowledge, SharedStore } from '../store/remote/remote.ts'
import type { LoadProgress } from '../store/store.ts'
import type { Registry } from './registry.ts'
import { type Release, Releases, type StoredVersion } from './releases.ts'
import { graphSources } from './served.ts'
import { type Manifest, removedIds, VERSION_FORMAT, type Versions } from './versions.ts'

/** Milliseconds for which somebody who loads a version has it for himself, and after which he says so again. */
const LEASE = 30_000
const RENEWAL = 10_000
/** Milliseconds after which a version that is not in force answers no queries, and those after which its graphs go. */
const RETIRED = 60_000
const DROPPED = 90_000
/** Milliseconds for which what the store said of versions is good. */
const STALE = 5000
/** Ids of removed records that other instances are told. */
const REMOVED_TOLD = 20_000
/** Pieces of a load between two notes of how far it is. */
const NOTED = 4

/** What is kept in the store for a version: all that an instance without its files needs. */
interface VersionDocument {
  readonly manifest: Manifest
  readonly graphs: Readonly<Record<string, Omit<GraphKnowledge, 'types'>>>
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
  /** Milliseconds since 1970; the clocks of all instances are taken to agree within some seconds. */
  readonly now: () => number
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
  #read = 0
  #reading: Promise<ReadonlyMap<string, Release>> | null = null
  #known: ReadonlyMap<string, Release> = new Map()
  #hadReleases = false
  readonly #removed = new Map<string, ReadonlySet<string>>()
  /** When the versions that this instance served were replaced, as it saw it, by their graphs. */
  readonly #retired = new Map<string, number>()
  readonly #served = new Map<string, { readonly version: string; readonly graphs: readonly string[] }>()

  constructor({ store, base, now }: SharedRegistryOptions) {
    this.#store = store
    this.#releases = new Releases(store, base)
    this.#now = now
    store.guard(graphs => this.#check(graphs))
  }

  async current(): Promise<ReadonlyMap<string, string>> {
    const current = new Map<string, string>()
    for (const { dataset, version } of (await this.#poll()).values())
      if (version !== null) current.set(dataset, version)
    return current
  }

  async manifest(dataset: string, version: string): Promise<Manifest | null> {
    const text = await this.#releases.document(dataset, version)
    if (text === null) return null
    const { manifest, graphs, removed } = JSON.parse(text) as VersionDocument
    if (manifest.format !== VERSION_FORMAT) return null
    this.#removed.set(dataset, new Set(removed))
    const types = typesOf(manifest)
    this.#store.learn(Object.entries(graphs).map(([graph, known]) => [graph, { ...known, types }] as const))
    this.#serves(dataset, version, Object.keys(graphs))
    return manifest
  }

  sources(): readonly never[] {
    return []
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
    return version === null ? null : this.manifest(dataset, version)
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
    const known = new Map(stored.flatMap(({ dataset, loaded }) => (dataset === id ? [...loaded] : [])))
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
            onProgress({ quads: done + lines, total })
            if (pieces % NOTED === 0)
              await this.#releases.insert([this.#releases.progress(id, version, graph, pieces)])
          },
        })
        const count = await this.#checked(source, uploaded.samples, isRepeating(manifest, graph))
        const knowledge = { triples: count, exceptions: uploaded.exceptions }
        known.set(graph, knowledge)
        await this.#releases.insert([this.#releases.loaded(id, version, graph, knowledge)])
      } else await this.#releases.insert([this.#releases.loaded(id, version, graph, found)])
      before += triples
      onProgress({ quads: before, total })
    }
    const document: VersionDocument = {
      manifest,
      graphs: Object.fromEntries([...known].filter(([graph]) => graphs.includes(graph))),
      removed: [...removedIds(versions, id)].slice(-REMOVED_TOLD),
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
      for (const { subject, predicate, object } of parseTriples(samples.join('')))
        if ((await this.#store.count(graph, { subject, predicate, object })) === 0) refuse('a piece')
      return triples
    }
    const count = await this.#store.count(graph, {}, { deadline: COUNTING })
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

/** The datatypes of what queries of records read. */
function typesOf({ base, dataset, content }: Manifest): Readonly<Record<string, string>> {
  if (content === 'rdf') return {}
  return {
    [INDEX.position]: XSD.integer,
    [INDEX.text]: XSD.string,
    [INDEX.json]: RDF.JSON,
    [INDEX.positions]: XSD.string,
    ...Object.fromEntries(
      dataset.fields.map(({ name, type }) => [fieldIri(base, dataset.id, name), datatypeOf(type)]),
    ),
  }
}

function datatypeOf(type: FieldType): string {
  switch (type) {
    case 'text':
      return XSD.string
    case 'int':
      return XSD.integer
    case 'double':
      return XSD.double
    case 'boolean':
      return XSD.boolean
    case 'date':
      return XSD.date
    case 'datetime':
      return XSD.dateTime
    case 'geo_point_2d':
    case 'geo_shape':
      return GEO.wktLiteral
    default:
      return type satisfies never
  }
}
