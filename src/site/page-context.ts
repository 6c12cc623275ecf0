import type { FastifyRequest } from 'fastify'
import type { Language } from '../model/language.ts'
import { lookup } from '../model/lookup.ts'
import { ANONYMOUS, type Principal } from '../model/principal.ts'
import '../http/authenticate.ts'
import { addressForLinks } from '../http/query-string.ts'
import { chooseLanguage } from './language.ts'
import { type Translator, translator } from './translator.ts'

/** The settings of a portal for its pages. */
export interface SiteOptions {
  /** Public address, without trailing slash. */
  readonly base: string
  /** Title of the portal. */
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
  /** Writes the texts of the interface. */
  readonly t: Translator
  /** Path and query of the page itself, without the path of the base address and without credentials. */
  readonly address: string
  /**
   * The address of a page of this portal: with the path of the base address, and with the language of the address.
   *
   * @param path from `/` on, its segments encoded
   */
  readonly href: (path: string, parameters?: LinkParameters) => string
  /** A number in the format of the language. */
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

/** A query string with its question mark; nothing for no parameters. */
export function queryText(parameters: LinkParameters): string {
  const pairs = Object.entries(parameters).flatMap(([name, given]) => {
    const values = Array.isArray(given)
      ? (given as readonly string[])
      : [given as string | number | undefined]
    return values.flatMap(value =>
      value === undefined || value === '' ? [] : [[name, String(value)] as const],
    )
  })
  if (pairs.length === 0) return ''
  return `?${pairs.map(([name, value]) => `${encodeURIComponent(name)}=${readable(value)}`).join('&')}`
}

/** A parameter value with minimal escaping: users read addresses, too. */
function readable(value: string): string {
  return encodeURIComponent(value).replace(/%(?:20|2C|3A|2F)/g, code => lookup(READABLE, code) ?? code)
}

const READABLE: Readonly<Record<string, string>> = { '%20': '+', '%2C': ',', '%3A': ':', '%2F': '/' }

const translators = new Map<Language, Translator>()

function translatorOf(language: Language): Translator {
  const known = translators.get(language)
  if (known !== undefined) return known
  const created = translator(language)
  translators.set(language, created)
  return created
}

const formats = new Map<string, Intl.NumberFormat>()

function numberFormat(language: Language, options: Intl.NumberFormatOptions = {}): Intl.NumberFormat {
  const key = `${language} ${JSON.stringify(options)}`
  const known = formats.get(key)
  if (known !== undefined) return known
  const created = new Intl.NumberFormat(language, options)
  formats.set(key, created)
  return created
}

/** A day, a moment of data, or a moment of the portal with its time zone, which is UTC. */
export type DateStyle = 'day' | 'moment' | 'zoned'

const dateFormats = new Map<string, Intl.DateTimeFormat>()

function dateFormat(language: Language, style: DateStyle): Intl.DateTimeFormat {
  const key = `${language} ${style}`
  const known = dateFormats.get(key)
  if (known !== undefined) return known
  const day = { year: 'numeric', month: 'short', day: 'numeric', timeZone: 'UTC' } as const
  const options = {
    day,
    moment: { ...day, hour: '2-digit', minute: '2-digit' },
    zoned: { ...day, hour: '2-digit', minute: '2-digit', timeZoneName: 'short' },
  } as const
  const created = new Intl.DateTimeFormat(language, options[style])
  dateFormats.set(key, created)
  return created
}

function dateText(iso: string, language: Language, style: DateStyle): string {
  const moment = new Date(iso)
  return Number.isNaN(moment.getTime()) ? iso : dateFormat(language, style).format(moment)
}
