import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AnswerCache } from '../../http/answer-cache.ts'
import { entityTag, isNotModified } from '../../http/conditional.ts'
import { namesCredentials } from '../../http/credentials.ts'
import type { Representation } from '../../http/negotiate.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { ResponseCache } from '../../http/response-cache.ts'
import { pageValidator, sendPageText } from '../../site/frame.ts'
import type { PageContext } from '../../site/page-context.ts'

/** A request for fragments or their list. */
export type FragmentContext = FastifyRequest<{ Querystring: QueryParameters }>

export interface AnsweredFragment {
  readonly format: Representation
  /** Who looks at a page; null for data, which are the same for all. */
  readonly pageContext: PageContext | null
  /** Everything that decides the bytes of the answer, beside its format and who looks at it. */
  readonly parts: readonly string[]
  readonly cache?: Pick<ResponseCache, 'cacheable'> | undefined
  readonly answers?: AnswerCache | undefined
  /** Request headers that decide it, beside those of all fragments. */
  readonly vary?: readonly string[]
}

/**
 * Sets the headers of an answer. Who has it already gets 304, and what was answered before is answered from memory; null
 * where it has to be made. Only data are offered to be given again to others.
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

/** Sends a body that was made, or cached. */
export function send(
  reply: FastifyReply,
  format: Representation,
  body: string,
  pageContext: PageContext | null,
): FastifyReply {
  if (pageContext !== null) return sendPageText(reply, pageContext, body)
  return reply.type(`${format.type}; charset=utf-8`).send(body)
}

/** Statistics and endpoints stand in a document of their own: in a fragment clients would take them for its controls. */
export function describeBy(reply: FastifyReply, address: string): void {
  reply.header('link', `<${address}>; rel="describedby"`)
}
