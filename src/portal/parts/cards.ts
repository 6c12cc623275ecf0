import type { FastifyReply } from 'fastify'
import { momentMeta } from '../../catalog/catalog-dataset.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import type { StartProgress } from '../../catalog/visible.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { datasetPath } from '../dataset/tab.ts'
import { datasetTitle, languageMark, metaText, metaTexts } from '../services.ts'
import { plainText } from './rich-text.ts'

const MAX_LENGTH = 180

/** A dataset in a list: its name, description, size and publisher. */
export function datasetCard(pageContext: PageContext, entry: ServedDataset, level: 'h2' | 'h3' = 'h2'): Html {
  const { t, href } = pageContext
  const { dataset, statistics, content } = entry
  const text = plainText(metaText(entry, 'description') ?? '')
  const publisher = metaText(entry, 'publisher')
  const license = metaText(entry, 'license')
  const mark = languageMark(pageContext, entry)
  const heading = html`<a href="${href(datasetPath(dataset.id))}"${mark}>${datasetTitle(entry)}</a>`
  const facts = [
    content === 'records'
      ? t.many('{n} record', '{n} records', statistics.records)
      : t.many('{n} triple', '{n} triples', entry.triples),
    publisher,
    license,
  ].filter(fact => fact !== null)
  const themes = metaTexts(entry, 'theme').slice(0, 3)
  const restricted =
    dataset.visibility === 'public' ? '' : html` <span class="badge">${t('restricted')}</span>`
  return html`<article class="card">${level === 'h2' ? html`<h2>${heading}${restricted}</h2>` : html`<h3>${heading}${restricted}</h3>`}
<p${mark}>${text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1).replace(/\s+\S*$/, '')}…` : text}</p>
<p class="facts">${facts.map(fact => html`<span>${fact}</span> `)}${themes.map(theme => html`<span class="theme">${theme}</span> `)}</p>
</article>`
}

/** When a dataset was last modified, according to its publisher, or else when it was published. */
export function modifiedOf(entry: ServedDataset): string {
  return momentMeta(entry.dataset.metas.default?.modified) ?? String(momentMeta(entry.published))
}

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
