import type { Argument, Call } from '../../language/odsql/ast.ts'
import { NOW_ADDERS, NOW_SETTERS, WEEKDAYS } from '../../language/odsql/vocabulary.ts'
import { didYouMean } from '../../model/did-you-mean.ts'
import { lookup } from '../../model/lookup.ts'
import { daysOf, localToEpoch, utcEpoch, utcParts, zoneOffset } from '../../model/time.ts'
import type { DateConstant } from '../date-literals.ts'
import type { FieldNames } from './context.ts'

const DAY = 86_400_000
const UNITS: Readonly<Record<string, number>> = { hours: 3_600_000, minutes: 60_000, seconds: 1000 }

/** The parameters of `now`; of a parameter that occurs twice the later one counts. */
interface Shift {
  readonly set: Map<string, number>
  readonly add: Map<string, number>
  /** Days of the week, 0 for Monday, each with the number of such days to advance: 1 is the next, today included. */
  readonly weekdays: readonly { readonly day: number; readonly times: number }[]
}

/**
 * The moment of a call of `now` (ODSQL 1.6): first the parts that are set, then those that are added, last the day of the week,
 * all in local time of the zone; hours and smaller units are added as elapsed time.
 */
export function nowConstant(call: Call, names: FieldNames): DateConstant {
  const { now, timezone } = names.context
  const shift = readShift(call, names)
  const local = new Date(now + zoneOffset(timezone, now))
  const year = inYears((shift.set.get('year') ?? local.getUTCFullYear()) + (shift.add.get('years') ?? 0))
  const months = (shift.set.get('month') ?? local.getUTCMonth() + 1) - 1 + (shift.add.get('months') ?? 0)
  const wholeYear = inYears(year + Math.floor(months / 12))
  const month = (((months % 12) + 12) % 12) + 1
  const day = Math.min(shift.set.get('day') ?? local.getUTCDate(), daysOf(wholeYear, month))
  const clock = {
    hour: shift.set.get('hour') ?? local.getUTCHours(),
    minute: shift.set.get('minute') ?? local.getUTCMinutes(),
    second: shift.set.get('second') ?? local.getUTCSeconds(),
  }
  const days = (shift.add.get('weeks') ?? 0) * 7 + (shift.add.get('days') ?? 0)
  const wall = utcEpoch(wholeYear, month, day + clampCount(days), clock.hour, clock.minute, clock.second)
  const micros =
    (shift.set.get('microsecond') ?? local.getUTCMilliseconds() * 1000) + (shift.add.get('microseconds') ?? 0)
  const seconds = Math.floor(micros / 1_000_000)
  const elapsed =
    [...shift.add].reduce((sum, [name, count]) => sum + (lookup(UNITS, name) ?? 0) * count, 0) +
    seconds * 1000
  const moved = localToEpoch(utcParts(wall), timezone) + elapsed
  const instant = shift.weekdays.length === 0 ? moved : toWeekdays(moved, shift.weekdays, timezone)
  const offset = zoneOffset(timezone, instant)
  const fraction = String(micros - seconds * 1_000_000).padStart(6, '0')
  return {
    local: { ...utcParts(clampMoment(instant + offset)), fraction: fraction.replace(/0+$/, '') },
    precision: 'second',
    offset: offset / 60_000,
  }
}

function readShift(call: Call, names: FieldNames): Shift {
  const set = new Map<string, number>()
  const add = new Map<string, number>()
  const weekdays = new Map<number, { day: number; times: number }>()
  for (const argument of call.arguments) {
    if (argument.type !== 'named')
      throw names.fault('now takes named parameters', argument.span, 'write now(days=-1)')
    const name = argument.name.toLowerCase()
    const bounds = lookup(NOW_SETTERS, name)
    const plural = WEEKDAYS.findIndex(day => `${day}s` === name)
    if (name === 'weekday' && argument.value.type === 'call') {
      weekdays.set(-1, weekdayCall(argument.value, names))
      continue
    }
    if (bounds === undefined && !NOW_ADDERS.includes(name)) {
      const hint = didYouMean(name, [...Object.keys(NOW_SETTERS), ...NOW_ADDERS])
      throw names.fault(`now has no parameter ${name.slice(0, 50)}`, argument.span, hint)
    }
    const value = wholeNumber(argument.value)
    const [least, max] = bounds ?? [-1_000_000_000, 1_000_000_000]
    const free = name === 'day' && value !== null && value >= 1
    if (value === null || ((value < least || value > max) && !free))
      throw names.fault(`now takes a whole number from ${least} to ${max} as ${name}`, argument.span)
    if (name === 'weekday') weekdays.set(-1, { day: value, times: 1 })
    else if (plural >= 0) weekdays.set(plural, { day: plural, times: value })
    else if (bounds === undefined) add.set(name, value)
    else set.set(name, value)
  }
  return { set, add, weekdays: [...weekdays.values()] }
}

/** `MO(2)` is the second Monday from now on, `FR(-1)` the last Friday. */
function weekdayCall(call: Call, names: FieldNames): { day: number; times: number } {
  const day = WEEKDAYS.findIndex(name => name.startsWith(call.name) && call.name.length === 2)
  const [first, ...more] = call.arguments
  const times = first === undefined ? null : wholeNumber(first)
  if (day < 0 || times === null || times === 0 || more.length > 0)
    throw names.fault('weekday takes a day and a number', call.span, 'write weekday=MO(2)')
  return { day, times }
}

/** The same time of day on the requested days of the week. */
function toWeekdays(epoch: number, weekdays: Shift['weekdays'], timezone: string): number {
  const wall = clampMoment(epoch + zoneOffset(timezone, epoch))
  return localToEpoch(utcParts(weekdays.reduce(toWeekday, wall)), timezone)
}

function toWeekday(wall: number, { day, times }: { readonly day: number; readonly times: number }): number {
  if (times === 0) return wall
  const today = (new Date(wall).getUTCDay() + 6) % 7
  const ahead = (day - today + 7) % 7
  const behind = (today - day + 7) % 7
  return (
    wall + (times > 0 ? ahead + (clampCount(times) - 1) * 7 : -behind + (clampCount(times) + 1) * 7) * DAY
  )
}

/** Clamps a moment to the years that records can have. */
function clampMoment(wall: number): number {
  if (Number.isNaN(wall)) return utcEpoch(9999, 12, 31, 23, 59, 59)
  return Math.min(Math.max(wall, utcEpoch(1, 1, 1)), utcEpoch(9999, 12, 31, 23, 59, 59))
}

function inYears(year: number): number {
  return Math.min(Math.max(year, 1), 9999)
}

function clampCount(days: number): number {
  return Math.min(Math.max(days, -4_000_000), 4_000_000)
}

function wholeNumber(node: Argument): number | null {
  if (node.type === 'sign') {
    const value = wholeNumber(node.operand)
    return value === null ? null : node.negative ? -value : value
  }
  return node.type === 'number' && Number.isInteger(node.value) ? node.value : null
}
