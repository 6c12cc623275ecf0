import { odataFault } from './faults.ts'

/** The text before a plus sign that is a sign: an exponent, or the beginning of a number. */
const EXPONENT = /(?:^|[^\w.])[+-]?\d[\d.]*e$/i
const BEGINNING = /(?:^|[ \t,(:[])$/
/** Dates and times have no sign. */
const MOMENT = /^(?:\d{4,}-|\d\d:)/
/** A time before its zone, also within quotes. */
const TIME = /t\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/i
const MEDIA_TYPE = /^(?:application|text)\/[\w.-]+$/i

/** Number of characters before a plus sign that are examined. */
const LOOK_BACK = 48

/**
 * Percent-decodes the text of an option. A plus sign is a blank, as forms and many clients write it, except where the standard
 * allows a plus sign but no blank: in an exponent (`1e+5`), before a zone (`T10:00:00+01:00`), before a number (`gt ++5`) and in
 * a media type (`application/atom+xml`).
 *
 * @param option name of the option, for messages
 */
export function decodeOption(raw: string, option = 'query'): string {
  const [first = '', ...pieces] = raw.split('+').map(piece => percentDecoded(piece, option))
  const parts = [first]
  let before = first.slice(-LOOK_BACK)
  let isQuoted = oddQuotes(first)
  for (const piece of pieces) {
    const sign = isSign(before, piece.slice(0, 8), isQuoted) ? '+' : ' '
    parts.push(sign, piece)
    before = `${before}${sign}${piece.slice(-LOOK_BACK)}`.slice(-LOOK_BACK)
    if (oddQuotes(piece)) isQuoted = !isQuoted
  }
  return parts.join('')
}

/** Decodes an option with every plus sign literal, as in the ABNF: for a second try where the first was refused. */
export function decodeLiterally(raw: string, option = 'query'): string {
  return percentDecoded(raw, option)
}

/**
 * Decodes the text of `$search`: a semicolon must be encoded in words, because it separates the options in parentheses (ABNF,
 * searchWord).
 */
export function decodeSearch(raw: string, option = '$search'): string {
  let isPhrase = false
  for (const { 0: found, index } of raw.matchAll(/"|%22|;/g)) {
    if (found !== ';') isPhrase = !isPhrase
    else if (!isPhrase) {
      const from = decodeOption(raw.slice(0, index), option).length
      const reason = 'unexpected ;, expected %3B or a phrase between double quotes'
      throw odataFault(option, reason, { from, to: from + 1 })
    }
  }
  return decodeOption(raw, option)
}

function isSign(before: string, after: string, isQuoted: boolean): boolean {
  if (/^\d\d:\d\d/.test(after) && TIME.test(before)) return true
  if (isQuoted) return false
  if (/^\d/.test(after) && (EXPONENT.test(before) || (BEGINNING.test(before) && !MOMENT.test(after))))
    return true
  return /^\w/.test(after) && MEDIA_TYPE.test(before)
}

function oddQuotes(text: string): boolean {
  let odd = false
  for (let at = text.indexOf("'"); at >= 0; at = text.indexOf("'", at + 1)) odd = !odd
  return odd
}

/** Percent-decodes UTF-8; refuses malformed encoding. */
export function percentDecoded(raw: string, option: string): string {
  try {
    return decodeURIComponent(raw)
  } catch {
    const at = /%(?![0-9a-f]{2})/i.exec(raw)?.index
    const place = { from: at ?? 0, to: at === undefined ? raw.length : at + 1 }
    const reason =
      at === undefined ? 'the percent-encoded bytes are not UTF-8' : '% without two digits, expected %25'
    throw odataFault(option, reason, place)
  }
}
