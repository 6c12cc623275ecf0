import type { IncomingMessage } from 'node:http'
import path from 'node:path'
import type { QuadGraphs } from '../api/fragments/find-quads.ts'
import { graphCatalog, type QueriedDataset } from '../api/sparql/endpoint.ts'
import { QueryLog } from '../api/sparql/query-log.ts'
import { momentMeta } from '../catalog/catalog-dataset.ts'
import type { ServedDataset } from '../catalog/served.ts'
import type { DatasetList } from '../catalog/visible.ts'
import { datasetDescription } from '../catalog/void.ts'
import type { Config } from '../config/config.ts'
import { entityTag } from '../http/conditional.ts'
import { oncePerObject } from '../model/memoised.ts'
import { textValue, titleOf } from '../model/metadata.ts'
import { readDefinition } from '../publishing/definition.ts'
import { remoteStates } from '../publishing/remote/state.ts'
import { fieldIri } from '../rdf/minted-iris.ts'

/** The query log that a portal configures; null for none. */
export function queryLogOf(
  { portal, queryLog }: Config,
  address: (message: IncomingMessage) => string,
): QueryLog | null {
  if (queryLog === undefined) return null
  const folder = path.join(portal, 'var', 'query-log')
  return new QueryLog({ folder, size: queryLog, address, now: () => Date.now() })
}

export function servedStatistics(entries: readonly ServedDataset[]) {
  const restricted = entries.filter(({ dataset }) => dataset.visibility === 'restricted').length
  const records = entries.reduce((sum, { statistics }) => sum + statistics.records, 0)
  const moments = entries.map(({ published }) => Date.parse(published) / 1000)
  return { served: entries.length, restricted, records, latest: Math.max(0, ...moments) }
}

/** Identifies the versions of all datasets of a catalog: an object of one is immutable while it is current. */
export const publicationState = oncePerObject(({ entries }: DatasetList) =>
  entityTag(...entries.map(({ dataset, version }) => `${dataset.id} ${version}`)),
)

/** The datasets of a catalog as sources of links to resources. */
export function linkSourcesOf({ entries }: DatasetList) {
  return entries.map(({ dataset, resources: graph }) => {
    return { id: dataset.id, title: titleOf(dataset), graph }
  })
}

/**
 * The graphs of some datasets as those of their SPARQL endpoint: each dataset, and the named graphs of its file or mapping. One with
 * its own named graphs is served unchanged: its default graph contains only the triples without a graph.
 */
export function quadGraphs(base: string, entries: readonly ServedDataset[]): QuadGraphs {
  const { defaultGraphs, named } = graphCatalog(base, entries.map(sparqlDataset))
  const [only, ...others] = entries
  if (others.length === 0 && only !== undefined && only.unnamed !== null)
    return { defaultGraphs: [only.unnamed], named, isUnion: false }
  const names = new Set(named.map(({ graph }) => graph))
  return { defaultGraphs, named, isUnion: defaultGraphs.every(graph => names.has(graph)) }
}

/** What the SPARQL endpoints need of a dataset. */
export function sparqlDataset(served: ServedDataset): QueriedDataset {
  const { dataset, version, resources: graph, triples } = served
  return {
    id: dataset.id,
    title: titleOf(dataset),
    version,
    graph,
    triples,
    named: served.named.map(({ name, graph }) => ({ iri: name, graph })),
  }
}

/** What the linked-data endpoints need of a dataset. */
export function describedDatasets(served: ServedDataset, base: string) {
  const { dataset, version, resources: graph, published, mapping, prefixes, target } = served
  const metas = dataset.metas.default ?? {}
  return {
    id: dataset.id,
    title: titleOf(dataset),
    description: textValue(metas.description),
    publisher: textValue(metas.publisher),
    licenseName: textValue(metas.license),
    license: textValue(metas.license_url),
    modified: String(momentMeta(published)),
    describe: () => datasetDescription(served, { base }),
    version,
    graph,
    prefixes,
    ...(mapping === null ? {} : { facts: target.graphs.facts }),
    fields: dataset.fields,
    labels: new Map(dataset.fields.map(({ name, label }) => [fieldIri(base, dataset.id, name), label])),
  }
}

/**
 * Seconds since the source addresses of datasets last answered, and the number of failures since. A dataset that is gone, or is
 * no longer read from an address, has none.
 *
 * @param open the datasets that everybody may know of
 */
export function sourceAges(portal: string, moment: number, open: readonly ServedDataset[]) {
  const names = new Set(open.map(({ dataset }) => dataset.id))
  return remoteStates(portal)
    .filter(([dataset]) => readDefinition(portal, dataset).definition?.remote != null)
    .map(([dataset, { confirmed, failures }]) => ({
      dataset,
      isPublic: names.has(dataset),
      age: confirmed === undefined ? null : (moment - Date.parse(confirmed)) / 1000,
      failures,
    }))
}
