import { readFileSync } from 'node:fs'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Language } from '../model/language.ts'
import { lookup } from '../model/lookup.ts'

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

/** A text of the interface in another language; one that depends on a number has a form for each category of plurals. */
export type Message = string | Partial<Record<Intl.LDMLPluralRule, string>>

/** The texts of a language by the English ones; those that are missing are shown in English. */
export type MessageTable = Readonly<Record<string, Message>>

const PLURAL_FORMS = Type.Partial(
  Type.Object({
    zero: Type.String(),
    one: Type.String(),
    two: Type.String(),
    few: Type.String(),
    many: Type.String(),
    other: Type.String(),
  }),
)

/** The schema of a file of `locales/`. */
const MESSAGES = Type.Record(Type.String(), Type.Union([Type.String(), PLURAL_FORMS]))

const FOLDER = new URL('../../locales/', import.meta.url)

const loaded = new Map<Language, MessageTable>()

/**
 * The texts of the interface in a language: `locales/{language}.json`, checked against one schema and read once. English, in which
 * the texts are written, has none.
 */
export function messagesOf(language: Language): MessageTable {
  if (language === 'en') return {}
  const known = loaded.get(language)
  if (known !== undefined) return known
  const table: unknown = JSON.parse(readFileSync(new URL(`${language}.json`, FOLDER), 'utf8'))
  const messages: MessageTable = Value.Parse(MESSAGES, table)
  loaded.set(language, messages)
  return messages
}
