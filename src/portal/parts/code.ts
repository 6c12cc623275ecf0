import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { highlight, type TokenLink } from './highlight.ts'
import type { SourceLanguage } from './highlight-rules.ts'

/** The script of the copy buttons, which are hidden without it. */
export const COPY_ISLAND = 'copy.js'

/** A source text with a button that copies it. */
export function codeBlock(
  pageContext: PageContext,
  text: string,
  language: SourceLanguage,
  link?: TokenLink,
): Html {
  return html`<div class="listing" dir="ltr"><pre><code>${highlight(text, language, link)}</code></pre>${copyButton(pageContext)}</div>`
}

/** An address in full, as a link, with a button that copies it. */
export function addressLine(pageContext: PageContext, href: string, address: string): Html {
  return html`<span class="address"><a href="${href}"><code dir="ltr">${address}</code></a>${copyButton(pageContext)}</span>`
}

/** An address for programs, not a link for browsers. */
export function plainAddress(pageContext: PageContext, address: string): Html {
  return html`<span class="address"><code dir="ltr">${address}</code>${copyButton(pageContext)}</span>`
}

function copyButton({ t }: PageContext): Html {
  return html`<button type="button" class="plain copy" aria-live="polite" data-done="${t('Copied')}" data-failed="${t('Not copied')}" hidden>${t('Copy')}</button>`
}
