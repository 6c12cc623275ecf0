import { Fault } from '../../errors/errors.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import { parseTriples } from '../../rdf/ntriples-reader.ts'
import { inGraph, select, triple, variable } from '../../sparql/build.ts'
import { LOAD_REFUSED } from '../../store/faults.ts'
import { countOf, type SharedStore } from '../../store/remote/remote.ts'
import type { LoadProgress } from '../../store/store.ts'
import { graphSources } from '../versions/graph-sources.ts'
import { type Manifest, removedIds, type Versions } from '../versions/versions.ts'
import type { Releases, StoredVersion } from './releases.ts'

/** Duration of a lease for loading a version in milliseconds, and interval of its renewal. */
const LEASE = 30_000
const RENEWAL = 10_000
/** Maximum ids of removed records that other instances receive. */
const REMOVED_REPORTED = 20_000
/** Pieces of a load between two progress records. */
const NOTED = 4

/** Timeout in milliseconds for counting a loaded graph. */
const COUNTING = 1_800_000
/** Maximum triples of a graph that are all counted. */
const COUNTED = 2_000_000

/** The document of a version in the store: all that an instance without its files needs. */
export interface VersionDocument {
  readonly manifest: Manifest
  readonly removed: readonly string[]
}

/** A version to be loaded, and what of it and of others is already in the store. */
export interface VersionLoad {
  readonly versions: Versions
  readonly manifest: Manifest
  readonly mine: StoredVersion | undefined
  readonly stored: readonly StoredVersion[]
  readonly onProgress: (progress: LoadProgress) => void
}

/** Loads versions into a shared store, under leases, and verifies that the engine has the triples. */
export class VersionLoader {
  private readonly store: SharedStore
  private readonly releases: Releases
  private readonly now: () => number

  constructor(store: SharedStore, releases: Releases, now: () => number) {
    this.store = store
    this.releases = releases
    this.now = now
  }

  /** Loads a version under a lease that is renewed meanwhile. */
  async load(load: VersionLoad): Promise<void> {
    const { manifest, mine } = load
    const { version } = manifest
    const { id } = manifest.dataset
    const leases = (mine?.triples ?? []).filter(({ predicate }) =>
      /#(?:lease|replaced)$/.test(predicate.value),
    )
    let lease = await this.releases.lease(id, version, this.now() + LEASE, leases)
    let renewing = Promise.resolve()
    const renewal = setInterval(() => {
      renewing = ignoreRejection(
        renewing.then(async () => {
          lease = await this.releases.lease(id, version, this.now() + LEASE, [lease])
        }),
        'the next renewal tries again, and who finds the lease ended goes on',
      )
    }, RENEWAL)
    try {
      await this.fill(load)
    } finally {
      clearInterval(renewal)
      await renewing
    }
  }

  /** Loads the missing graphs of a version, and stores its document. */
  private async fill({ versions, manifest, mine, stored, onProgress }: VersionLoad): Promise<void> {
    const { version } = manifest
    const { id } = manifest.dataset
    const sources = graphSources(versions, manifest)
    const known: Map<string, number> = new Map(
      stored.flatMap(({ dataset, loaded }) => (dataset === id ? [...loaded] : [])),
    )
    const graphs = sources.map(({ graph }) => graph)
    await this.releases.insert(this.releases.graphsOf(id, version, graphs))
    const total = sources.reduce((sum, { triples }) => sum + triples, 0)
    let before = 0
    for (const source of sources) {
      const { graph, triples } = source
      const found = known.get(graph)
      if (found === undefined) {
        const done = before
        const uploaded = await this.store.upload(source, {
          done: mine?.progress.get(graph) ?? 0,
          onPiece: async ({ pieces, lines }) => {
            onProgress({ triples: done + lines, total })
            if (pieces % NOTED === 0)
              await this.releases.insert([this.releases.progress(id, version, graph, pieces)])
          },
        })
        const count = await this.checked(source, uploaded.samples, isRepeating(manifest, graph))
        known.set(graph, count)
        await this.releases.insert([this.releases.loaded(id, version, graph, count)])
      } else await this.releases.insert([this.releases.loaded(id, version, graph, found)])
      before += triples
      onProgress({ triples: before, total })
    }
    const document: VersionDocument = {
      manifest,
      removed: [...removedIds(versions, id)].slice(-REMOVED_REPORTED),
    }
    await this.releases.keepDocument(id, version, JSON.stringify(document))
  }

  /** Verifies that the engine has the loaded triples, and returns their number. Faults: LoadRefused. */
  private async checked(
    { graph, triples }: { readonly graph: string; readonly triples: number },
    samples: readonly string[],
    isRepeated: boolean,
  ): Promise<number> {
    const refuse = (what: string) => {
      throw new Fault(LOAD_REFUSED, { reason: `the engine lacks ${what} of ${graph}` })
    }
    if (triples > COUNTED && !isRepeated) {
      // Counting takes some engines minutes; the end of each piece shows whether it was loaded.
      const object = variable('object')
      for (const { subject, predicate } of parseTriples(samples.join(''))) {
        const where = inGraph(graph, triple(subject, predicate, object))
        if ((await this.store.read(select([object], where, { limit: 1 }))).length === 0) refuse('a piece')
      }
      return triples
    }
    const [row] = await this.store.read(countOf(graph), COUNTING)
    const count = Number(row?.count?.value ?? 0)
    if (count > triples || (count < triples && !isRepeated))
      refuse(`${triples - count} of ${triples} triples`)
    return count
  }
}

/** Files of facts may repeat triples of multivalued fields; all other files have each triple once. */
function isRepeating({ dataset, content }: Manifest, graph: string): boolean {
  return (
    content === 'records' && graph.endsWith(':facts') && dataset.fields.some(({ multivalued }) => multivalued)
  )
}
