import type { GraphStatistics } from '../../catalog/graph-statistics.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { shortName } from './linked-data-lists.ts'

/** Sets that a page shows; the description in VoID has more. */
const MAX_SHOWN = 20

/** The characteristic sets of a graph, those of the most resources first. */
export function characteristicSets(
  pageContext: PageContext,
  entry: ServedDataset,
  { planner }: GraphStatistics,
): Html {
  const { t, number } = pageContext
  if (planner == null || planner.sets.length === 0) return html``
  const names = (iris: readonly string[]) => iris.map(iri => shortName(iri, entry.prefixes)).join(', ')
  const shown = planner.sets.slice(0, MAX_SHOWN)
  const rows = shown.map(
    ({ classes, subjects, properties }) =>
      html`<tr><td>${names(classes)}</td><td>${names(properties.map(({ iri }) => iri))}</td><td class="number">${number(subjects)}</td></tr>
`,
  )
  const left =
    planner.setCount > shown.length
      ? html`<p class="soft">${t('The first {shown} of {n} rows', { shown: shown.length, n: planner.setCount })}</p>`
      : ''
  return html`<h2>${t('Characteristic sets')}</h2>
<p class="soft">${t('Resources that have the same classes and properties: what planners of queries count with.')}</p>
<div class="scroll" tabindex="0" role="region" aria-label="${t('Characteristic sets')}"><table class="terms">
<thead><tr><th scope="col">${t('Classes')}</th><th scope="col">${t('Properties')}</th><th scope="col" class="number">${t('Resources')}</th></tr></thead><tbody>${rows}</tbody></table></div>${left}`
}
