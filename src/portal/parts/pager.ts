import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'

/**
 * Links to the pages around one.
 *
 * @param pages total number of pages
 * @param target returns the address of a page
 */
export function pager(
  pageContext: PageContext,
  page: number,
  pages: number,
  target: (page: number) => string,
): Html {
  if (pages <= 1) return html``
  const near = [1, page - 2, page - 1, page, page + 1, page + 2, pages].filter(
    (each, at, all) => each >= 1 && each <= pages && all.indexOf(each) === at,
  )
  const items = near.map((each, at) => {
    const gap =
      at > 0 && each - (near[at - 1] ?? 0) > 1 ? html`<li class="gap" aria-hidden="true">…</li>` : ''
    const here = each === page ? html` aria-current="page"` : ''
    return html`${gap}<li><a href="${target(each)}"${here}>${pageContext.number(each)}</a></li>`
  })
  const step = (to: number, label: string, rel: string) =>
    to < 1 || to > pages ? '' : html`<li><a href="${target(to)}" rel="${rel}">${label}</a></li>`
  return html`<nav class="pager" aria-label="${pageContext.t('Pages')}"><ul>${step(page - 1, pageContext.t('Previous'), 'prev')}${items}${step(page + 1, pageContext.t('Next'), 'next')}</ul></nav>`
}
