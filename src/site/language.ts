import type { FastifyRequest } from 'fastify'
import type { QueryParameters } from '../http/query-string.ts'
import { isLanguage, type Language } from '../model/language.ts'

/** The language that a page is written in, and whether the address names it: then links keep it. */
export interface ChosenLanguage {
  readonly language: Language
  readonly isNamed: boolean
}

/** The name of each language in that language. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: 'English',
  fr: 'Français',
  de: 'Deutsch',
  es: 'Español',
  it: 'Italiano',
  nl: 'Nederlands',
  pt: 'Português',
  ca: 'Català',
  eu: 'Euskara',
  sv: 'Svenska',
  ar: 'العربية',
}

/** All languages, those of the portal first, in its order. */
export function orderedLanguages(standard: readonly string[]): readonly Language[] {
  return [...new Set([...standard.filter(isLanguage), ...(Object.keys(LANGUAGE_NAMES) as Language[])])]
}

/**
 * The language of a page: that of the address, else the browser's preferred one among all of them, else the first of the
 * portal.
 */
export function chooseLanguage(
  { query, headers }: Pick<FastifyRequest, 'query' | 'headers'>,
  standard: readonly string[],
): ChosenLanguage {
  // A request whose path cannot be decoded has no query.
  const named = (query as QueryParameters | null)?.lang
  if (typeof named === 'string' && isLanguage(named)) return { language: named, isNamed: true }
  for (const language of accepted(headers['accept-language'] ?? ''))
    if (isLanguage(language)) return { language, isNamed: false }
  return { language: standard.find(isLanguage) ?? 'en', isNamed: false }
}

/** The main languages of an Accept-Language header, the best first (RFC 9110, section 12.5.4). */
function accepted(header: string): readonly string[] {
  return header
    .slice(0, 500)
    .split(',')
    .flatMap((part, index) => {
      const [, tag = '', weight = '1'] =
        /^\s*([a-z]{2,3})(?:-[\w-]+)?\s*(?:;\s*q=([\d.]+))?\s*$/i.exec(part) ?? []
      return tag === '' || Number(weight) === 0
        ? []
        : [{ tag: tag.toLowerCase(), weight: Number(weight), index }]
    })
    .sort((a, b) => b.weight - a.weight || a.index - b.index)
    .map(({ tag }) => tag)
}
