import { type Html, html } from '../../site/html.ts'
import type { LinkParameters, PageContext } from '../../site/page-context.ts'

/** Parameters of an address as hidden fields of a form that keeps them. */
export function hiddenFields(parameters: LinkParameters): readonly Html[] {
  return Object.entries(parameters).flatMap(([name, given]) =>
    (Array.isArray(given) ? (given as readonly string[]) : [given]).flatMap(value =>
      value === undefined || value === ''
        ? []
        : [html`<input type="hidden" name="${name}" value="${String(value)}">`],
    ),
  )
}

/** The language that the address names, in a form, whose fields replace the query string. */
export function languageField({ namedLanguage }: PageContext): Html {
  return namedLanguage === undefined
    ? html``
    : html`<input type="hidden" name="lang" value="${namedLanguage}">`
}
