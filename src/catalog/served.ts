import type { Mapping } from '../mapping/ir.ts'
import { usedClasses, usedProperties } from '../mapping/vocabulary.ts'
import type { Dataset } from '../model/dataset.ts'
import type { Registry } from '../publishing/registry/registry.ts'
import { dumpOf, graphName } from '../publishing/versions/graph-sources.ts'
import {
  graphPath,
  type Manifest,
  type PublishedMapping,
  removedIds,
  type Versions,
} from '../publishing/versions/versions.ts'
import type { CompileTarget } from '../query/compile/target.ts'
import { INITIAL_CONTEXT } from '../rdf/initial-context.ts'
import { fieldIri, type GraphRole } from '../rdf/minted-iris.ts'
import { datasetPrefixes } from '../rdf/prefixes.ts'
import type { CatalogEntry } from './catalog-dataset.ts'

/** A dataset as it is served: one published version, loaded, with everything that a query needs. */
export interface ServedDataset extends CatalogEntry {
  readonly dataset: Dataset
  readonly version: string
  readonly target: CompileTarget
  /** Graph that fragments, exports and dereferencing read: what its own mapping says of it, else the facts. */
  readonly resources: string
  readonly triples: number
  /** The gzip-compressed N-Triples of this graph, as they were published; null where it is made in memory. */
  readonly dump: string | null
  /** What the dataset is: records with fields, or RDF, which has triples alone. */
  readonly content: Manifest['content']
  /** The dataset's own mapping; null for the direct mapping. */
  readonly mapping: PublishedMapping | null
  /** The prefixes under which its triples are written. */
  readonly prefixes: Readonly<Record<string, string>>
  /** The graphs that a file of RDF names, or a mapping: their IRIs, and the names under which the store has them. */
  readonly named: readonly { readonly name: string; readonly graph: string }[]
  /** The default graph beside the named graphs, as stored; null where there are no named graphs. */
  readonly unnamed: string | null
  /** True for the id of a record that the dataset had once and has no more, as far as that is remembered. */
  readonly removed: (recordId: string) => boolean
}

/** A dataset of records that has no file and no past: what is made in memory. */
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

/** What is served of a published version once its graphs are loaded. */
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

/** The prefixes that a mapping declares, and of those that everyone knows the ones whose names it uses. */
function prefixesOf(mapping: Mapping): Readonly<Record<string, string>> {
  const used = [...usedClasses(mapping), ...usedProperties(mapping)]
  const common = Object.entries(INITIAL_CONTEXT).filter(([, space]) =>
    used.some(iri => iri.startsWith(space)),
  )
  return { ...Object.fromEntries(common), ...mapping.prefixes }
}

/** The metadata of a dataset have no longer mapping in them, for every list of datasets has them. */
const MAX_REPORTED_LENGTH = 20_000

/** What the triples of a dataset are made of: what its mapping uses, or what the direct mapping does. */
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
