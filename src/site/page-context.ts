import '../http/authenticate.ts'
import { readFileSync } from 'node:fs'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { addressForLinks, type QueryParameters } from '../http/query-string.ts'
import { isLanguage, type Language } from '../model/language.ts'
import { lookup } from '../model/lookup.ts'
import { memoised } from '../model/memoised.ts'
import { ANONYMOUS, type Principal } from '../model/principal.ts'

/** The settings of a portal for its pages. */
export interface SiteOptions {
  /** Public address, without trailing slash. */
  readonly base: string
  readonly title: string
  /** One sentence about it; may be empty. */
  readonly description: string
  /** Languages of the portal, the default first. */
  readonly languages: readonly string[]
}

/** Parameters of an address: several values of one name keep their order; undefined and empty ones are left out. */
export type LinkParameters = Readonly<Record<string, string | number | readonly string[] | undefined>>

/** The user and language of a page, and formatters for them. */
export interface PageContext {
  readonly site: SiteOptions
  readonly principal: Principal
  readonly language: Language
  /** The language if the address names it: links and forms keep it. */
  readonly namedLanguage: Language | undefined
  readonly t: Translator
  /** Path and query of the page itself, without the path of the base address and without credentials. */
  readonly address: string
  /**
   * The address of a page of this portal: with the path of the base address, and with the language of the address.
   *
   * @param path from `/` on, its segments encoded
   */
  readonly href: (path: string, parameters?: LinkParameters) => string
  readonly number: (value: number | bigint, options?: Intl.NumberFormatOptions) => string
  /** A day, or a date with time, in the format of the language, in UTC. */
  readonly date: (iso: string, style?: DateStyle) => string
}

/** The page context of a request. */
export function pageContextOf(
  request: Pick<FastifyRequest, 'query' | 'headers' | 'principal' | 'url' | 'raw'>,
  site: SiteOptions,
): PageContext {
  const { language, isNamed } = chooseLanguage(request, site.languages)
  const root = new URL(site.base).pathname.replace(/\/+$/, '')
  return {
    site,
    principal: request.principal ?? ANONYMOUS,
    language,
    namedLanguage: isNamed ? language : undefined,
    t: translatorOf(language),
    address: addressForLinks(request.raw.url ?? request.url),
    href: (path, parameters = {}) =>
      root +
      path +
      queryText(isNamed && parameters.lang === undefined ? { ...parameters, lang: language } : parameters),
    number: (value, options) => numberFormat(language, options).format(value),
    date: (iso, style = 'day') => dateText(iso, language, style),
  }
}

/** Parameters as names and values; undefined and empty ones are left out. */
export function parameterPairs(parameters: LinkParameters): readonly (readonly [string, string])[] {
  return Object.entries(parameters).flatMap(([name, given]) =>
    [given]
      .flat()
      .flatMap(value => (value === undefined || value === '' ? [] : [[name, String(value)] as const])),
  )
}

/** A query string with its question mark; nothing for no parameters. */
export function queryText(parameters: LinkParameters): string {
  const pairs = parameterPairs(parameters)
  if (pairs.length === 0) return ''
  return `?${pairs.map(([name, value]) => `${encodeURIComponent(name)}=${readable(value)}`).join('&')}`
}

/** A parameter value with minimal escaping: users read addresses, too. */
function readable(value: string): string {
  return encodeURIComponent(value).replace(/%(?:20|2C|3A|2F)/g, code => lookup(READABLE, code) ?? code)
}

const READABLE: Readonly<Record<string, string>> = { '%20': '+', '%2C': ',', '%3A': ':', '%2F': '/' }

/** The same function, which makes the result for the same arguments once. */
function once<Given extends readonly unknown[], Result>(make: (...given: Given) => Result) {
  const known = new Map<string, Result>()
  return (...given: Given): Result => {
    const key = JSON.stringify(given)
    const result = known.get(key) ?? make(...given)
    known.set(key, result)
    return result
  }
}

const translatorOf = once(translator)

const numberFormat = once(
  (language: Language, options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(language, options),
)

/** A day, a moment of data, or a moment of the portal with its time zone, which is UTC. */
export type DateStyle = 'day' | 'moment' | 'zoned'

const dateFormat = once((language: Language, style: DateStyle) => {
  const day = { year: 'numeric', month: 'short', day: 'numeric', timeZone: 'UTC' } as const
  const time = style === 'day' ? {} : ({ hour: '2-digit', minute: '2-digit' } as const)
  const zone = style === 'zoned' ? ({ timeZoneName: 'short' } as const) : {}
  return new Intl.DateTimeFormat(language, { ...day, ...time, ...zone })
})

function dateText(iso: string, language: Language, style: DateStyle): string {
  const moment = new Date(iso)
  return Number.isNaN(moment.getTime()) ? iso : dateFormat(language, style).format(moment)
}

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
  return memoised(loaded, language, () => {
    const table: unknown = JSON.parse(readFileSync(new URL(`${language}.json`, FOLDER), 'utf8'))
    return Value.Parse(MESSAGES, table)
  })
}

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
