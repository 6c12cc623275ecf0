import { LRUCache } from 'lru-cache'
import { CLOCK_UNITS, intervalStart } from '../../../../model/clock-intervals.ts'
import {
  dayOfWeek,
  type FormatPart,
  formatMoment,
  type LocalMoment,
  localMoment,
} from '../../../../model/date-format.ts'
import { lookup } from '../../../../model/lookup.ts'
import { isTimeZone } from '../../../../model/time.ts'
import { LODESTONE, XSD } from '../../../../rdf/vocab.ts'
import { microsecondsOf, secondsWith } from '../../lexical.ts'
import { double, integerTerm, type MomentValue, type TermValue, text } from '../vectors/value.ts'
import { byDay, byMonth } from './date-fields.ts'
import type { ArgumentValue, ExtensionFunction } from './extension-function.ts'

type Entry = readonly [string, ExtensionFunction]

/** Functions of dates and moments in a time zone. */
export const DATE_FUNCTIONS: readonly Entry[] = [
  [LODESTONE.datePart, numeric(partReader)],
  [LODESTONE.interval, numeric(intervalReader)],
  [LODESTONE.intervalStart, numeric(intervalStartReader)],
  [
    LODESTONE.dateFormat,
    {
      apply: ([value, pattern, language, zone]) => {
        if (value?.type !== 'moment' || pattern?.type !== 'text' || language?.type !== 'text') return null
        const place = zoneOf(value, zone)
        if (place === undefined) return null
        return text(formatMoment(shown(value, place), patternOf(pattern.value), language.value, place))
      },
      periodOfMoments: ([pattern, , zone], isDay) => {
        const [place, period] = [zoneName(zone), pattern?.type === 'text' ? periodOf(pattern.value) : null]
        if (period === null || place === null) return null
        return seconds => period(localMoment(seconds, isDay ? null : place))
      },
    },
  ],
  [LODESTONE.epoch, { apply: ([value]) => (isDated(value) ? double(value.seconds) : null) }],
  [
    LODESTONE.secondOfDay,
    {
      apply: ([value, zone]) => {
        if (!isDated(value)) return null
        const place = zoneOf(value, zone)
        if (place === undefined) return null
        const { hour, minute, second } = shown(value, place)
        return double(secondsWith(3600 * hour + 60 * minute + second, fractionOf(value)))
      },
    },
  ],
  [LODESTONE.fraction, { apply: ([value]) => (isDated(value) ? double(fractionOf(value)) : null) }],
]

/** Recently parsed patterns. */
const PATTERNS = new LRUCache<string, readonly FormatPart[]>({ max: 100 })

function patternOf(text: string): readonly FormatPart[] {
  const known = PATTERNS.get(text) ?? (JSON.parse(text) as readonly FormatPart[])
  PATTERNS.set(text, known)
  return known
}

/**
 * A number for what a pattern reads of a moment: moments with the same number have the same text. Null where nearly each moment has
 * another text, and for fractions and zones.
 */
function periodOf(pattern: string): Reader | null {
  const letters = patternOf(pattern).flatMap(part => (part.type === 'symbol' ? [part.letter] : []))
  const reads = (some: string) => (letters.some(letter => some.includes(letter)) ? 1 : 0)
  const [year, month, day, weekday] = [reads('CYy'), reads('M'), reads('d'), reads('Ee')]
  const [hour, minute, second] = [3600 * reads('aKhHk'), 60 * reads('m'), reads('s')]
  const isOfDays = reads('Dwx') === 1
  if (reads('SzZ') === 1 || (second === 1 && (year === 1 || isOfDays))) return null
  const dateOf = ({ year: y, month: m, day: d, days }: LocalMoment) =>
    isOfDays ? days : ((12 * year * y + month * (m - 1)) * 31 + day * (d - 1)) * 8 + weekday * dayOfWeek(days)
  return local => 86_400 * dateOf(local) + hour * local.hour + minute * local.minute + second * local.second
}

function isDated(value: ArgumentValue): value is MomentValue {
  return value?.type === 'moment' && (value.datatype === XSD.date || value.datatype === XSD.dateTime)
}

/** Null for a day, which is the same everywhere; undefined for an unknown zone. */
function zoneOf(value: MomentValue, zone: ArgumentValue): string | null | undefined {
  return value.datatype === XSD.date ? null : (zoneName(zone) ?? undefined)
}

function shown({ seconds, term }: MomentValue, zone: string | null): LocalMoment {
  return localMoment(seconds, zone, /\.(\d+)/.exec(term.value)?.[1] ?? '')
}

/** The fraction of a second, as exact as in the literal. */
function fractionOf({ term }: MomentValue): number {
  const digits = /\.(\d+)/.exec(term.value)?.[1]
  return digits === undefined ? 0 : Number(`0.${digits}`)
}

type Reader = (local: LocalMoment) => number

const SECONDS_A_DAY = 86_400

type Periods = (read: (day: number) => number) => (seconds: number) => number

/** The period within which a part or a unit of a date is constant, in UTC; shorter ones are computed for each moment. */
const STEADY: ReadonlyMap<string, Periods> = new Map([
  ['year', byMonth],
  ['quarter', byMonth],
  ['month', byMonth],
  ['week', byDay],
  ['day', byDay],
])

interface NumericReader {
  readonly read: Reader
  readonly zone: string
  readonly periods: Periods | undefined
  /** True where it reads the fraction of a second, whose digits may be in the form alone. */
  readonly readsFraction: boolean
}

/** A function with an integer result: computed from seconds, both for a column and for a literal. */
function numeric(readerOf: (constants: readonly TermValue[]) => NumericReader | null): ExtensionFunction {
  return {
    apply: ([value, ...constants]) => {
      const found = readerOf(constants)
      if (!isDated(value) || found === null) return null
      return integerTerm(found.read(shown(value, value.datatype === XSD.date ? null : found.zone)))
    },
    overMoments: (constants, { isDay, hasForms }) => {
      const found = readerOf(constants)
      if (found === null || (hasForms && found.readsFraction)) return null
      const zone = isDay ? null : found.zone
      if (found.periods !== undefined && (isDay || zone === 'UTC'))
        return found.periods(day => found.read(localMoment(SECONDS_A_DAY * day, null)))
      return seconds => {
        const micros = microsecondsOf(seconds)
        return found.read(localMoment(seconds, zone, micros === 0 ? '' : String(micros).padStart(6, '0')))
      }
    },
  }
}

const PARTS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['year', ({ year }) => year],
  ['month', ({ month }) => month],
  ['day', ({ day }) => day],
  ['hour', ({ hour }) => hour],
  ['minute', ({ minute }) => minute],
  ['second', ({ second }) => second],
  ['millisecond', ({ fraction }) => Number(fraction.padEnd(3, '0').slice(0, 3))],
])

/** Arguments: the name of a part, and a zone. */
function partReader([part, zone]: readonly TermValue[]) {
  const name = part?.type === 'text' ? part.value : ''
  const [read, place] = [PARTS.get(name), zoneName(zone)]
  if (read === undefined || place === null) return null
  return { read, zone: place, periods: STEADY.get(name), readsFraction: name === 'millisecond' }
}

/** Number of units from the epoch of the calendar, or from year 0 for months and longer, to a local time. */
const UNITS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['year', ({ year }) => year],
  ['quarter', ({ year, month }) => 4 * year + Math.floor((month - 1) / 3)],
  ['month', ({ year, month }) => 12 * year + month - 1],
  ['week', ({ days }) => Math.floor((days + 3) / 7)],
  ['day', ({ days }) => days],
  ['hour', ({ days, hour }) => 24 * days + hour],
  ['minute', minutes],
  ['second', local => 60 * minutes(local) + local.second],
  [
    'millisecond',
    local => 1000 * (60 * minutes(local) + local.second) + Number(local.fraction.padEnd(3, '0').slice(0, 3)),
  ],
])

function minutes({ days, hour, minute }: LocalMoment): number {
  return 60 * (24 * days + hour) + minute
}

/** Arguments: a width, a unit and a zone. */
function intervalReader([width, unit, zone]: readonly TermValue[]) {
  const name = unit?.type === 'text' ? unit.value : ''
  const [read, place] = [UNITS.get(name), zoneName(zone)]
  if (read === undefined || place === null || width?.type !== 'number' || !(width.value > 0)) return null
  return {
    read: (local: LocalMoment) => Math.floor(read(local) / width.value),
    zone: place,
    periods: STEADY.get(name),
    readsFraction: name === 'millisecond',
  }
}

/** Arguments: a width, a unit within a day and a zone. Reads when an interval begins, in milliseconds since 1970. */
function intervalStartReader(constants: readonly TermValue[]) {
  const [[width, unit], interval] = [constants, intervalReader(constants)]
  const length = unit?.type === 'text' ? lookup(CLOCK_UNITS, unit.value) : undefined
  if (interval === null || length === undefined || width?.type !== 'number') return null
  const [size, place] = [width.value * length, interval.zone]
  return {
    ...interval,
    read: (local: LocalMoment) => intervalStart(interval.read(local) * size, local, size, place),
  }
}

function zoneName(zone: ArgumentValue): string | null {
  if (zone === undefined) return 'UTC'
  return zone.type === 'text' && isTimeZone(zone.value) ? zone.value : null
}
