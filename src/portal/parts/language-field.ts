import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'

/** The language that the address names, in a form: its address is made anew from its fields. */
export function languageField({ namedLanguage }: PageContext): Html {
  return namedLanguage === undefined
    ? html``
    : html`<input type="hidden" name="lang" value="${namedLanguage}">`
}
