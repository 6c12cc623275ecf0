import { lookup } from '../model/lookup.ts'

/** Text that is HTML already and is not escaped again. */
export interface Html {
  readonly html: string
}

/**
 * Writes HTML: the one place of Lodestone that escapes it. Every value in the template is escaped, except results of this
 * function; a list is written item by item.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return {
    html: strings.reduce(
      (text, part, index) => text + part + (index < values.length ? write(values[index]) : ''),
      '',
    ),
  }
}

export type HtmlValue = string | number | null | undefined | Html | readonly HtmlValue[]

function write(value: HtmlValue): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value))
  if ('html' in value) return value.html
  return value.map(write).join('')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => lookup(ENTITIES, character) ?? character)
}

/** JSON as a block of a page that does not run: less-than signs are escaped, so that no text ends the element. */
export function jsonBlock(json: string, type: 'application/json' | 'application/ld+json', id?: string): Html {
  const name = id === undefined ? '' : html` id="${id}"`
  return html`<script type="${type}"${name}>${{ html: json.replaceAll('<', '\\u003c') }}</script>`
}
