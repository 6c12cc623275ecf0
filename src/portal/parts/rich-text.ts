import { lookup } from '../../model/lookup.ts'
import { type Html, html } from '../../site/html.ts'

/** Elements that a publisher's text may have; headings become strong paragraphs, for the page has its own. */
const BLOCKS: Readonly<Record<string, string>> = {
  p: 'p',
  div: 'p',
  ul: 'ul',
  ol: 'ol',
  li: 'li',
  blockquote: 'blockquote',
  pre: 'pre',
  h1: 'h',
  h2: 'h',
  h3: 'h',
  h4: 'h',
  h5: 'h',
  h6: 'h',
}
const INLINE: Readonly<Record<string, string>> = {
  b: 'strong',
  strong: 'strong',
  i: 'em',
  em: 'em',
  code: 'code',
  sub: 'sub',
  sup: 'sup',
  a: 'a',
}

const PLAIN = ['p', 'ul', 'ol', 'li', 'blockquote', 'strong', 'em', 'code', 'sub', 'sup']
const OPEN: Readonly<Record<string, Html>> = {
  ...Object.fromEntries(PLAIN.map(name => [name, html`<${name}>`])),
  pre: html`<pre tabindex="0">`,
  h: html`<p class="strong">`,
}
const CLOSE: Readonly<Record<string, Html>> = {
  ...Object.fromEntries([...PLAIN, 'pre', 'a'].map(name => [name, html`</${name}>`])),
  h: html`</p>`,
}

const MAX_LENGTH = 20_000

/** Comments, and elements whose content is no text of the page. */
const WITHOUT_TEXT =
  /<!--[\s\S]*?(?:-->|$)|<(script|style|template|iframe|object|svg|math)\b[\s\S]*?(?:<\/\1\s*>|$)/gi
const TAG = /<(\/?)([a-zA-Z][a-zA-Z0-9]*)\b((?:"[^"]*"|'[^']*'|[^'"<>])*)>/
const ANYWHERE = new RegExp(`${WITHOUT_TEXT.source}|${TAG.source}`, 'gi')

/**
 * A text of a publisher, who may write HTML: a few elements are allowed, and of attributes only the address of links; everything
 * else becomes text or is dropped. The result is always well-formed.
 */
export function richText(text: string): Html {
  const source = text.slice(0, MAX_LENGTH)
  if (!/<[a-z!/]/i.test(source)) return paragraphs(source)
  const writer = new Writer()
  let at = 0
  for (const found of source.matchAll(ANYWHERE)) {
    writer.text(decoded(source.slice(at, found.index)))
    at = found.index + found[0].length
    const [, , slash, name = '', attributes = ''] = found
    if (name === '') continue
    if (slash === '/') writer.close(name.toLowerCase())
    else writer.open(name.toLowerCase(), attributes)
  }
  writer.text(decoded(source.slice(at)))
  return writer.end()
}

/** Elements within a line of text, which separate no words. */
const WITHIN_LINE = /^(?:a|abbr|b|code|em|font|i|mark|small|span|strong|sub|sup|u)$/i

/** The plain text of HTML in one line: other tags and scripts become spaces, and escapes are decoded. */
export function plainText(text: string): string {
  const line = text.replace(ANYWHERE, (...[, , , name = '']) => (WITHIN_LINE.test(name) ? '' : ' '))
  return decoded(line).replace(/\s+/g, ' ').trim()
}

/** A text without markup: blank lines separate its paragraphs, addresses are links. */
function paragraphs(text: string): Html {
  const parts = decoded(text)
    .split(/\n\s*\n/)
    .filter(part => part.trim() !== '')
  return html`${parts.map(part => html`<p>${withLinks(part.trim())}</p>`)}`
}

/** A text with its web addresses as links. */
export function withLinks(text: string): Html {
  const parts = text.split(/(https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]])/)
  return html`${parts.map((part, at) => (at % 2 === 1 ? html`<a href="${part}" rel="nofollow noopener">${part}</a>` : part))}`
}

/** Writes properly nested markup. */
class Writer {
  private readonly parts: Html[] = []
  private readonly stack: string[] = []

  text(text: string): void {
    const isBlank = text.trim() === ''
    const last = this.stack.at(-1)
    if (isBlank && (last === undefined || last === 'ul' || last === 'ol')) return
    if (last === undefined || last === 'blockquote') this.push('p')
    else if (last === 'ul' || last === 'ol') this.push('li')
    this.parts.push(this.stack.includes('a') ? html`${text}` : withLinks(text))
  }

  open(name: string, attributes: string): void {
    if (name === 'br') {
      if (this.stack.length > 0) this.parts.push(html`<br>`)
      return
    }
    const block = lookup(BLOCKS, name)
    if (block !== undefined) {
      this.leaveText()
      if (block === 'li') this.toList()
      else if (this.stack.at(-1) === 'ul' || this.stack.at(-1) === 'ol') this.push('li')
      if (this.stack.length < 20) this.push(block)
      return
    }
    const inline = lookup(INLINE, name)
    if (inline === undefined || this.stack.includes(inline) || this.stack.length >= 20) return
    const last = this.stack.at(-1)
    if (last === undefined || last === 'blockquote') this.push('p')
    else if (last === 'ul' || last === 'ol') this.push('li')
    if (inline !== 'a') {
      this.push(inline)
      return
    }
    const address = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(attributes)
    const href = decoded(address?.[1] ?? address?.[2] ?? address?.[3] ?? '').trim()
    if (!/^(?:https?:\/\/|mailto:)/i.test(href)) return
    this.stack.push('a')
    this.parts.push(html`<a href="${href}" rel="nofollow noopener">`)
  }

  close(name: string): void {
    const element = lookup(BLOCKS, name) ?? lookup(INLINE, name)
    if (element !== undefined && this.stack.includes(element)) this.popTo(element)
  }

  end(): Html {
    while (this.stack.length > 0) this.pop()
    return html`${this.parts}`
  }

  /** A block ends the enclosing paragraph or text. */
  private leaveText(): void {
    while (!['li', 'ul', 'ol', 'blockquote', undefined].includes(this.stack.at(-1))) this.pop()
  }

  private toList(): void {
    const list = Math.max(this.stack.lastIndexOf('ul'), this.stack.lastIndexOf('ol'))
    if (list < 0) this.push('ul')
    else while (this.stack.length > list + 1) this.pop()
  }

  private push(element: string): void {
    this.stack.push(element)
    const mark = lookup(OPEN, element)
    if (mark !== undefined) this.parts.push(mark)
  }

  private pop(): void {
    const mark = lookup(CLOSE, this.stack.pop() ?? '')
    if (mark !== undefined) this.parts.push(mark)
  }

  private popTo(element: string): void {
    while (this.stack.length > 0 && this.stack.at(-1) !== element) this.pop()
    this.pop()
  }
}

/** The entities of ISO 8859-1 (HTML 4.01, section 24.2) from U+00A0 on. */
const LATIN_1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'

/** The entities that editors of rich text write. */
const ENTITIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(LATIN_1.split(' ').map((name, at) => [name, String.fromCodePoint(0xa0 + at)])),
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  sbquo: '‚',
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  hellip: '…',
  bull: '•',
  euro: '€',
  trade: '™',
  OElig: 'Œ',
  oelig: 'œ',
}

function decoded(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+\d*));/gi,
    (whole, decimal, hex, name: string) => {
      if (name !== undefined) return lookup(ENTITIES, name) ?? lookup(ENTITIES, name.toLowerCase()) ?? whole
      const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
}
