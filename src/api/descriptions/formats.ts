import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import type { ServedDataset } from '../../catalog/served.ts'
import { datasetShapes } from '../../catalog/shapes.ts'
import { descriptionAddress, shapesAddress, VOID_PREFIXES } from '../../catalog/void.ts'
import {
  BAD_REQUEST,
  Fault,
  NOT_ACCEPTABLE,
  NOT_FOUND_RESOURCE,
  UNPROCESSABLE_ENTITY,
} from '../../errors/errors.ts'
import { jsonldInForm, jsonldStream } from '../../formats/jsonld-forms.ts'
import { neededPrefixes, type TermNames } from '../../formats/jsonld-node.ts'
import { rdfxml } from '../../formats/rdfxml.ts'
import { turtle } from '../../formats/turtle.ts'
import { entityTag, isFresh } from '../../http/conditional.ts'
import { JSONLD_TYPE, jsonldForm, jsonldType, negotiate, type Representation } from '../../http/negotiate.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Route } from '../../http/route-config.ts'
import type { Principal } from '../../model/principal.ts'
import { parseTriples } from '../../rdf/ntriples-reader.ts'
import { inTurns } from '../../runtime/work-client.ts'

/** A form of RDF in which a description is written, from N-Triples. */
export interface DescriptionFormat extends Representation {
  /** Its name in `?format=`. */
  readonly name: string
  readonly write: (triples: string) => AsyncIterable<string>
}

/** Least characters of a piece of triples. */
const PIECE = 200_000

/** The first is the default. */
const DESCRIPTION_FORMATS: readonly DescriptionFormat[] = [
  { type: 'text/turtle', name: 'turtle', write: triples => turtle(whole(triples), VOID_PREFIXES) },
  { type: 'application/ld+json', name: 'jsonld', write: jsonld },
  { type: 'application/n-triples', name: 'ntriples', write: whole },
  { type: 'application/rdf+xml', name: 'rdfxml', write: triples => rdfxml(whole(triples), VOID_PREFIXES) },
  { type: 'application/json', name: 'json', explicit: true, write: jsonld },
  { type: 'text/n3', name: 'n3', explicit: true, write: triples => turtle(whole(triples), VOID_PREFIXES) },
]

/** An HTML page, which the Accept header of a browser requests. */
const HTML_PAGE = { type: 'text/html', explicit: true } as const

/** True if a request asks for a page: `?format=html` first, else the Accept header. */
export function isPageRequested({ format }: QueryParameters, accept: string | undefined): boolean {
  if (format !== undefined && format !== '') return format === 'html'
  return negotiate<Representation>(accept, [...DESCRIPTION_FORMATS, HTML_PAGE]) === HTML_PAGE
}

/** The form that a request asks for: `?format=` first, else the Accept header. Faults: BadRequest, NotAcceptable. */
export function descriptionFormat(query: QueryParameters, accept: string | undefined): DescriptionFormat {
  const { format } = query
  if (format !== undefined && format !== '') {
    const named = DESCRIPTION_FORMATS.find(({ name }) => name === format)
    if (named !== undefined) return inForm(named, accept)
    const names = [...DESCRIPTION_FORMATS.map(({ name }) => name), 'html'].join(', ')
    throw new Fault(BAD_REQUEST, {
      reason: `format is ${String(format).slice(0, 100)} but one of ${names} is expected.`,
    })
  }
  const chosen = negotiate(accept, DESCRIPTION_FORMATS)
  if (chosen !== null) return inForm(chosen, accept)
  throw new Fault(NOT_ACCEPTABLE, { available: DESCRIPTION_FORMATS.map(({ type }) => type).join(', ') })
}

function inForm(format: DescriptionFormat, accept: string | undefined): DescriptionFormat {
  const form = format.type === JSONLD_TYPE ? jsonldForm(accept) : null
  if (form === null) return format
  return {
    ...format,
    type: jsonldType(form),
    write: triples => jsonldInForm(form, whole(triples), namesOf(triples)),
  }
}

/** The whole text of a description. Throws UnprocessableEntity if a text has characters that XML does not permit. */
export async function writeDescription(format: DescriptionFormat, triples: string): Promise<string> {
  try {
    return await text(format.write(triples))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new Fault(UNPROCESSABLE_ENTITY, {
      reason: `${error.message}. Ask for turtle, ntriples or jsonld.`,
    })
  }
}

/** All lines, many at a time: other requests have their turns meanwhile. */
function whole(triples: string): AsyncGenerator<string> {
  return inTurns(linePieces(triples))
}

function* linePieces(lines: string): Generator<string> {
  for (let at = 0; at < lines.length; ) {
    const end = lines.indexOf('\n', at + PIECE)
    const next = end < 0 ? lines.length : end + 1
    yield lines.slice(at, next)
    at = next
  }
}

/** With the prefixes that its predicates need, so that they are legible: `void:triples`. */
function jsonld(triples: string): AsyncIterable<string> {
  return jsonldStream(whole(triples), namesOf(triples))
}

function namesOf(triples: string): TermNames {
  const predicates = Array.from(parseTriples(triples), ({ predicate }) => predicate.value)
  return { prefixes: neededPrefixes(VOID_PREFIXES, predicates) }
}

interface Context {
  readonly base: string
  readonly dataset: (id: string, principal: Principal, version: string | null) => ServedDataset
}

/** The SHACL shapes of a dataset at `/api/shapes/{dataset}` (Linked data 4.3). */
export function addShapes(app: FastifyInstance, { base, dataset }: Context): void {
  app.get<Route<'dataset'>>('/api/shapes/:dataset', async (request, reply) => {
    const entry = dataset(request.params.dataset, request.principal, request.version)
    const { id } = entry.dataset
    const format = descriptionFormat(request.query, request.headers.accept)
    const shapes = datasetShapes(entry, base)
    if (shapes === null) throw new Fault(NOT_FOUND_RESOURCE, { kind: 'shapes graph', id })
    const links = [
      `<${shapesAddress(base, id)}>; rel="canonical"`,
      `<${descriptionAddress(base, id)}>; rel="describedby"`,
    ]
    reply.header('link', links.join(', '))
    if (isFresh(request, reply, entityTag(shapes), format.type)) return reply.code(304).send()
    return reply.type(`${format.type}; charset=utf-8`).send(await writeDescription(format, shapes))
  })
}
