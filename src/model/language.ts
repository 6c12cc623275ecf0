/** Languages for the texts of dates; the first is the default of the API. */
export const LANGUAGES = ['fr', 'en', 'nl', 'pt', 'it', 'ar', 'de', 'es', 'ca', 'eu', 'sv'] as const
export type Language = (typeof LANGUAGES)[number]

/** True for a supported language of the texts of dates. */
export function isLanguage(text: string): text is Language {
  return (LANGUAGES as readonly string[]).includes(text)
}
