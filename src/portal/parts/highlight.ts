import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { SOURCE_RULES, type SourceLanguage, type TokenKind, type TokenRule } from './highlight-rules.ts'

/** A token of source text. */
export interface HighlightToken {
  readonly kind: TokenKind
  readonly text: string
}

/** Returns the link target of a token; null for none. */
type TokenLink = (token: HighlightToken) => string | null

/** Splits a source text into tokens, which together are the text. */
export function highlightTokens(text: string, language: SourceLanguage): readonly HighlightToken[] {
  const rules: readonly TokenRule[] = SOURCE_RULES[language]
  const tokens: HighlightToken[] = []
  for (let at = 0; at < text.length; ) {
    const token = tokenAt(text, at, rules)
    const last = tokens.at(-1)
    if (last?.kind === 'plain' && token.kind === 'plain')
      tokens[tokens.length - 1] = { kind: 'plain', text: last.text + token.text }
    else tokens.push(token)
    at += token.text.length
  }
  return tokens
}

function tokenAt(text: string, at: number, rules: readonly TokenRule[]): HighlightToken {
  for (const [kind, pattern] of rules) {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found !== undefined && found !== '') return { kind, text: found }
  }
  return { kind: 'plain', text: text.slice(at, at + 1) }
}

/** A source text with a class for each kind of token, `t-string`, and links for tokens with a target. */
export function highlight(text: string, language: SourceLanguage, link: TokenLink = () => null): Html {
  return html`${highlightTokens(text, language).map(token => {
    const target = link(token)
    const shown = target === null ? html`${token.text}` : html`<a href="${target}">${token.text}</a>`
    return token.kind === 'plain' ? shown : html`<span class="t-${token.kind}">${shown}</span>`
  })}`
}

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
