import type { Language } from '../../../model/language.ts'
import { AR } from './ar.ts'
import { CA } from './ca.ts'
import { DE } from './de.ts'
import { ES } from './es.ts'
import { EU } from './eu.ts'
import { FR } from './fr.ts'
import { IT } from './it.ts'
import type { MessageTable } from './message.ts'
import { NL } from './nl.ts'
import { PT } from './pt.ts'
import { SV } from './sv.ts'

/** The texts of the interface in every language but English, in which they are written. */
export const TABLES: Readonly<Record<Exclude<Language, 'en'>, MessageTable>> = {
  fr: FR,
  de: DE,
  es: ES,
  it: IT,
  nl: NL,
  pt: PT,
  ca: CA,
  eu: EU,
  sv: SV,
  ar: AR,
}
