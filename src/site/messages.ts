import { readFileSync } from 'node:fs'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Language } from '../model/language.ts'

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
