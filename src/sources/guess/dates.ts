import type { LocalTime } from '../../model/time.ts'
import { monthNamed, WEEKDAY_FORM } from '../calendar-names.ts'
import { compilePattern, type PatternReader } from '../calendar-pattern.ts'

/** A pattern of dates that fits all values of a column so far. */
export interface DateCandidate {
  readonly pattern: string
  readonly hasTime: boolean
  /** Days before months, months before days, or years first; `month` for a month without a day. */
  readonly order: 'day-first' | 'month-first' | 'year-first' | 'month'
}

/** What the dates of a column have shown so far. */
export interface DateEvidence {
  readonly candidates: readonly DateCandidate[]
  /** True where every time was midnight. */
  readonly isMidnight: boolean
  /** True where all are a year and the two digits of the next one: 2007/08 is a season or financial year. */
  readonly isSeason: boolean
}

const TIME =
  /^(.*?\d)(T|,? +(?:(?:at|à|um|o|las|alle) +)?)(\d{1,2})(:|h|\.)(\d{2})(?:(:|\.)(\d{2})(?:([.,])(\d{1,9}))?)?( *)([ap]\.?m\.?)?( *)(Z|UTC|GMT)?$/i
const WEEKDAY = new RegExp(`^(${WEEKDAY_FORM})(,? +)`, 'i')
const NUMERIC = /^(\d{1,4})([./-]|\. )(\d{1,2})\2(\d{1,4})$/
const SPACED = /^(\d{1,4}) (\d{1,2}) (\d{1,4})$/
const DAY_NAME = /^(\d{1,2})(\.? +|[-/.]| de )(\p{L}{3,10}\.?)( +|[-/.]| de |, *)(\d{4}|\d{2})$/u
const NAME_DAY = /^(\p{L}{3,10}\.?)( +|[-/.])(\d{1,2})(, *| +|[-/.])(\d{4}|\d{2})$/u
const YEAR_NAME = /^(\d{4})( +|[-/.])(\p{L}{3,10}\.?)( +|[-/.])(\d{1,2})$/u
const NAME_YEAR = /^(\p{L}{3,10}\.?)( +|[-/.])(\d{4})$/u
const MONTH = /^(?:(\d{4})[-/](\d{2})|(\d{2})[-/.](\d{4}))$/
const PACKED = /^\d{8}(?:\d{6})?$/

/** Longest text that is looked at. */
const MAX_LENGTH = 60

/** Follows the texts of a column and keeps the patterns that fit them all. */
export class DateGuess {
  private alive: Map<string, { readonly of: DateCandidate; readonly read: PatternReader }> | undefined
  private isMidnight = true
  private isPacked = false
  private isSeason = true

  /** True as long as some pattern fits. */
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
      if (local === null) this.alive.delete(pattern)
      else if (of.hasTime && !isMidnight(local)) this.isMidnight = false
    }
  }

  /** The patterns that fit all texts; packed digits (`20240131`) only where `isNamed`, for they may be any number. */
  evidence(isNamed: boolean): DateEvidence {
    const candidates = [...(this.alive?.values() ?? [])].map(({ of }) => of)
    const { isMidnight, isSeason } = this
    return { candidates: this.isPacked && !isNamed ? [] : candidates, isMidnight, isSeason }
  }
}

function isSeason(text: string): boolean {
  const [, year, next] = /^(\d{4})[-/](\d{2})$/.exec(text) ?? []
  return year !== undefined && (Number(year) + 1) % 100 === Number(next)
}

function isMidnight({ hour, minute, second, fraction }: LocalTime): boolean {
  return hour === 0 && minute === 0 && second === 0 && fraction === ''
}

/** The patterns that the form of a text allows. */
function candidatesOf(text: string): readonly DateCandidate[] {
  const weekday = WEEKDAY.exec(text)
  const rest = weekday === null ? text : text.slice(weekday[0].length)
  const before = weekday === null ? '' : `EEE${literal(weekday[2] ?? '')}`
  const time = TIME.exec(rest)
  const dates = datesOf(time?.[1] ?? rest)
  const after = time === null ? '' : timePattern(time)
  return dates.map(({ pattern, order }) => ({
    pattern: before + pattern + after,
    order,
    hasTime: time !== null || pattern.includes('H'),
  }))
}

function timePattern(match: RegExpExecArray): string {
  const [, , between = '', , colon = ':', , dot, , mark, fraction, blank, half, blank2, zone] = match
  const hour = half === undefined ? 'H' : 'h'
  const seconds =
    dot === undefined ? '' : `${literal(dot)}ss${fraction === undefined ? '' : `${literal(mark ?? '.')}S`}`
  const end = half === undefined ? '' : `${literal(blank ?? '')}a`
  return `${literal(between)}${hour}${literal(colon)}mm${seconds}${end}${zone === undefined ? '' : literal(`${(half === undefined ? blank : '') ?? ''}${blank2 ?? ''}${zone}`)}`
}

type Order = Pick<DateCandidate, 'pattern' | 'order'>

function datesOf(text: string): readonly Order[] {
  const numeric = NUMERIC.exec(text)
  const [, first, sign, , last] = numeric ?? []
  if (first !== undefined && last !== undefined && sign !== undefined) return ordersOf(first, sign, last)
  const spaced = SPACED.exec(text)
  if (spaced !== null) return ordersOf(spaced[1] ?? '', ' ', spaced[3] ?? '')
  const dayName = DAY_NAME.exec(text)
  if (dayName !== null && isMonth(dayName[3]))
    return [
      {
        pattern: `d${literal(dayName[2] ?? '')}MMMM${literal(dayName[4] ?? '')}${yearOf(dayName[5])}`,
        order: 'day-first',
      },
    ]
  const nameDay = NAME_DAY.exec(text)
  if (nameDay !== null && isMonth(nameDay[1]))
    return [
      {
        pattern: `MMMM${literal(nameDay[2] ?? '')}d${literal(nameDay[4] ?? '')}${yearOf(nameDay[5])}`,
        order: 'month-first',
      },
    ]
  const yearName = YEAR_NAME.exec(text)
  if (yearName !== null && isMonth(yearName[3]))
    return [
      { pattern: `yyyy${literal(yearName[2] ?? '')}MMMM${literal(yearName[4] ?? '')}d`, order: 'year-first' },
    ]
  const nameYear = NAME_YEAR.exec(text)
  if (nameYear !== null && isMonth(nameYear[1]))
    return [{ pattern: `MMMM${literal(nameYear[2] ?? '')}yyyy`, order: 'month' }]
  if (MONTH.test(text))
    return [
      {
        pattern: /^\d{4}/.test(text) ? `yyyy${text.charAt(4)}MM` : `MM${text.charAt(2)}yyyy`,
        order: 'month',
      },
    ]
  if (!PACKED.test(text)) return []
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

function yearOf(text: string | undefined): string {
  return text?.length === 2 ? 'yy' : 'yyyy'
}

function isMonth(name: string | undefined): boolean {
  return name !== undefined && monthNamed(name) > 0
}

/** Letters of a pattern that are no part of it stand in quotes; several blanks are one. */
function literal(text: string): string {
  const plain = text.replace(/ +/g, ' ')
  return /[a-z]/i.test(plain) ? plain.replace(/[a-zà-ÿ]+/gi, word => `'${word}'`) : plain
}
