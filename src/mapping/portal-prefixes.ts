import { datasetIri, fieldIri } from '../rdf/minted-iris.ts'

/**
 * The prefixes that a dataset's own mapping may use in addition to those of RDFa: `portal:` is the namespace of the portal's
 * resources, `field:` that of the dataset's fields as predicates.
 *
 * @param base the portal's public address without a trailing slash
 */
export function portalPrefixes(base: string, datasetId: string): Readonly<Record<string, string>> {
  return { portal: datasetIri(base, ''), field: fieldIri(base, datasetId, '') }
}
