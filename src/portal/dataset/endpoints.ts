import { type LinkParameters, type PageContext, queryText } from '../../site/page-context.ts'

/** An address for programs: as a page links to it, and in full. */
export interface EndpointAddress {
  readonly href: string
  readonly address: string
}

/** The address of a path of this portal; unlike those of pages it contains no language. */
export function endpointAddress(
  { site }: PageContext,
  path: string,
  parameters: LinkParameters = {},
): EndpointAddress {
  const end = path + queryText(parameters)
  return { href: new URL(site.base).pathname.replace(/\/+$/, '') + end, address: site.base + end }
}

/** The paths of the endpoints of a dataset, below the base address. */
export function endpointPaths(dataset: string) {
  const id = encodeURIComponent(dataset)
  const explore = `/api/explore/v2.1/catalog/datasets/${id}`
  return {
    explore,
    records: `${explore}/records`,
    exports: `${explore}/exports`,
    attachments: `${explore}/attachments`,
    console: `${explore}/console`,
    openapi: `${explore}/swagger.json`,
    odata: `/api/odata/${id}`,
    fragments: `/api/tpf/${id}`,
    sparql: `/api/sparql/${id}`,
    void: `/api/void/${id}`,
    queries: `/api/void/${id}/queries`,
    shapes: `/api/shapes/${id}`,
    document: `/ld/resources/${id}`,
  } as const
}
