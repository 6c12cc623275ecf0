import type { Language } from '../model/language.ts'
import { lookup } from '../model/lookup.ts'
import { messagesOf } from './messages.ts'

/** Writes the texts of the interface in one language. */
export interface Translator {
  /** @param parts fills the `{…}` of the text; numbers are written as the language writes them */
  (text: string, parts?: Readonly<Record<string, string | number>>): string
  /** A text with a number: `many('{n} record', '{n} records', 3)`; the table has it under the second text. */
  many(one: string, other: string, n: number): string
}

/** Marks a text of a table, in English, that is translated where it is shown: `say(label)`. */
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
