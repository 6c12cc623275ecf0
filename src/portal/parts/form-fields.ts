import { type Html, html } from '../../site/html.ts'
import { type LinkParameters, type PageContext, parameterPairs } from '../../site/page-context.ts'

/** Parameters of an address as hidden fields of a form that keeps them. */
export function hiddenFields(parameters: LinkParameters): readonly Html[] {
  return parameterPairs(parameters).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
}

/** The options of a list, by value and text; at most one is chosen. */
export function listOptions(
  options: readonly (readonly [value: string, text: string])[],
  chosen: string,
): Html {
  return html`${options.map(
    ([value, text]) =>
      html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`,
  )}`
}

/** The language that the address names, in a form, whose fields replace the query string. */
export function languageField({ namedLanguage }: PageContext): Html {
  return namedLanguage === undefined
    ? html``
    : html`<input type="hidden" name="lang" value="${namedLanguage}">`
}

/** The search of a list of datasets. @param hidden fields of the address that it keeps */
export function searchForm(
  pageContext: PageContext,
  path: string,
  words: string,
  hidden: readonly Html[] = [],
): Html {
  const { t } = pageContext
  return html`<form class="search" action="${pageContext.href(path)}" method="get" role="search">${hidden}${languageField(pageContext)}
<label class="hidden" for="q">${t('Words to look for')}</label>
<input type="search" id="q" name="q" value="${words}" placeholder="${t('Find datasets')}">
<button>${t('Search')}</button></form>`
}
