import { datasetIri } from '../../rdf/minted-iris.ts'

/** The address at which the endpoint answers a query of datasets, below the base address. */
export function endpointPath(query: string, ids: readonly string[], base: string, format: string): string {
  const [only = '', ...others] = ids
  const parameters = new URLSearchParams({ query, format })
  if (only !== '' && others.length === 0) return `/api/sparql/${encodeURIComponent(only)}?${parameters}`
  for (const id of ids) parameters.append('default-graph-uri', datasetIri(base, id))
  return `/api/sparql?${parameters}`
}
