import { statSync } from 'node:fs'
import path from 'node:path'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import type { Mapping } from '../mapping/ir.ts'
import { usedClasses, usedProperties } from '../mapping/vocabulary.ts'
import type { Dataset } from '../model/dataset.ts'
import type { Registry } from '../publishing/registry/registry.ts'
import { dumpOf, graphName } from '../publishing/versions/graph-sources.ts'
import { unknownVersion } from '../publishing/versions/roll-back.ts'
import {
  graphPath,
  isWhole,
  type Manifest,
  type PublishedMapping,
  removedIds,
  retainedVersions,
  type Versions,
} from '../publishing/versions/versions.ts'
import type { CompileTarget } from '../query/compile/target.ts'
import { fieldIri, type GraphRole } from '../rdf/minted-iris.ts'
import { datasetPrefixes, INITIAL_CONTEXT } from '../rdf/prefixes.ts'
import type { Store } from '../store/store.ts'
import type { CatalogEntry } from './catalog-dataset.ts'

/** A dataset that is served: one published version, loaded, with everything that a query needs. */
export interface ServedDataset extends CatalogEntry {
  readonly dataset: Dataset
  readonly version: string
  readonly target: CompileTarget
  /** Graph for fragments, exports and dereferencing: that of its own mapping, else the facts. */
  readonly resources: string
  readonly triples: number
  /** The gzip-compressed N-Triples of this graph, as published; null if it is generated in memory. */
  readonly dump: string | null
  /** The content of the dataset: records with fields, or RDF, which has triples alone. */
  readonly content: Manifest['content']
  /** The dataset's own mapping; null for the direct mapping. */
  readonly mapping: PublishedMapping | null
  /** The prefixes of its serialised triples. */
  readonly prefixes: Readonly<Record<string, string>>
  /** The named graphs of an RDF file or a mapping: their IRIs, and their names in the store. */
  readonly named: readonly { readonly name: string; readonly graph: string }[]
  /** The default graph alongside named graphs, as stored; null if there are no named graphs. */
  readonly unnamed: string | null
  /** True for the id of a removed record, as far as it is remembered. */
  readonly removed: (recordId: string) => boolean
}

/** A dataset of records without file and history, generated in memory. */
export const IN_MEMORY: Pick<
  ServedDataset,
  'dump' | 'content' | 'mapping' | 'prefixes' | 'named' | 'unnamed' | 'removed'
> = {
  dump: null,
  content: 'records',
  mapping: null,
  prefixes: {},
  named: [],
  unnamed: null,
  removed: () => false,
}

/** The served dataset of a published version whose graphs are loaded. */
export function servedDataset(
  versions: Versions,
  manifest: Manifest,
  registry: Pick<Registry, 'removed'>,
): ServedDataset {
  const { base, dataset, version, statistics, mapping, content } = manifest
  let removed: ReadonlySet<string> | null = null
  const served = manifest.graphs.find(({ role }) => role === (mapping === null ? 'facts' : 'mapped'))
  const nameOf = (role: GraphRole) => {
    const file = manifest.graphs.find(each => each.role === role)
    return graphName(manifest, file ?? { role })
  }
  const graphs = { facts: nameOf('facts') }
  return {
    dataset,
    version,
    statistics,
    published: manifest.published,
    resources: mapping === null ? graphs.facts : nameOf('mapped'),
    triples: served?.triples ?? 0,
    dump: served === undefined ? null : dumpOf(graphPath(versions, manifest, served.file)),
    content,
    mapping,
    prefixes: datasetPrefixes(base, dataset.id, mapping === null ? {} : prefixesOf(mapping.mapping)),
    ...(content === 'rdf' ? {} : { semantic: semanticMetas(base, dataset, mapping) }),
    named: manifest.graphs.flatMap(file =>
      file.name === undefined ? [] : [{ name: file.name, graph: graphName(manifest, file) }],
    ),
    unnamed: manifest.graphs.some(({ role }) => role === 'unnamed') ? nameOf('unnamed') : null,
    removed: recordId => {
      removed ??= registry.removed(dataset.id) ?? removedIds(versions, dataset.id)
      return removed.has(recordId)
    },
    target: { base, dataset, graphs, statistics, published: manifest.published },
  }
}

/** The graphs that the store holds for a dataset. */
export function graphsOf({ target, resources, named, unnamed }: ServedDataset): readonly string[] {
  const own = [...named.map(({ graph }) => graph), ...(unnamed === null ? [] : [unnamed])]
  return [target.graphs.facts, resources, ...own]
}

/** The prefixes that a mapping declares, and those well-known ones whose namespaces it uses. */
function prefixesOf(mapping: Mapping): Readonly<Record<string, string>> {
  const used = [...usedClasses(mapping), ...usedProperties(mapping)]
  const common = Object.entries(INITIAL_CONTEXT).filter(([, space]) =>
    used.some(iri => iri.startsWith(space)),
  )
  return { ...Object.fromEntries(common), ...mapping.prefixes }
}

/** Maximum length of a mapping in the metadata of a dataset, because every list of datasets contains them. */
const MAX_REPORTED_LENGTH = 20_000

/** The vocabulary of the triples of a dataset: that of its mapping, or of the direct mapping. */
function semanticMetas(
  base: string,
  { id, fields }: Dataset,
  mapping: PublishedMapping | null,
): NonNullable<CatalogEntry['semantic']> {
  if (mapping === null) {
    const properties = fields.map(({ name }) => fieldIri(base, id, name))
    return { rml_mapping: null, classes: [], properties }
  }
  const { text, mapping: used } = mapping
  return {
    rml_mapping: text.length > MAX_REPORTED_LENGTH ? null : text,
    classes: usedClasses(used),
    properties: usedProperties(used),
  }
}

/** Maximum number of unused versions that stay open. */
const MAX_IDLE = 16

/** Milliseconds for which a list is valid while the folder is unchanged: files in its subfolders may be removed meanwhile. */
const LIST_LIFE = 1000

/** A retained version in use: it stays open until it is released. */
export interface OpenVersion {
  readonly entry: ServedDataset
  readonly release: () => void
}

interface Opened {
  readonly entry: ServedDataset
  readonly loading: Promise<void>
  readers: number
}

export interface RetainedVersionsOptions {
  /** Two versions may share graphs: the store loads each once. */
  readonly store: Store
  readonly versions: Versions
  readonly registry: Registry
  readonly base: string
}

/** The versions of datasets that are retained on disk in addition to those in force; their columns are opened on demand. */
export class RetainedVersions {
  private readonly options: RetainedVersionsOptions
  private readonly open = new Map<string, Opened>()
  private readonly lists = new Map<string, { mark: number; read: number; manifests: readonly Manifest[] }>()

  constructor(options: RetainedVersionsOptions) {
    this.options = options
  }

  /** The queryable versions of a dataset, the one in force first, then from the latest to the oldest. */
  list(id: string): readonly Manifest[] {
    const { versions, base } = this.options
    const mark = statSync(path.join(versions.root, id), { throwIfNoEntry: false })?.mtimeMs ?? 0
    const known = this.lists.get(id)
    const now = Date.now()
    if (known !== undefined && known.mark === mark && now - known.read < LIST_LIFE) return known.manifests
    const manifests = retainedVersions(versions, id).filter(
      each => each.base === base && isWhole(versions, each),
    )
    if (manifests.length === 0) this.lists.delete(id)
    else this.lists.set(id, { mark, read: now, manifests })
    return manifests
  }

  /** Opens a version. Faults: VersionUnknown. */
  async opened(id: string, version: string): Promise<OpenVersion> {
    const key = `${id} ${version}`
    const manifests = this.list(id)
    const manifest = manifests.find(each => each.version === version)
    if (manifest === undefined) throw unknownVersion(id, version, manifests)
    const found = this.open.get(key) ?? this.load(manifest)
    this.open.delete(key)
    this.open.set(key, found)
    found.readers += 1
    let isReleased = false
    const release = () => {
      if (isReleased) return
      isReleased = true
      found.readers -= 1
      this.closeIdle()
    }
    try {
      await found.loading
    } catch (error) {
      release()
      throw error
    }
    return { entry: found.entry, release }
  }

  /** An open version; undefined if it is not open. */
  find(id: string, version: string): ServedDataset | undefined {
    return this.open.get(`${id} ${version}`)?.entry
  }

  private load(manifest: Manifest): Opened {
    const { store, versions, registry } = this.options
    const key = `${manifest.dataset.id} ${manifest.version}`
    const loading = store.load(registry.sources(manifest))
    const opened: Opened = { entry: servedDataset(versions, manifest, registry), loading, readers: 0 }
    loading.catch(() => {
      if (this.open.get(key) === opened) this.open.delete(key)
    })
    this.open.set(key, opened)
    return opened
  }

  private closeIdle(): void {
    let idle = [...this.open.values()].filter(({ readers }) => readers === 0).length
    for (const [key, { readers, entry }] of this.open) {
      if (idle <= MAX_IDLE) return
      if (readers > 0) continue
      this.open.delete(key)
      idle -= 1
      void ignoreRejection(
        this.options.store.drop(graphsOf(entry)),
        'a shared store is swept, one of this process is gone',
      )
    }
  }
}
