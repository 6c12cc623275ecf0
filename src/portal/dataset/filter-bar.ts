import type { Fault } from '../../errors.ts'
import { type Html, html } from '../../http/html.ts'
import { chosenChips } from '../parts/facets.ts'
import { selectionParameters } from '../selection.ts'
import type { Tab, TabContext } from './tab.ts'

/** The one filter of all tabs: words, a condition in ODSQL with its error, what is chosen, and how many records that are. */
export function filterBar(context: TabContext, tab: Tab, fault: Fault | null, total: number | null): Html {
  const { visit, selection, path, query, entry } = context
  const { say } = visit
  const label = (name: string) => entry.dataset.fields.find(field => field.name === name)?.label ?? name
  const where = fault === null ? selection.where : String(query.where ?? '')
  const others = Object.entries(selectionParameters({ ...selection, words: '', where: '', page: 1 })).flatMap(
    ([name, values]) =>
      (Array.isArray(values) ? values : [values ?? '']).map(value =>
        value === '' ? '' : html`<input type="hidden" name="${name}" value="${String(value)}">`,
      ),
  )
  const count =
    total === null
      ? ''
      : html`<p class="count" role="status">${say.many('{n} record', '{n} records', total)}</p>`
  const isOpen = where !== '' ? html` open` : ''
  return html`<form class="filter" action="${visit.href(path(tab.name))}" method="get" role="search">
${others}${language(context)}
<div class="words"><label class="hidden" for="q">${say('Words to look for')}</label>
<input type="search" id="q" name="q" value="${selection.words}" placeholder="${say('Look for words')}" autocomplete="off">
<button>${say('Filter')}</button>${count}</div>
<details class="odsql"${isOpen}><summary>${say('Condition in ODSQL')}</summary>
<label class="hidden" for="where">${say('Condition in ODSQL')}</label>
<textarea id="where" name="where" rows="2" spellcheck="false" autocapitalize="off" data-odsql="where" data-dataset="${entry.dataset.id}" placeholder="population > 1000000"${fault === null ? '' : html` aria-invalid="true" aria-describedby="where-fault"`}>${where}</textarea>
${fault === null ? '' : faultText(fault, where)}</details>
${chosenChips(visit, selection, path(tab.name), label)}
</form>`
}

function language({ visit, query }: TabContext): Html {
  return typeof query.lang === 'string'
    ? html`<input type="hidden" name="lang" value="${visit.language}">`
    : html``
}

/** The message, and a caret below the place that it is about. */
function faultText(fault: Fault, where: string): Html {
  const { from } = fault.place
  const caret =
    from === undefined || where === '' || where.includes('\n')
      ? ''
      : html`<pre aria-hidden="true">${where}
${' '.repeat(Math.min(from, where.length))}^</pre>`
  return html`<div class="fault" id="where-fault" role="alert"><p>${fault.message}</p>${caret}</div>`
}
