import { type Mapping, usedClasses, usedProperties } from '../mapping/ir.ts'
import type { Dataset } from '../model/dataset.ts'
import type { Registry } from '../publishing/registry/registry.ts'
import { dumpOf, graphName } from '../publishing/versions/graph-sources.ts'
import {
  graphPath,
  type PublishedMapping,
  removedIds,
  type VersionManifest,
  type Versions,
} from '../publishing/versions/versions.ts'
import type { CompileTarget } from '../query/compile/target.ts'
import { fieldIri, type GraphRole } from '../rdf/minted-iris.ts'
import { datasetPrefixes, INITIAL_CONTEXT } from '../rdf/prefixes.ts'
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
  readonly content: VersionManifest['content']
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
  manifest: VersionManifest,
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
