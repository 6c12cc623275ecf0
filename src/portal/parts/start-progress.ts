import type { FastifyReply } from 'fastify'
import type { StartProgress } from '../../catalog/visible.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'

/** Seconds after which a page that lacks datasets should be requested again. */
const RETRY_AFTER = '2'

/** Sets the headers of a page that lacks datasets, which has status 503 (RFC 9110, sections 10.2.3 and 15.6.4). */
export function startingReply(reply: FastifyReply, progress: StartProgress | null): FastifyReply {
  return progress === null
    ? reply
    : reply.header('retry-after', RETRY_AFTER).header('cache-control', 'no-cache, no-store')
}

/** A note with the number of served datasets and the total. */
export function startNote({ t }: PageContext, { served, expected }: StartProgress): Html {
  return html`<p class="count" role="status">${t('Datasets served so far: {served} of {expected}. The others are being loaded or published.', { served, expected })}</p>`
}
