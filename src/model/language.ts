/** The languages of pages, and of the names of months and days in the APIs, of which the first is the default. */
export const LANGUAGES = ['fr', 'en', 'nl', 'pt', 'it', 'ar', 'de', 'es', 'ca', 'eu', 'sv'] as const
export type Language = (typeof LANGUAGES)[number]

/** Languages that are written from right to left. */
export const RIGHT_TO_LEFT: ReadonlySet<Language> = new Set<Language>(['ar'])

/** True for a supported language. */
export function isLanguage(text: string): text is Language {
  return (LANGUAGES as readonly string[]).includes(text)
}
