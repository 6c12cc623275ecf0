import type { DatasetList } from '../../catalog/visible.ts'
import type { Form } from '../../http/form.ts'
import { fold } from '../../model/search.ts'
import type { DeskDataset } from '../../publishing/management/desk-types.ts'
import { hiddenField } from '../../site/account-fields.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { searchForm } from '../parts/form-fields.ts'
import { pager } from '../parts/pager.ts'
import { datasetTitle } from '../services.ts'
import { type DeskContext, publicationBadge, uploadForm } from './pages.ts'

/** Datasets without dataset.yaml that the list names; the others are counted. */
export const NAMED = 10

/** Those of some datasets with a text in their ids, or in their titles as they are served. */
export function idsWith(text: string, ids: readonly string[], { entries }: DatasetList): readonly string[] {
  const folded = fold(text)
  const titles = new Map(entries.map(entry => [entry.dataset.id, fold(datasetTitle(entry))]))
  return ids.filter(id => id.includes(folded) || titles.get(id)?.includes(folded) === true)
}

/** @param given a form that was refused */
function addressForm({ pageContext, token }: DeskContext, given: Form | null): Html {
  const { t } = pageContext
  return html`<form method="post" action="${pageContext.href('/desk/')}">${hiddenField('form_token', token)}<div class="field"><label for="url">${t('Address of a file')}</label>
<input id="url" name="url" type="url" value="${given?.get('url')}" required></div><div class="field"><label for="refresh">${t('Schedule')} <code>hourly, daily, weekly, monthly, 30 3 * * *</code></label>
<input id="refresh" name="refresh" value="${given?.get('refresh')}"></div><div class="buttons"><button>${t('Add')}</button></div></form>`
}

function namesOf(ids: readonly string[], pageContext: PageContext): string {
  const more = ids.length > NAMED ? ` … (+${pageContext.number(ids.length - NAMED)})` : ''
  return `${ids.slice(0, NAMED).join(', ')}${more}`
}

/** A page of the list of datasets. */
interface DeskList {
  readonly datasets: readonly DeskDataset[]
  /** What is searched for; empty for all. */
  readonly words: string
  readonly page: number
  readonly pages: number
  /** True if there are so many that they can be searched. */
  readonly isSearched: boolean
}

/**
 * @param undescribed ids of datasets without dataset.yaml, for those who may publish all of them
 * @param given the form of an address that was refused
 */
export function listBody(
  desk: DeskContext,
  { datasets, words, page, pages, isSearched }: DeskList,
  isForNew: boolean,
  undescribed: readonly string[],
  given: Form | null,
): Html {
  const { pageContext } = desk
  const { t } = pageContext
  const rows = datasets.map(
    each => html`<tr><th scope="row"><a href="${pageContext.href(`/desk/${each.id}/`)}">${each.title}</a></th><td><code>${each.id}</code></td>
<td>${publicationBadge(t, each)}</td><td class="number">${each.manifest === null ? '' : pageContext.number(each.manifest.statistics.records)}</td></tr>
`,
  )
  return html`${
    isForNew
      ? html`<h2>${t('New dataset')}</h2><div class="ways">${uploadForm(desk, '/desk/', t('File'))}${addressForm(desk, given)}</div>
<p><a href="${pageContext.href('/desk/~harvest/')}">${t('Harvested catalogs')}</a></p>`
      : ''
  }
<h2>${t('Datasets')}</h2>
${
  isSearched || words !== ''
    ? html`${searchForm(pageContext, '/desk/', words)}
`
    : ''
}${
  datasets.length === 0 && undescribed.length === 0 && words !== ''
    ? html`<p class="empty">${t('Nothing was found.')}</p>`
    : datasets.length === 0
      ? undescribed.length > 0
        ? ''
        : html`<p class="empty">${t('There is no dataset yet. Upload a file.')}</p>`
      : html`<div class="scroll" tabindex="0" role="region" aria-label="${t('Datasets')}"><table><thead><tr><th scope="col">${t('Title')}</th><th scope="col">${t('Identifier')}</th><th scope="col">${t('State')}</th><th scope="col" class="number">${t('Records')}</th></tr></thead><tbody>${rows}</tbody></table></div>`
}${pager(pageContext, page, pages, to => pageContext.href('/desk/', { q: words, page: to === 1 ? undefined : to }))}${
  undescribed.length === 0
    ? ''
    : html`<p class="soft">${t('Without a dataset.yaml, and therefore not edited here: {names}. The command lodestone import writes one.', { names: namesOf(undescribed, pageContext) })}</p>`
}`
}
