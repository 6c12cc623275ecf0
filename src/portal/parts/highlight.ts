import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'

/** Kinds of tokens that are highlighted differently. */
export type TokenKind =
  | 'comment'
  | 'string'
  | 'number'
  | 'keyword'
  | 'key'
  | 'iri'
  | 'name'
  | 'variable'
  | 'plain'

/** A kind of token and its pattern; the expression is sticky, and never matches an empty text. */
export type TokenRule = readonly [kind: TokenKind, pattern: RegExp]

/** Languages with highlighting. */
export type SourceLanguage = keyof typeof SOURCE_RULES

const BLANK: TokenRule = ['plain', /\s+/y]
const ANYTHING: TokenRule = ['plain', /[\s\S]/y]
const HASH_COMMENT: TokenRule = ['comment', /#[^\n]*/y]
const DOUBLE_QUOTED: TokenRule = ['string', /"(?:[^"\\\n]|\\.)*"/y]
const SINGLE_QUOTED: TokenRule = ['string', /'(?:[^'\\\n]|\\.)*'/y]
const NUMBER: TokenRule = ['number', /[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?\b/iy]

/** YARRRML is YAML with references to fields in it: `$(name)`. */
const YAML: readonly TokenRule[] = [
  BLANK,
  HASH_COMMENT,
  ['key', /[^\s#'"[\]{},:$-][^\s'"[\]{},:$]*(?=[ \t]*:(?:\s|$))/y],
  ['string', /'(?:[^'\n]|'')*'/y],
  DOUBLE_QUOTED,
  ['variable', /\$\([^)\n]*\)/y],
  ['number', /-?\d+(?:\.\d+)?(?=[\s,\]}]|$)/y],
  ['iri', /https?:[^\s,'"[\]{}$]+/y],
  ['plain', /[^\s'"[\]{},$]+/y],
  ANYTHING,
]

const SPARQL_WORDS =
  /(?:base|prefix|select|construct|ask|describe|distinct|reduced|from|named|where|order|by|group|having|limit|offset|values|optional|union|minus|graph|service|silent|filter|bind|as|not|exists|in|asc|desc|undef|true|false|a|count|sum|avg|min|max|sample|group_concat|separator)\b(?!:)/iy

const TERMS: readonly TokenRule[] = [
  ['iri', /<[^<>\s"{}|^`\\]*>/y],
  ['string', /"""[\s\S]*?"""/y],
  DOUBLE_QUOTED,
  SINGLE_QUOTED,
  ['name', /(?:[A-Za-z][\w-]*)?:(?:[\w%-]|\.(?=\w))*/y],
]

const SPARQL: readonly TokenRule[] = [
  BLANK,
  HASH_COMMENT,
  ['variable', /[?$]\w+/y],
  ...TERMS,
  ['keyword', SPARQL_WORDS],
  NUMBER,
  ['plain', /\w+/y],
  ANYTHING,
]

const TURTLE: readonly TokenRule[] = [
  BLANK,
  HASH_COMMENT,
  ['keyword', /@(?:prefix|base)\b/y],
  ...TERMS,
  ['plain', /@[A-Za-z]+(?:-\w+)*/y],
  ['keyword', /(?:a|true|false)\b/y],
  NUMBER,
  ['plain', /\w+/y],
  ANYTHING,
]

const JSON_RULES: readonly TokenRule[] = [
  BLANK,
  ['key', /"(?:[^"\\\n]|\\.)*"(?=\s*:)/y],
  DOUBLE_QUOTED,
  NUMBER,
  ['keyword', /(?:true|false|null)\b/y],
  ANYTHING,
]

const CODE_WORDS =
  /(?:const|let|in|for|of|await|async|new|import|from|as|def|return|while|if|else|with|library|function|null|None|NULL|print|each|curl|npx)\b/y

/** Enough for the short programs of the pages: the shell, JavaScript, Python, R and Power Query. */
const CODE: readonly TokenRule[] = [
  BLANK,
  HASH_COMMENT,
  ['comment', /\/\/[^\n]*/y],
  DOUBLE_QUOTED,
  ['string', /'(?:[^'\\]|\\.)*'|`[^`]*`/y],
  ['keyword', CODE_WORDS],
  NUMBER,
  ['plain', /[\w.]+/y],
  ANYTHING,
]

/** The token rules of the languages: at each position the first matching rule applies. */
export const SOURCE_RULES = {
  yaml: YAML,
  sparql: SPARQL,
  turtle: TURTLE,
  json: JSON_RULES,
  code: CODE,
} as const satisfies Readonly<Record<string, readonly TokenRule[]>>

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
