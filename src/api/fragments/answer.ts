import type { FastifyReply, FastifyRequest } from 'fastify'
import { Fault, NOT_ACCEPTABLE } from '../../errors/errors.ts'
import { namesCredentials } from '../../http/authenticate.ts'
import { type AnswerCache, entityTag, isNotModified } from '../../http/conditional.ts'
import { negotiate, type Representation } from '../../http/negotiate.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { ResponseCache } from '../../http/response-cache.ts'
import { lookup } from '../../model/lookup.ts'
import { pageText, pageValidator, sendPageText } from '../../site/frame.ts'
import { type PageContext, pageContextOf, type SiteOptions } from '../../site/page-context.ts'
import type { FoundParts } from './find-quads.ts'
import {
  type FragmentPlace,
  foreignParameters,
  fragmentIri,
  metadataGraph,
  type PageDescription,
  pageIri,
  pageMetadata,
} from './metadata.ts'
import { fragmentPage } from './page.ts'
import { type FragmentRequest, PATTERN_PARAMETERS, parseRequest } from './pattern.ts'
import { type Content, DATA_FORMATS, type DataFormat, HTML, QUAD_FORMATS } from './write.ts'

/** A request for fragments or their list. */
export type FragmentContext = FastifyRequest<{ Querystring: QueryParameters }>

/** A serialisation of content, or HTML, which is rendered separately, since it depends on the user. */
export type Offer = Representation & Partial<DataFormat>

export const OFFERS: readonly Offer[] = [...DATA_FORMATS, HTML]
const QUAD_OFFERS: readonly Offer[] = [...QUAD_FORMATS, HTML]

/** A dataset whose fragments are requested, and what differs between those of triples and of quads. */
export interface FragmentSource {
  /** Id of the dataset; null for all of the portal. */
  readonly id: string | null
  readonly dataset: PageDescription['dataset'] & { readonly version: string }
  /** Address of its fragments. */
  readonly address: string
  readonly describedBy: string
  readonly places: readonly FragmentPlace[]
  readonly find: (requested: FragmentRequest) => Promise<FoundParts>
  readonly cache?: AnsweredFragment['cache']
  readonly vary?: AnsweredFragment['vary']
}

export interface FragmentAnswerOptions extends SiteOptions {
  /** Triples on a page; clients cannot choose it, so that pages can be cached. */
  readonly pageSize: number
  readonly answers: AnswerCache
}

/** Answers with a page of a fragment. Faults: NotAcceptable, BadRequest. */
export async function answerFragment(
  request: FragmentContext,
  reply: FastifyReply,
  options: FragmentAnswerOptions,
  source: FragmentSource,
): Promise<FastifyReply> {
  const { base, pageSize, answers } = options
  const { dataset, address, places, cache, vary = [] } = source
  const isOfQuads = places.includes('graph')
  const format = chooseFormat(request, isOfQuads ? QUAD_OFFERS : OFFERS)
  const pageContext = format.write === undefined ? pageContextOf(request, options) : null
  const requested = parseRequest(request.query, isOfQuads)
  describeBy(reply, source.describedBy)
  const target = request.raw.url ?? request.url
  // A credential of the address occurs in the controls of the page, which must not be shared then.
  const memory = namesCredentials(request.query) ? undefined : answers
  const parts = [...(isOfQuads ? ['quads'] : []), dataset.version, target, String(pageSize)]
  const known = answerKnown(request, reply, { format, pageContext, parts, cache, vary, answers: memory })
  if (known !== null) return known
  const { parts: data, count } = await source.find(requested)
  const { pattern, graph, page } = requested
  const here = pageIri(base, target)
  const description: PageDescription = {
    base,
    dataset,
    address,
    places,
    pageIri: here,
    fragmentIri: fragmentIri(here),
    page,
    pageSize,
    foreign: foreignParameters(here, PATTERN_PARAMETERS),
    isStart: [...Object.values(pattern), graph].every(place => place === null || place.type === 'variable'),
    count,
  }
  const content = { metadata: pageMetadata(description), graph: metadataGraph(description), parts: data }
  const texts = places.map(place => [place, String(lookup(request.query, place) ?? '')])
  const body =
    pageContext === null
      ? textIn(format, content)
      : pageText(
          pageContext,
          fragmentPage(
            { ...description, pageContext, requested: Object.fromEntries(texts) },
            source.id,
            content,
          ),
        )
  memory?.keep(reply, body)
  return send(reply, format, body, pageContext)
}

/** The negotiated format. Faults: NotAcceptable. */
export function chooseFormat({ headers }: FragmentContext, offers: readonly Offer[]): Offer {
  const format = negotiate(headers.accept, offers)
  if (format !== null) return format
  throw new Fault(NOT_ACCEPTABLE, { available: offers.map(({ type }) => type).join(', ') })
}

export function textIn({ type, write }: Offer, content: Content): string {
  if (write === undefined) throw new Error(`there is no writer for ${type}`)
  return write(content)
}

interface AnsweredFragment {
  readonly format: Representation
  /** The user's context of a page; null for data, which are the same for all. */
  readonly pageContext: PageContext | null
  /** Everything that determines the bytes of the answer, in addition to its format and the page context. */
  readonly parts: readonly string[]
  readonly cache?: Pick<ResponseCache, 'cacheable'> | undefined
  readonly answers?: AnswerCache | undefined
  /** Request headers that it varies by, in addition to those of all fragments. */
  readonly vary?: readonly string[]
}

/**
 * Sets the headers of an answer. Answers 304 if the client has it already, or from the cache; null if it has to be
 * generated. Only data are cacheable for other clients.
 */
export function answerKnown(
  request: FragmentContext,
  reply: FastifyReply,
  { format, pageContext, parts, cache, answers: cached, vary = [] }: AnsweredFragment,
): FastifyReply | null {
  const isOwn = request.headers.authorization !== undefined || namesCredentials(request.query)
  const tag = entityTag(format.type, ...parts, ...(pageContext === null ? [] : pageValidator(pageContext)))
  const age = pageContext === null ? 'max-age=60, stale-while-revalidate=600' : 'no-cache'
  const cacheControl = `${isOwn ? 'private' : 'public'}, ${age}`
  const byPage = pageContext === null ? [] : ['Accept-Language', 'Cookie']
  const validators = { tag, cacheControl, vary: ['Accept-Encoding', 'Accept', ...vary, ...byPage] }
  if (isNotModified(request, reply, validators)) {
    if (pageContext === null) cache?.cacheable(reply, '')
    return reply.code(304).send()
  }
  const body = cached?.find(reply)
  if (body === undefined) return null
  if (pageContext === null) cache?.cacheable(reply, body)
  return send(reply, format, body, pageContext)
}

/** Sends a generated or cached body. */
export function send(
  reply: FastifyReply,
  format: Representation,
  body: string,
  pageContext: PageContext | null,
): FastifyReply {
  if (pageContext !== null) return sendPageText(reply, pageContext, body)
  return reply.type(`${format.type}; charset=utf-8`).send(body)
}

/** Links to the document with statistics and endpoints: in a fragment, clients would take them for its controls. */
export function describeBy(reply: FastifyReply, address: string): void {
  reply.header('link', `<${address}>; rel="describedby"`)
}
