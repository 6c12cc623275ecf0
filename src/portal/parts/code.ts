import { type Html, html } from '../../site/html.ts'
import type { Visit } from '../../site/page-context.ts'
import { highlight, type TokenLink } from './highlight.ts'
import type { SourceLanguage } from './highlight-rules.ts'

/** What makes the copy buttons work; they are not there without. */
export const COPY_ISLAND = 'copy.js'

/** A source text with a button that copies it. */
export function codeBlock(visit: Visit, text: string, language: SourceLanguage, link?: TokenLink): Html {
  return html`<div class="listing" dir="ltr"><pre><code>${highlight(text, language, link)}</code></pre>${copyButton(visit)}</div>`
}

/** An address in full, as a link, with a button that copies it. */
export function addressLine(visit: Visit, href: string, address: string): Html {
  return html`<span class="address"><a href="${href}"><code dir="ltr">${address}</code></a>${copyButton(visit)}</span>`
}

/** An address that programs take and browsers do not follow. */
export function plainAddress(visit: Visit, address: string): Html {
  return html`<span class="address"><code dir="ltr">${address}</code>${copyButton(visit)}</span>`
}

function copyButton({ say }: Visit): Html {
  return html`<button type="button" class="plain copy" aria-live="polite" data-done="${say('Copied')}" hidden>${say('Copy')}</button>`
}
