import { datasetIri } from '../../rdf/minted-iris.ts'
import { iriText, literalText } from '../../rdf/ntriples.ts'
import { DCTERMS, RDF, RDFS, SD, VOID, XSD } from '../../rdf/vocab.ts'
import { EXTENSION_AGGREGATES, EXTENSION_FUNCTIONS } from '../../sparql/extensions.ts'
import { type GraphCatalog, graphsByIri, type QueriedDataset } from './endpoint.ts'
import { GRAPH_FORMATS, RESULT_FORMATS } from './formats.ts'
import type { ServiceLimits } from './service-results.ts'

/** The self-description of an endpoint. */
export interface EndpointDescription {
  readonly base: string
  /** Its address. */
  readonly endpoint: string
  readonly title: string
  readonly datasets: readonly QueriedDataset[]
  readonly catalog: GraphCatalog
  /** Seconds that a query may run. */
  readonly deadline: number
  /** The external endpoints that SERVICE may query, and the limits of each SERVICE. */
  readonly services: { readonly allowed: readonly string[]; readonly limits: ServiceLimits }
}

/** The vocabularies of a description. */
export const DESCRIPTION_PREFIXES = {
  sd: 'http://www.w3.org/ns/sparql-service-description#',
  void: 'http://rdfs.org/ns/void#',
  dcterms: 'http://purl.org/dc/terms/',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  formats: 'http://www.w3.org/ns/formats/',
} as const

/** The supported languages. Drafts of the description of services have no name for SPARQL 1.2: its own address is one. */
export const SPARQL_LANGUAGES = [
  { iri: SD.SPARQL10Query, title: 'SPARQL 1.0 Query' },
  { iri: SD.SPARQL11Query, title: 'SPARQL 1.1 Query' },
  { iri: 'https://www.w3.org/TR/sparql12-query/', title: 'SPARQL 1.2 Query' },
] as const

/** The description of an endpoint as N-Triples (SPARQL 1.1 Service Description). */
export function describeEndpoint(description: EndpointDescription): string {
  const { base, endpoint, title, datasets, catalog, deadline, services } = description
  const lines: string[] = []
  const t = (subject: string, predicate: string, object: string) =>
    lines.push(`${iriText(subject)} <${predicate}> ${object} .\n`)
  const link = (subject: string, predicate: string, object: string) => t(subject, predicate, iriText(object))
  const count = (subject: string, triples: number) =>
    t(subject, VOID.triples, literalText(String(triples), XSD.integer))
  const [whole, defaultGraph] = [`${endpoint}#dataset`, `${endpoint}#default`]
  link(endpoint, RDF.type, SD.Service)
  link(endpoint, SD.endpoint, endpoint)
  t(endpoint, DCTERMS.title, literalText(title))
  for (const { iri, title } of SPARQL_LANGUAGES) {
    link(endpoint, SD.supportedLanguage, iri)
    link(iri, RDF.type, SD.Language)
    t(iri, RDFS.label, literalText(title, XSD.string, 'en'))
  }
  t(endpoint, RDFS.comment, literalText(limitsText(deadline), XSD.string, 'en'))
  link(endpoint, SD.feature, SD.BasicFederatedQuery)
  t(endpoint, RDFS.comment, literalText(servicesText(services.limits), XSD.string, 'en'))
  for (const allowed of services.allowed) link(endpoint, DCTERMS.requires, allowed)
  for (const iri of EXTENSION_FUNCTIONS) {
    link(endpoint, SD.extensionFunction, iri)
    link(iri, RDF.type, SD.Function)
  }
  for (const iri of EXTENSION_AGGREGATES) {
    link(endpoint, SD.extensionAggregate, iri)
    link(iri, RDF.type, SD.Aggregate)
  }
  for (const { iri } of [...RESULT_FORMATS, ...GRAPH_FORMATS])
    if (iri !== undefined) link(endpoint, SD.resultFormat, iri)
  const named = new Set(catalog.named.map(({ graph }) => graph))
  const isUnion =
    named.size === catalog.defaultGraphs.length && catalog.defaultGraphs.every(graph => named.has(graph))
  if (isUnion) link(endpoint, SD.feature, SD.UnionDefaultGraph)
  link(endpoint, SD.defaultDataset, whole)
  link(endpoint, RDFS.seeAlso, `${base}/.well-known/void`)
  link(whole, RDF.type, SD.Dataset)
  link(whole, SD.defaultGraph, defaultGraph)
  const entryIri = (index: number) => `${endpoint}#named-${index + 1}`
  const entries = [...graphsByIri(catalog.named)]
  for (const index of entries.keys()) link(whole, SD.namedGraph, entryIri(index))
  for (const { id } of datasets) link(whole, DCTERMS.source, datasetIri(base, id))
  link(defaultGraph, RDF.type, SD.Graph)
  const sizes = new Map(datasets.map(({ graph, triples }) => [graph, triples]))
  count(
    defaultGraph,
    [...sizes.values()].reduce((sum, triples) => sum + triples, 0),
  )
  for (const [index, [iri, graphs]] of entries.entries()) {
    const [entry, body] = [entryIri(index), `${endpoint}#graph-${index + 1}`]
    link(entry, RDF.type, SD.NamedGraph)
    link(entry, SD.name, iri)
    link(entry, SD.graph, body)
    link(body, RDF.type, SD.Graph)
    const triples = graphs.length > 1 ? undefined : sizes.get(graphs[0]?.graph ?? '')
    if (triples !== undefined) count(body, triples)
  }
  return lines.join('')
}

function servicesText({ time, rows, bytes }: ServiceLimits): string {
  return (
    'SERVICE asks the endpoints of this portal, and those that it requires. ' +
    `The services of a query may take ${time / 1000} seconds, each ${rows} solutions and ${bytes} bytes; one dataset of the portal that is asked for triples alone is read in place, without such limits.`
  )
}

function limitsText(deadline: number): string {
  return (
    `A query may work for ${deadline} seconds, in bounded memory; its answer may have any size, and is sent as it is found. ` +
    'A SELECT over graph patterns that takes longer ends with a continuation, or with a Link to the rest where it is asked with the parameter cursor. ' +
    'A query has at most 100,000 characters, its IRIs, with their base and prefixes, 10,000,000, and 500 parts.'
  )
}
