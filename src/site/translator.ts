import type { Language } from '../model/language.ts'
import { lookup } from '../model/lookup.ts'
import { messagesOf } from './messages.ts'

/** Writes the texts of the interface in one language. */
export interface Translator {
  /** @param parts fills the `{…}` of the text; numbers get the format of the language */
  (text: string, parts?: Readonly<Record<string, string | number>>): string
  /** A text with a number: `many('{n} record', '{n} records', 3)`; its key in the table is the second text. */
  many(one: string, other: string, n: number): string
}

/** Marks an English text of a table that is translated for display: `t(label)`. */
export function messageKey<Text extends string>(text: Text): Text {
  return text
}

/** The translator of a language. */
export function translator(language: Language): Translator {
  const table = messagesOf(language)
  const rules = new Intl.PluralRules(language)
  const numbers = new Intl.NumberFormat(language)
  const fill = (text: string, parts: Readonly<Record<string, string | number>>) =>
    text.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const part = lookup(parts, name)
      return part === undefined ? whole : typeof part === 'number' ? numbers.format(part) : part
    })
  const translate = (text: string, parts: Readonly<Record<string, string | number>> = {}) => {
    const found = lookup(table, text)
    return fill(typeof found === 'string' ? found : text, parts)
  }
  const many = (one: string, other: string, n: number) => {
    const found = lookup(table, other)
    const form = typeof found === 'object' ? (found[rules.select(n)] ?? found.other) : found
    return fill(form ?? (n === 1 ? one : other), { n })
  }
  return Object.assign(translate, { many })
}
