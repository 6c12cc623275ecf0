import type { TripleText } from '../mapping/triple-text.ts'
import type { Field } from '../model/field.ts'
import type { Metas } from '../model/metadata.ts'
import type { CompileTarget } from '../query/compile/target.ts'
import { datasetIri, graphIri } from '../rdf/iris.ts'
import { iriText, literalText } from '../rdf/ntriples.ts'
import { DCAT, DCTERMS, RDF, XSD } from '../rdf/vocab.ts'
import type { GraphSource } from '../store/store.ts'
import { CATALOG_ID, catalogFields, catalogRecord, FIGURE_FIELDS } from './catalog-dataset.ts'
import { madeGraphs } from './made.ts'
import type { ServedDataset } from './served.ts'

/** Datasets in the order of their ids. */
export interface DatasetList {
  readonly version: string
  readonly entries: readonly ServedDataset[]
}

/** Datasets as a dataset: what catalog queries are asked of. */
export interface ServedCatalog extends DatasetList {
  readonly target: CompileTarget
  /** The figures of use that its records have, by the ids of the entries; it has the fields for them then. */
  readonly figures?: ReadonlyMap<string, Metas[string]>
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
