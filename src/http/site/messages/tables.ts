import type { Language } from '../../../model/language.ts'
import type { MessageTable } from '../messages.ts'

/** The texts of the interface in every language but English, in which they are written. */
export const TABLES: Partial<Record<Language, MessageTable>> = {}
