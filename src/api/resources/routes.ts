import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import type { Prefixes } from '../../formats/turtle.ts'
import { namesCredentials } from '../../http/authenticate.ts'
import { type AnswerCache, BY_CALLER, entityTag, isNotModified, varyBy } from '../../http/conditional.ts'
import { answerVersions, VERSION_PARAMETER } from '../../http/memento.ts'
import { JSONLD_TYPE, jsonldForm, jsonldType } from '../../http/negotiate.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { configureRoutes } from '../../http/route-config.ts'
import { lookup } from '../../model/lookup.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { datasetIri } from '../../rdf/minted-iris.ts'
import { withoutTripleTerms } from '../../rdf/ntriples-reader.ts'
import { datasetPrefixes } from '../../rdf/prefixes.ts'
import { answerPageOrProblem } from '../../site/fault-page.ts'
import { pageText, pageValidator, sendPageText } from '../../site/frame.ts'
import { type PageContext, pageContextOf } from '../../site/page-context.ts'
import { asciiAddress, documentAddress, readings, SPACES, type SpaceName } from './address.ts'
import type { ResourcesOptions } from './dataset.ts'
import { type DocumentRequest, documentText, gatherDocument, type Thing } from './document.ts'
import {
  ALTERNATES,
  chooseDocumentFormat,
  DOCUMENT_FORMATS,
  type DocumentFormat,
  HTML_TYPE,
  jsonldFormText,
  writeTriples,
} from './formats.ts'
import { locate } from './locate.ts'
import { resourcePage } from './page.ts'

export type { ResourcesOptions } from './dataset.ts'

/** Headers that clients on other sites may read in addition to the safelisted ones (Fetch, "CORS-exposed"). */
const EXPOSED = 'Link, ETag, Content-Location, Last-Modified, Location, Memento-Datetime, Retry-After, Vary'

/**
 * Dereferenceable IRIs: of resources, of the properties of datasets, of datasets themselves and of skolemised nodes (Linked
 * data 2). Things answer 303 with the address of a document, or the document itself if the portal is configured so;
 * documents are negotiated or fixed by a suffix.
 */
export const resources: FastifyPluginAsync<ResourcesOptions> = async (app, options) => {
  configureRoutes(app, { endpoint: 'resources' })
  app.setErrorHandler(answerPageOrProblem(options, DOCUMENT_FORMATS))
  if (options.versions !== undefined) answerVersions(app, options.versions)
  for (const space of Object.keys(SPACES) as SpaceName[])
    for (const place of ['things', 'documents'] as const)
      for (const path of [':dataset', ':dataset/*'])
        app.get(`${SPACES[space][place]}${path}`, (request, reply) =>
          answer(request, reply, options, options.answers, space, place),
        )
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  options: ResourcesOptions,
  cached: AnswerCache,
  space: SpaceName,
  place: 'things' | 'documents',
): Promise<FastifyReply> {
  const { base, dereference, store } = options
  const { version, versionNote, principal } = request
  const named = version == null || versionNote == null ? null : { id: versionNote.dataset, version }
  const sight = { base, store, ...options.visibleTo(principal, named) }
  const query = request.query as QueryParameters
  const target = request.raw.url ?? request.url
  const { thing, format: suffixed } = await locate(sight, space, readings(base, space, place, target))
  // A credential of the address must not be copied to another address: such requests get the document directly.
  if (place === 'things' && dereference === 'redirect' && !namesCredentials(query))
    return redirect(reply, base, thing, target, request.version ?? null)
  const format = chooseDocumentFormat(one(query, 'format'), suffixed, request.headers.accept)
  const form = format.type === JSONLD_TYPE ? jsonldForm(request.headers.accept) : null
  const type = form === null ? format.type : jsonldType(form)
  const pageContext = format.type === HTML_TYPE ? pageContextOf(request, options) : null
  const requested = readRequest(query, pageContext)
  const document = documentAddress(base, thing.iri)
  const isPrivate =
    namesCredentials(query) ||
    request.headers.authorization !== undefined ||
    request.principal?.type === 'user'
  reportOf(reply, base, thing, format, { ...requested, version: request.version ?? null })
  const tag = entityTag(
    thing.dataset.version,
    sight.state(),
    thing.iri,
    JSON.stringify(requested),
    suffixed?.type ?? '',
    type,
    ...(pageContext === null ? [] : pageValidator(pageContext)),
  )
  const cacheControl = `${isPrivate ? 'private' : 'public'}, ${pageContext === null ? 'max-age=60' : 'no-cache'}`
  if (isNotModified(request, reply, { tag, cacheControl })) return reply.code(304).send()
  const send = (body: string) =>
    pageContext === null
      ? reply.type(`${type}; charset=utf-8`).send(body)
      : sendPageText(reply, pageContext, body)
  const before = cached.find(reply)
  if (before !== undefined) return send(before)
  const gathered = await gatherDocument(sight, thing, requested, document)
  const prefixes = prefixesOf(base, thing)
  const triples = documentText(base, gathered, document)
  const write = (format: DocumentFormat, written = triples) =>
    writeTriples(format, written, prefixes, prefixes.field ?? '')
  const body =
    pageContext === null
      ? form === null || form === 'compacted'
        ? await write(format)
        : await jsonldFormText(form, triples)
      : pageText(
          pageContext,
          resourcePage({
            pageContext,
            base,
            gathered,
            requested,
            document,
            suffix: suffixed,
            jsonld: await write(JSONLD, withoutTripleTerms(triples)),
          }),
        )
  cached.keep(reply, body)
  return send(body)
}

/** The prefixes of a document: those of the dataset, and of the vocabularies that describe datasets. */
function prefixesOf(base: string, { type, dataset }: Thing): Prefixes {
  const known = dataset.prefixes ?? datasetPrefixes(base, dataset.id)
  return type === 'resource' || type === 'property'
    ? { ...known, hydra: 'http://www.w3.org/ns/hydra/core#' }
    : { ...known, dcat: 'http://www.w3.org/ns/dcat#', owl: 'http://www.w3.org/2002/07/owl#' }
}

const JSONLD = chooseDocumentFormat('jsonld', null, undefined)

/** A thing is no document: redirects to the one about it (HTTP, RFC 9110, section 15.4.4). */
function redirect(
  reply: FastifyReply,
  base: string,
  thing: Thing,
  target: string,
  version: string | null,
): FastifyReply {
  const document = documentAddress(base, thing.iri)
  // A query that is part of the IRI is in the address of the document already.
  const at = thing.iri.includes('?') ? -1 : target.indexOf('?')
  return reply
    .code(303)
    .header('location', asciiAddress(document) + (at < 0 ? '' : target.slice(at)))
    .header('link', links(base, thing, document, queryOf({ [VERSION_PARAMETER]: version })).join(', '))
    .header('access-control-expose-headers', EXPOSED)
    .header('cache-control', 'public, max-age=60')
    .type('text/plain; charset=utf-8')
    .send(`See ${document}\n`)
}

/** The headers that describe an answer and link to its other formats. */
function reportOf(
  reply: FastifyReply,
  base: string,
  thing: Thing,
  format: DocumentFormat,
  { inverse, predicate, from, version }: DocumentRequest & { readonly version: string | null },
): void {
  const document = documentAddress(base, thing.iri)
  const end = queryOf({ inverse, predicate, from, [VERSION_PARAMETER]: version })
  const isPage = format.type === HTML_TYPE
  varyBy(reply, 'Accept', ...(isPage ? ['Accept-Language', 'Cookie'] : []), ...BY_CALLER)
  reply
    .header('content-location', asciiAddress(documentAddress(base, thing.iri, format)) + end)
    .header('link', links(base, thing, document, queryOf({ [VERSION_PARAMETER]: version }), end).join(', '))
    .header('last-modified', new Date(thing.dataset.modified).toUTCString())
    .header('access-control-expose-headers', EXPOSED)
}

function queryOf(parameters: Readonly<Record<string, string | number | null>>): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === null ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return given.length === 0 ? '' : `?${given.join('&')}`
}

/** Maximum characters of the links to other formats: proxies and clients limit the headers of an answer, often to 4 or 16 KiB. */
const MAX_ALTERNATES = 2500

/**
 * Links to the other formats of a document, unless its address is long, to its topic and to its description (RFC 8288).
 *
 * @param version query with the version of the answer
 * @param end query of the document with all of its parameters
 */
function links(
  base: string,
  { iri, dataset }: Thing,
  document: string,
  version: string,
  end: string = version,
): readonly string[] {
  const license = dataset.license !== null && isIri(dataset.license) ? dataset.license : null
  const alternates = ALTERNATES.map(
    format =>
      `<${asciiAddress(documentAddress(base, iri, format))}${end}>; rel="alternate"; type="${format.type}"`,
  )
  return [
    ...(alternates.join().length > MAX_ALTERNATES ? [] : alternates),
    `<${asciiAddress(document)}${end}>; rel="canonical"`,
    `<${asciiAddress(document)}${version}>; rel="describedby"`,
    `<${asciiAddress(datasetIri(base, dataset.id))}>; rel="collection"`,
    `<${asciiAddress(iri)}>; rel="about"`,
    ...(license === null ? [] : [`<${asciiAddress(license)}>; rel="license"`]),
  ]
}

function readRequest(query: QueryParameters, pageContext: PageContext | null): DocumentRequest {
  const inverse = one(query, 'inverse')
  const predicate = one(query, 'predicate')
  const from = one(query, 'from')
  if (inverse !== undefined && !/^[1-9]\d{0,6}$/.test(inverse))
    throw new Fault(BAD_REQUEST, { reason: 'inverse is the number of a page: 1, 2, 3 …' })
  if (predicate !== undefined && (predicate.length > 2000 || !isIri(predicate)))
    throw new Fault(BAD_REQUEST, { reason: 'predicate is the IRI of a predicate.' })
  if (from !== undefined && (from === '' || from.length > 200))
    throw new Fault(BAD_REQUEST, { reason: 'from is the id of a dataset.' })
  const page = inverse === undefined ? null : Number(inverse)
  return {
    inverse: page ?? (predicate === undefined && from === undefined ? null : 1),
    predicate: predicate ?? null,
    from: from ?? null,
    isPage: pageContext !== null,
    language: pageContext?.language ?? 'en',
  }
}

function one(query: QueryParameters, name: string): string | undefined {
  const value = lookup(query, name)
  if (Array.isArray(value)) throw new Fault(BAD_REQUEST, { reason: `${name} may be given once.` })
  return value as string | undefined
}
