import type { MetaType } from '../model/templates.ts'
import { canonicalMoment } from '../model/time.ts'

/** What is expected of a value of each type. */
export const EXPECTED: Readonly<Record<MetaType, string>> = {
  text: 'a text',
  longstring: 'a text',
  list: 'a list of texts',
  datetime: 'a date or a date and time, as in 2024-05-31 or 2024-05-31T12:00:00Z,',
  int: 'an integer',
  double: 'a number',
  boolean: 'true or false',
  geo_shape: 'a geometry',
}

/** True if a value is exactly of a type, `lenient` if it can be read as one, false otherwise. */
export function fits(value: unknown, type: MetaType): boolean | 'lenient' {
  const isText = (each: unknown) => ['string', 'number', 'boolean'].includes(typeof each)
  const isPlain = isText(value)
  const isList = Array.isArray(value) && value.every(each => typeof each === 'string')
  if (value === null) return true
  switch (type) {
    case 'text':
    case 'longstring':
      return typeof value === 'string' || ((isPlain || isList) && 'lenient')
    case 'list':
      return isList || ((isPlain || (Array.isArray(value) && value.every(isText))) && 'lenient')
    case 'datetime':
      return typeof value === 'string' && canonicalMoment(value) !== null
    case 'int':
      return Number.isInteger(value)
    case 'double':
      return typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean'
    case 'geo_shape':
      return typeof value === 'string' || (typeof value === 'object' && !Array.isArray(value))
  }
}

/** What is expected of a value of metadata that is of its type, and probably not what it should be; null where nothing is. */
export function expectedValue(template: string, name: string, value: unknown): string | null {
  if (template !== 'default') return null
  const texts = [value].flat().filter(each => typeof each === 'string' && each !== '') as readonly string[]
  if (name === 'license_url' && !texts.every(isAddress))
    return 'an address, as in https://example.org/licence,'
  if (name === 'language' && !texts.every(isKnownLanguage)) return 'a code of a language, as in en or pt-BR,'
  return null
}

function isAddress(text: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(text) && URL.canParse(text)
}

const LANGUAGES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })

/** True for a tag of BCP 47 whose language has a name; most codes of three letters have none that is known here. */
function isKnownLanguage(tag: string): boolean {
  try {
    const [language = ''] = Intl.getCanonicalLocales(tag)[0]?.split('-') ?? []
    return language.length === 3 || LANGUAGES.of(language) !== undefined
  } catch {
    return false
  }
}
