import type { LocalTime } from '../../model/time.ts'
import { compilePattern, monthNamed, type PatternReader, WEEKDAY_FORM } from '../typing/calendar-pattern.ts'

/** A date pattern that all values of a column so far match. */
export interface DateCandidate {
  readonly pattern: string
  readonly hasTime: boolean
  /** Days before months, months before days, or years first; `month` for a month without a day. */
  readonly order: 'day-first' | 'month-first' | 'year-first' | 'month'
}

/** Evidence from the dates of a column so far. */
export interface DateEvidence {
  readonly candidates: readonly DateCandidate[]
  /** True if every time was midnight. */
  readonly isMidnight: boolean
  /** True if all are a year and the two digits of the next one: 2007/08 is a season or financial year. */
  readonly isSeason: boolean
  /** True if years of two digits are interpreted as distant future years, such as 62 as 2062. */
  readonly isDistant: boolean
  /** Another calendar that all years may be of. */
  readonly calendar: string | undefined
}

const CLOCK = String.raw`(\d{1,2})(:|h|\.)(\d{2})(?:(:|\.)(\d{2})(?:([.,])(\d{1,9}))?)?( *)([ap]\.?m\.?)?`
const ZONE = String.raw`Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?`
const TIME = new RegExp(
  `^(.*?[\\d日])(T|(?<=\\d{4}):|,? +(?:(?:at|à|um|o|las|alle) +)?)${CLOCK}( *)(${ZONE}|Uhr)?$`,
  'i',
)
const TIME_FIRST = new RegExp(`^${CLOCK}(,? +)(\\S.*)$`, 'i')
const TIME_BEFORE_YEAR = new RegExp(
  `^(\\p{L}{3,12}\\.?)( +)(\\d{1,2})( +)${CLOCK}( *)(${ZONE})?( +)(\\d{4})$`,
  'iu',
)
const WEEKDAY = new RegExp(`^(${WEEKDAY_FORM})(,? +)`, 'i')
const NUMERIC = /^(\d{1,4})([./-]|\. )(\d{1,2})\2(\d{1,4})$/
const SPACED = /^(\d{1,4}) (\d{1,2}) (\d{1,4})$/
const CHARACTERS = /^\d{4}(年) ?\d{1,2}(月) ?\d{1,2}(日)$/
const ORDINAL = '(?:st|nd|rd|th|er|[eéèº°ª])'
const DAY_NAME = new RegExp(
  `^(\\d{1,2}(${ORDINAL})?)(\\.? +|[-/.]| de |)(\\p{L}{3,12}\\.?)( +|[-/.]| de |, *|)(\\d{4}|\\d{2})$`,
  'u',
)
const NAME_DAY = new RegExp(
  `^(\\p{L}{3,12}\\.?)( +|[-/.])(\\d{1,2}(${ORDINAL})?)(, *| +|[-/.])(\\d{4}|\\d{2})$`,
  'u',
)
const YEAR_NAME = /^(\d{4})( +|[-/.])(\p{L}{3,12}\.?)( +|[-/.])(\d{1,2})$/u
const NAME_YEAR = /^(\p{L}{3,12}\.?)( +|[-/.]|, *)(\d{4}|\d{2})$/u
const YEAR_MONTH = /^(\d{4})( +|[-/.]|, *)(\p{L}{3,12}\.?)$/u
const MONTH = /^(?:(\d{4})[-/](\d{2})|(\d{1,2})[-/.](\d{4}))$/
const PACKED = /^\d{8}(?:T?\d{6}Z?)?$/

/** The first year that is not expected in published dates with years of two digits: such years belong to the last century. */
const DISTANT = 2040

/** Maximum length of examined texts. */
const MAX_LENGTH = 60

/** Examines the texts of a column and keeps the patterns that match all of them. */
export class DateGuess {
  private alive: Map<string, { readonly of: DateCandidate; readonly read: PatternReader }> | undefined
  private isMidnight = true
  private isPacked = false
  private isSeason = true
  private isDistant = false
  private years = { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }
  /** True once a two-digit year could not be a day. */
  private isYear = false

  /** True as long as some pattern matches. */
  get isPossible(): boolean {
    return this.alive === undefined || this.alive.size > 0
  }

  note(text: string): void {
    if (!this.isPossible) return
    if (text.length > MAX_LENGTH) {
      this.alive = new Map()
      return
    }
    if (this.alive === undefined) {
      this.isPacked = PACKED.test(text)
      this.alive = new Map(
        candidatesOf(text).map(of => [of.pattern, { of, read: compilePattern(of.pattern) }]),
      )
    }
    if (this.isSeason) this.isSeason = isSeason(text)
    for (const [pattern, { of, read }] of this.alive) {
      const local = read(text)
      if (local === null) {
        this.alive.delete(pattern)
        continue
      }
      this.years = { min: Math.min(this.years.min, local.year), max: Math.max(this.years.max, local.year) }
      if (of.hasTime && !isMidnight(local)) this.isMidnight = false
      if (!/(?<!y)yy(?!y)/.test(pattern)) continue
      if (local.year >= DISTANT) this.isDistant = true
      if (local.year % 100 > 31 || local.year % 100 === 0) this.isYear = true
    }
  }

  /** The patterns that match all texts; packed digits (`20240131`) only if `isNamed`, because they may be any number. */
  evidence(isNamed: boolean): DateEvidence {
    const all = [...(this.alive?.values() ?? [])].map(({ of }) => of)
    // Mar-01 may also be a day of March.
    const candidates = all.filter(
      ({ order, pattern }) => order !== 'month' || /yyyy/.test(pattern) || this.isYear,
    )
    const { isMidnight, isSeason, isDistant } = this
    const calendar = calendarOf(this.years.min, this.years.max)
    return {
      candidates: this.isPacked && !isNamed ? [] : candidates,
      isMidnight,
      isSeason,
      isDistant,
      calendar,
    }
  }
}

function isSeason(text: string): boolean {
  const [, year, next] = /^(\d{4})[-/](\d{2})$/.exec(text) ?? []
  return year !== undefined && (Number(year) + 1) % 100 === Number(next)
}

function isMidnight({ hour, minute, second, fraction }: LocalTime): boolean {
  return hour === 0 && minute === 0 && second === 0 && fraction === ''
}

/** The possible patterns of a text. */
function candidatesOf(text: string): readonly DateCandidate[] {
  const weekday = WEEKDAY.exec(text)
  const rest = weekday === null ? text : text.slice(weekday[0].length)
  const before = weekday === null ? '' : `EEE${literal(weekday[2] ?? '')}`
  return partsOf(rest).map(({ pattern, order, hasTime }) => ({ pattern: before + pattern, order, hasTime }))
}

/** A day, with a time after it, before it or, as in C, before its year. */
function partsOf(text: string): readonly DateCandidate[] {
  const time = TIME.exec(text)
  if (time !== null) {
    const [, date = '', between = ''] = time
    const after = `${literal(between)}${clockPattern(time.slice(3, 12))}${zonePattern(time.slice(10, 14))}`
    return datesOf(date).map(({ pattern, order }) => ({ pattern: pattern + after, order, hasTime: true }))
  }
  const first = TIME_FIRST.exec(text)
  if (first !== null) {
    const [blank = '', date = ''] = first.slice(10)
    const before = `${clockPattern(first.slice(1, 10))}${literal(blank)}`
    return datesOf(date).map(({ pattern, order }) => ({ pattern: before + pattern, order, hasTime: true }))
  }
  const within = TIME_BEFORE_YEAR.exec(text)
  if (within !== null && isMonth(within[1])) {
    const clock = `${clockPattern(within.slice(5, 14))}${zonePattern(within.slice(12, 16))}`
    const pattern = `MMMM d ${clock} yyyy`
    return [{ pattern, order: 'month-first', hasTime: true }]
  }
  return datesOf(text).map(({ pattern, order }) => ({ pattern, order, hasTime: pattern.includes('H') }))
}

/** The pattern of the parts of CLOCK. */
function clockPattern(parts: readonly (string | undefined)[]): string {
  const [, colon = ':', , dot, , mark, fraction, blank, half] = parts
  const hour = half === undefined ? 'H' : 'h'
  const seconds =
    dot === undefined ? '' : `${literal(dot)}ss${fraction === undefined ? '' : `${literal(mark ?? '.')}S`}`
  return `${hour}${literal(colon)}mm${seconds}${half === undefined ? '' : `${literal(blank ?? '')}a`}`
}

/** The pattern of a zone: the blanks before it surround optional am or pm. */
function zonePattern([first, half, second, zone]: readonly (string | undefined)[]): string {
  if (zone === undefined) return ''
  const blank = half === undefined ? `${first ?? ''}${second ?? ''}` : (second ?? '')
  return `${literal(blank)}${/^uhr$/i.test(zone) ? literal(zone) : 'X'}`
}

type Order = Pick<DateCandidate, 'pattern' | 'order'>

function datesOf(text: string): readonly Order[] {
  const numeric = NUMERIC.exec(text)
  const [, first, sign, , last] = numeric ?? []
  if (first !== undefined && last !== undefined && sign !== undefined) return ordersOf(first, sign, last)
  const spaced = SPACED.exec(text)
  if (spaced !== null) return ordersOf(spaced[1] ?? '', ' ', spaced[3] ?? '')
  const characters = CHARACTERS.exec(text)
  if (characters !== null) return [{ pattern: 'yyyy年M月d日', order: 'year-first' }]
  const dayName = DAY_NAME.exec(text)
  if (dayName !== null && isMonth(dayName[4])) {
    const [, , , sign = '', , second = '', year] = dayName
    return daysOf(day => `${day}${literal(sign)}MMMM${literal(second)}${yearOf(year)}`, 'day-first')
  }
  const nameDay = NAME_DAY.exec(text)
  if (nameDay !== null && isMonth(nameDay[1])) {
    const [, , sign = '', , , second = '', year] = nameDay
    return daysOf(day => `MMMM${literal(sign)}${day}${literal(second)}${yearOf(year)}`, 'month-first')
  }
  const yearName = YEAR_NAME.exec(text)
  if (yearName !== null && isMonth(yearName[3]))
    return [
      { pattern: `yyyy${literal(yearName[2] ?? '')}MMMM${literal(yearName[4] ?? '')}d`, order: 'year-first' },
    ]
  const nameYear = NAME_YEAR.exec(text)
  if (nameYear !== null && isMonth(nameYear[1]))
    return [{ pattern: `MMMM${literal(nameYear[2] ?? '')}${yearOf(nameYear[3])}`, order: 'month' }]
  const yearMonth = YEAR_MONTH.exec(text)
  if (yearMonth !== null && isMonth(yearMonth[3]))
    return [{ pattern: `yyyy${literal(yearMonth[2] ?? '')}MMMM`, order: 'month' }]
  const [, year, , month] = MONTH.exec(text) ?? []
  if (year !== undefined) return [{ pattern: `yyyy${text.charAt(4)}MM`, order: 'month' }]
  if (month !== undefined)
    return ['MM', 'M']
      .slice(month.length === 2 ? 0 : 1)
      .map(form => ({ pattern: `${form}${text.charAt(month.length)}yyyy`, order: 'month' as const }))
  if (!PACKED.test(text)) return []
  if (text.includes('T'))
    return [{ pattern: `yyyyMMdd'T'HHmmss${text.endsWith('Z') ? 'X' : ''}`, order: 'year-first' }]
  if (text.length === 14) return [{ pattern: 'yyyyMMddHHmmss', order: 'year-first' }]
  return [
    { pattern: 'yyyyMMdd', order: 'year-first' },
    { pattern: 'ddMMyyyy', order: 'day-first' },
  ]
}

function ordersOf(first: string, sign: string, last: string): readonly Order[] {
  const between = literal(sign)
  if (first.length === 4 && last.length <= 2)
    return [{ pattern: `yyyy${between}M${between}d`, order: 'year-first' }]
  if (first.length > 2 || (last.length !== 4 && last.length !== 2)) return []
  const year = yearOf(last)
  return [
    { pattern: `d${between}M${between}${year}`, order: 'day-first' },
    { pattern: `M${between}d${between}${year}`, order: 'month-first' },
  ]
}

/** A day of plain digits, and one with its ordinal, which other values may have. */
function daysOf(patternOf: (day: string) => string, order: Order['order']): readonly Order[] {
  return ['d', 'do'].map(day => ({ pattern: patternOf(day), order }))
}

function yearOf(text: string | undefined): string {
  return text?.length === 2 ? 'yy' : 'yyyy'
}

function isMonth(name: string | undefined): boolean {
  return name !== undefined && monthNamed(name) > 0
}

/** Quotes literal letters of a pattern; several blanks become one. */
function literal(text: string): string {
  const plain = text.replace(/ +/g, ' ')
  return /[a-z]/i.test(plain) ? plain.replace(/[a-zà-ÿ]+/gi, word => `'${word}'`) : plain
}

/** The calendar whose years these are more probably than those of the Gregorian one. */
function calendarOf(min: number, max: number): string | undefined {
  if (min >= 2440 && max <= 2600) return 'Buddhist'
  return min >= 1340 && max <= 1460 ? 'Persian or Islamic' : undefined
}

/** The question about a calendar, or else the one given. */
export function otherCalendar(
  calendar: string | undefined,
  question?: string,
): { readonly question?: string } {
  if (calendar === undefined) return question === undefined ? {} : { question }
  return {
    question: `the years may be those of the ${calendar} calendar, and were taken for Gregorian ones: where they are, write Gregorian dates, or say type: text`,
  }
}
