import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../../errors.ts'
import { jsonldText } from '../../formats/jsonld.ts'
import { turtleText } from '../../formats/turtle.ts'
import { entityTag, isKnown } from '../../http/etag.ts'
import { answerFault } from '../../http/faults.ts'
import { negotiate, type Offer } from '../../http/negotiate.ts'
import { PROBLEM_TYPE, problemBody } from '../../http/problem.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { naturalDatatype } from '../../mapping/natural.ts'
import type { Field } from '../../model/field.ts'
import { isIri, normaliseEscapes } from '../../rdf/iri.ts'
import { fieldIri, propertyName } from '../../rdf/iris.ts'
import { iriText, literalText } from '../../rdf/ntriples.ts'
import { parseTriples } from '../../rdf/ntriples-reader.ts'
import { datasetPrefixes } from '../../rdf/prefixes.ts'
import { RDF, RDFS } from '../../rdf/vocab.ts'
import type { Store } from '../../store/store.ts'
import { faultPage, resourcePage } from './page.ts'

/** What dereferencing needs of a dataset. */
export interface ResourceDataset {
  readonly id: string
  readonly title: string
  readonly version: string
  readonly graph: string
  readonly fields: readonly Field[]
  /** Label by predicate IRI. */
  readonly labels: ReadonlyMap<string, string>
}

export interface ResourcesOptions {
  readonly base: string
  readonly store: Store
  /** Throws NotFoundResource for an id that there is not. */
  readonly dataset: (id: string) => ResourceDataset
}

interface Route {
  readonly Params: { readonly dataset: string; readonly '*': string }
}

/** Most triples that a document about one resource holds. */
const MAX_TRIPLES = 10_000

/** Media types with the names that `?format=` knows them by. */
const FORMATS: readonly (Offer & { readonly name: string; readonly short: string })[] = [
  { type: 'text/turtle', short: 'turtle', name: 'Turtle' },
  { type: 'application/ld+json', short: 'jsonld', name: 'JSON-LD' },
  { type: 'application/n-triples', short: 'nt', name: 'N-Triples' },
  { type: 'text/html', short: 'html', name: 'HTML' },
  { type: 'application/json', short: 'json', name: 'JSON', explicit: true },
]

/**
 * Resource IRIs that answer when they are looked up: `/ld/resources/{dataset}/…` with what is said of the resource,
 * `/ld/ontologies/{dataset}/{field}` with what the field is (linked-data specification, "RDF mapping").
 */
export const resources: FastifyPluginAsync<ResourcesOptions> = async (app, options) => {
  const { base, store, dataset: find } = options
  app.setErrorHandler((error, request, reply) => {
    const wantsPage = negotiate(request.headers.accept, FORMATS)?.type === 'text/html'
    if (!wantsPage) return answerFault(problemBody, PROBLEM_TYPE)(error, request, reply)
    return answerFault(fault => faultPage(String(fault.status), fault.message), 'text/html; charset=utf-8')(
      error,
      request,
      reply,
    )
  })
  app.get<Route>('/ld/resources/:dataset/*', async (request, reply) => {
    const dataset = find(request.params.dataset)
    const iri = requestedIri(base, request)
    const { triples } = isIri(iri)
      ? await store.match(
          dataset.graph,
          { subject: { type: 'iri', value: iri } },
          { offset: 0, limit: MAX_TRIPLES },
        )
      : { triples: '' }
    if (triples === '') throw new Fault('NotFoundResource', { kind: 'resource', id: iri.slice(0, 300) })
    return send(request, reply, {
      base,
      dataset,
      iri,
      triples: inFieldOrder(triples, dataset, base),
      title: titleOf(triples, iri, base, dataset),
    })
  })

  app.get<Route>('/ld/ontologies/:dataset/*', async (request, reply) => {
    const dataset = find(request.params.dataset)
    const name = request.params['*']
    const field = dataset.fields.find(known => propertyName(known.name) === name)
    if (field === undefined) throw new Fault('NotFoundResource', { kind: 'property', id: name.slice(0, 300) })
    const iri = fieldIri(base, dataset.id, field.name)
    return send(request, reply, { base, dataset, iri, triples: fieldTriples(iri, field), title: field.label })
  })
}

interface Document {
  readonly base: string
  readonly dataset: ResourceDataset
  readonly iri: string
  readonly triples: string
  readonly title: string
}

function send(request: FastifyRequest, reply: FastifyReply, document: Document): FastifyReply {
  const format = formatOf(request)
  const { base, dataset, iri, triples } = document
  const tag = entityTag(dataset.version, iri, format.type)
  const links = FORMATS.filter(({ explicit }) => explicit !== true).map(
    ({ type }) => `<${encodeURI(iri).replaceAll('%25', '%')}>; rel="alternate"; type="${type}"`,
  )
  reply
    .header('vary', 'Accept')
    .header('etag', tag)
    .header('link', links.join(', '))
    .header('access-control-expose-headers', 'Link, ETag')
    .header('cache-control', 'public, max-age=60')
  if (isKnown(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply
    .type(`${format.type}; charset=utf-8`)
    .send(write(format.type, document, { base, dataset, triples }))
}

function write(
  type: string,
  document: Document,
  { base, dataset, triples }: Pick<Document, 'base' | 'dataset' | 'triples'>,
): string {
  switch (type) {
    case 'text/turtle':
      return turtleText(triples, datasetPrefixes(base, dataset.id))
    case 'application/n-triples':
      return triples
    case 'text/html':
      return resourcePage({
        iri: document.iri,
        title: document.title,
        dataset: { title: dataset.title, address: `${base}/api/explore/v2.0/catalog/datasets/${dataset.id}` },
        triples: [...parseTriples(triples)],
        labels: dataset.labels,
        alternates: FORMATS.filter(
          ({ type: other, explicit }) => other !== 'text/html' && explicit !== true,
        ).map(({ type: other, name, short }) => ({
          type: other,
          name,
          href: `${document.iri}?format=${short}`,
        })),
      })
    default:
      return jsonldText(triples, `${base}/ld/ontologies/${encodeURIComponent(dataset.id)}/`)
  }
}

/** The form that `?format=` names, else the one that Accept prefers. */
function formatOf(request: FastifyRequest): (typeof FORMATS)[number] {
  const named = (request.query as QueryParameters).format
  const format =
    named === undefined
      ? negotiate(request.headers.accept, FORMATS)
      : FORMATS.find(({ short, type }) => short === named || type === named)
  if (format !== undefined && format !== null) return format
  throw new Fault('NotAcceptable', {
    available: FORMATS.map(({ type, short }) => `${type} (${short})`).join(', '),
  })
}

/** The IRI that was looked up, in the spelling under which the store has it. */
function requestedIri(base: string, request: FastifyRequest): string {
  const path = (request.raw.url ?? request.url).split('?')[0] ?? ''
  return normaliseEscapes(base + path)
}

/** The triples of a record in the order of the dataset's fields, others after them. */
function inFieldOrder(triples: string, dataset: ResourceDataset, base: string): string {
  const order = new Map(
    dataset.fields.map(({ name }, index) => [`<${fieldIri(base, dataset.id, name)}>`, index]),
  )
  const rank = (line: string) => order.get(line.split(' ', 2)[1] ?? '') ?? order.size
  return `${triples
    .trimEnd()
    .split('\n')
    .sort((a, b) => rank(a) - rank(b))
    .join('\n')}\n`
}

/** The first text that is said of a resource, else the end of its IRI. */
function titleOf(triples: string, iri: string, base: string, dataset: ResourceDataset): string {
  const texts = new Map<string, string>()
  for (const { predicate, object } of parseTriples(triples))
    if (object.type === 'literal' && !texts.has(predicate.value)) texts.set(predicate.value, object.value)
  const naming = dataset.fields.find(
    ({ name, type }) => type === 'text' && /name|title|label|place/.test(name),
  )
  const title =
    texts.get(RDFS.label) ??
    (naming === undefined ? undefined : texts.get(fieldIri(base, dataset.id, naming.name)))
  return title ?? decodeURI(iri).replace(/^.*\//, '')
}

/** What a field is, as a property (RDF Schema, section 3). */
function fieldTriples(iri: string, field: Field): string {
  const subject = iriText(iri)
  return [
    `${subject} <${RDF.type}> <${RDF.type.replace('type', 'Property')}> .\n`,
    `${subject} <${RDFS.label}> ${literalText(field.label)} .\n`,
    ...(field.description === null
      ? []
      : [`${subject} <${RDFS.comment}> ${literalText(field.description)} .\n`]),
    `${subject} <${RDFS.range}> <${naturalDatatype(field.type)}> .\n`,
  ].join('')
}
