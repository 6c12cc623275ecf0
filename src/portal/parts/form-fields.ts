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
