import { lookup } from '../../model/lookup.ts'
import { isCalendarDay, type LocalTime } from '../../model/time.ts'
import { misconfigured } from '../source.ts'

/** Names of months in dates, and short ones after a bar: a text for each language. */
const MONTHS: readonly string[] = [
  'january february march april may june july august september october november december|jan feb mar apr may jun jul aug sep oct nov dec',
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre|janv févr mars avr mai juin juil août sept oct nov déc',
  'januar februar märz april mai juni juli august september oktober november dezember|jan feb märz apr mai juni juli aug sept okt nov dez',
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre|ene feb mar abr may jun jul ago sept oct nov dic',
  'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre|gen feb mar apr mag giu lug ago set ott nov dic',
  'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro|jan fev mar abr mai jun jul ago set out nov dez',
  'januari februari maart april mei juni juli augustus september oktober november december|jan feb mrt apr mei jun jul aug sep okt nov dec',
  'stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia|sty lut mar kwi maj cze lip sie wrz paź lis gru',
  'ledna února března dubna května června července srpna září října listopadu prosince',
  'января февраля марта апреля мая июня июля августа сентября октября ноября декабря|янв фев мар апр май июн июл авг сен окт ноя дек',
  'січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня',
  'januari februari mars april maj juni juli augusti september oktober november december|jan feb mar apr maj jun jul aug sep okt nov dec',
  'januar februar marts april maj juni juli august september oktober november december|jan feb mar apr mai jun jul aug sep okt nov des',
  'tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta',
  'ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık|oca şub mar nis may haz tem ağu eyl eki kas ara',
  'ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie',
  'ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου',
]

/** Forms that publishers use beside those. */
const MORE_MONTHS =
  'sept 9 mar 3 mär 3 jän 1 jänner 1 fev 2 fevr 2 fevrier 2 avr 4 aout 8 déc 12 dec 12 decembre 12 set 9 mrt 3 marco 3'

/** Names of weekdays and their short forms in English, French, German, Spanish, Italian, Portuguese and Dutch. */
const WEEKDAYS = [
  'monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun',
  'lundi mardi mercredi jeudi vendredi samedi dimanche lun mar mer jeu ven sam dim',
  'montag dienstag mittwoch donnerstag freitag samstag sonntag mo di mi do fr sa so',
  'lunes martes miércoles jueves viernes sábado domingo lun mar mié jue vie sáb dom',
  'lunedì martedì mercoledì giovedì venerdì sabato domenica lun mar mer gio ven sab dom',
  'segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo seg ter qua qui sex sáb dom',
  'maandag dinsdag woensdag donderdag vrijdag zaterdag zondag ma di wo do vr za zo',
].flatMap(names => names.split(' '))

const { months, long, short } = gather()

/** Names of months, short and long, and short ones alone, as parts of a regular expression. */
const MONTH_FORM = formOf([...long, ...short])
const SHORT_MONTH_FORM = formOf(short)
/** Names of weekdays as part of a regular expression. */
export const WEEKDAY_FORM = formOf(WEEKDAYS)

/** The number of a month from its name, 1 to 12; 0 for an unknown name. */
export function monthNamed(name: string): number {
  return months.get(name.toLowerCase().replace(/\.$/, '')) ?? 0
}

function gather() {
  const months = new Map<string, number>()
  const names = { long: new Set<string>(), short: new Set<string>() }
  const add = (set: Set<string>, name: string, month: number) => {
    if ((months.get(name) ?? month) !== month) return
    months.set(name, month)
    set.add(name)
  }
  for (const language of MONTHS)
    for (const [width, list] of language.split('|').entries())
      for (const [at, name] of list.split(' ').entries())
        add(names[width === 0 ? 'long' : 'short'], name, at + 1)
  for (const [, name = '', month] of MORE_MONTHS.matchAll(/(\S+) (\d+)/g))
    add(names.short, name, Number(month))
  return { months, long: [...names.long], short: [...names.short] }
}

/** Longer names first, so that no name hides another that begins with it; a period may follow. */
function formOf(names: readonly string[]): string {
  const ordered = [...new Set(names)].sort((a, b) => b.length - a.length)
  return `(?:${ordered.map(name => name.replace(/[.]/g, '\\.')).join('|')})\\.?`
}

type Part =
  | 'year'
  | 'month'
  | 'day'
  | 'hour'
  | 'minute'
  | 'second'
  | 'fraction'
  | 'half'
  | 'weekday'
  | 'offset'

interface Token {
  readonly part: Part
  readonly form: string
  readonly value: (text: string) => number
}

const TOKENS: Readonly<Record<string, Token>> = {
  yyyy: { part: 'year', form: '\\d{4}', value: Number },
  yy: { part: 'year', form: '\\d{2}', value: text => pivoted(Number(text)) },
  MMMM: { part: 'month', form: MONTH_FORM, value: text => monthNamed(text) },
  MMM: { part: 'month', form: SHORT_MONTH_FORM, value: text => monthNamed(text) },
  MM: { part: 'month', form: '\\d{2}', value: Number },
  M: { part: 'month', form: '\\d{1,2}', value: Number },
  dd: { part: 'day', form: '\\d{2}', value: Number },
  d: { part: 'day', form: '\\d{1,2}', value: Number },
  do: { part: 'day', form: '\\d{1,2}(?:st|nd|rd|th|er|[eéèº°ª])?', value: text => Number.parseInt(text, 10) },
  EEE: { part: 'weekday', form: WEEKDAY_FORM, value: () => 0 },
  HH: { part: 'hour', form: '\\d{2}', value: Number },
  H: { part: 'hour', form: '\\d{1,2}', value: Number },
  mm: { part: 'minute', form: '\\d{2}', value: Number },
  ss: { part: 'second', form: '\\d{2}', value: Number },
  S: { part: 'fraction', form: '\\d{1,9}', value: Number },
  SSS: { part: 'fraction', form: '\\d{3}', value: Number },
  X: { part: 'offset', form: '[+-]\\d{2}(?::?\\d{2})?|Z|UTC|GMT', value: utcOffset },
}

const PARTS = `Parts: ${Object.keys(TOKENS).join(' ')}.`

/** Hours of twelve, which are tokens only if the pattern has am or pm. */
const HALVES: Readonly<Record<string, Token>> = {
  hh: { part: 'hour', form: '\\d{2}', value: Number },
  h: { part: 'hour', form: '\\d{1,2}', value: Number },
  a: { part: 'half', form: '[ap]\\.?m\\.?', value: text => (/^p/i.test(text) ? 12 : 0) },
}

/** The result of parsing a text with a pattern: a local time and, if the pattern has one, its offset from UTC in milliseconds. */
interface PatternTime extends LocalTime {
  readonly offset: number | null
}

/** Parses a text; null if it does not match the pattern or denotes no real time. */
export type PatternReader = (text: string) => PatternTime | null

/**
 * Compiles a pattern of `yyyy yy MMMM MMM MM M dd d HH H mm ss SSS S EEE` and literals: `MMM dd yyyy` reads `Jun 12 1998`; with
 * `a` for am or pm also `hh` and `h`. `EEE` is the name of a weekday, which is ignored; `do` a day with or without its ordinal
 * (`5th`, `1er`), `X` an offset from UTC (`+02:00`, `+0200`, `Z`, `UTC`). Names are those of several languages, in any case,
 * short or long for MMMM; two-digit years up to 68 are of this century, from 69 of the last; a blank matches one or more; letters within single quotes are literals, as are letters that begin no token. Parts that the
 * pattern lacks are the first of the period. Throws ConfigInvalid for a pattern without a year, with a part twice or with a gap,
 * like a day without a month.
 */
export function compilePattern(pattern: string): PatternReader {
  const tokens: Token[] = []
  let form = ''
  const hasHalf = /(?:^|[^a-z])h{1,2}[^a-z].*(?:^|[^a-z])a(?![a-z])/i.test(pattern.replace(/'[^']*'/g, ' '))
  for (const [piece] of pattern.matchAll(/'[^']*'|EEE|h{1,2}|do|X|([yMdHmsS])\1*|[\s\S]/g)) {
    const token = lookup(TOKENS, piece) ?? (hasHalf ? lookup(HALVES, piece) : undefined)
    if (token !== undefined) {
      tokens.push(token)
      form += `(${token.form})`
    } else if (/^[yMdHmsS]/.test(piece))
      throw misconfigured(
        `The format ${JSON.stringify(pattern)} has ${piece}, which means nothing.`,
        PARTS,
        'format',
      )
    else form += literal(piece)
  }
  checkParts(tokens, pattern)
  const expression = new RegExp(`^${form}$`, 'i')
  return text => {
    const match = expression.exec(text)
    return match === null ? null : localTime(tokens, match)
  }
}

/** True for valid hours, minutes and seconds. */
export function isClockTime(hour: number, minute: number, second: number): boolean {
  return hour <= 23 && minute <= 59 && second <= 59
}

function localTime(tokens: readonly Token[], match: readonly string[]): PatternTime | null {
  let offset: number | null = null
  const local = { year: 1, month: 1, day: 1, hour: 0, minute: 0, second: 0, fraction: '' }
  let half: number | null = null
  for (const [index, { part, value }] of tokens.entries()) {
    const text = match[index + 1] ?? ''
    if (part === 'half') half = value(text)
    else if (part === 'weekday') continue
    else if (part === 'offset') offset = value(text)
    else if (part === 'fraction') local.fraction = text.replace(/0+$/, '')
    else local[part] = value(text)
  }
  if (half !== null) {
    if (local.hour < 1 || local.hour > 12) return null
    local.hour = (local.hour % 12) + half
  }
  const isReal =
    isCalendarDay(local.year, local.month, local.day) && isClockTime(local.hour, local.minute, local.second)
  return isReal && !Number.isNaN(offset) ? { ...local, offset } : null
}

function checkParts(tokens: readonly Token[], pattern: string): void {
  const parts = tokens.map(token => token.part)
  const order: readonly Part[] = ['year', 'month', 'day', 'hour', 'minute', 'second', 'fraction']
  const gap = order.find(
    (part, index) => !parts.includes(part) && order.slice(index).some(p => parts.includes(p)),
  )
  if (parts.length === 0 || gap !== undefined)
    throw misconfigured(`The format ${JSON.stringify(pattern)} lacks the ${gap ?? 'year'}.`, PARTS, 'format')
  const twice = parts.find((part, index) => parts.indexOf(part) !== index)
  if (twice !== undefined)
    throw misconfigured(`The format ${JSON.stringify(pattern)} has the ${twice} twice.`, undefined, 'format')
}

function literal(piece: string): string {
  if (piece === "''") return "'"
  if (piece === ' ') return ' +'
  const text = piece.length > 1 && piece.startsWith("'") ? piece.slice(1, -1) : piece
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/** An offset from UTC (`Z`, `+02:00`, `-05`) in milliseconds; NaN for one that no zone has. */
export function utcOffset(text: string): number {
  if (!/^[+-]/.test(text)) return 0
  const [hours = 0, minutes = 0] = (text.slice(1).match(/\d\d/g) ?? []).map(Number)
  if (hours > 23 || minutes > 59) return Number.NaN
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

function pivoted(year: number): number {
  return year < 69 ? 2000 + year : 1900 + year
}
