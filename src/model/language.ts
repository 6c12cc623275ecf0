/** Languages in which texts of dates are written; the first is the one that the API takes when none is named. */
export const LANGUAGES = ['fr', 'en', 'nl', 'pt', 'it', 'ar', 'de', 'es', 'ca', 'eu', 'sv'] as const
export type Language = (typeof LANGUAGES)[number]

/** True for a language that texts of dates can be written in. */
export function isLanguage(text: string): text is Language {
  return (LANGUAGES as readonly string[]).includes(text)
}
