import type { Expression } from '../../sparql/algebra.ts'
import { binary, conditional, integer } from '../../sparql/build.ts'
import { add, isLeap, quotient, remainder, subtract, times } from './arithmetic.ts'
import type { Body } from './body.ts'
import type { Clock } from './clock.ts'

/** Days since 1970-01-01 of the Gregorian calendar. */
export function dayNumber(clock: Clock, body: Body): Expression {
  return body.share(`days ${clock.name}`, () => {
    const late = binary('<', clock.month(), integer(3))
    const year = body.let(conditional(late, subtract(clock.year(), 1), clock.year()), 'year')
    const month = conditional(late, add(clock.month(), 9), subtract(clock.month(), 3))
    const inYear = add(quotient(add(times(month, 153), 2), 5), clock.day())
    return subtract(add(add(inYear, times(year, 365)), leapDays(year)), 719_469)
  })
}

/** Day of the week: 1 is Monday, 7 Sunday (ISO 8601). */
export function dayOfWeek(clock: Clock, body: Body): Expression {
  return body.share(`weekday ${clock.name}`, () => add(remainder(add(dayNumber(clock, body), 3), 7), 1))
}

/** Day of the year: 1 to 366. */
export function dayOfYear(clock: Clock, body: Body): Expression {
  return body.share(`yearday ${clock.name}`, () => {
    const before = subtract(quotient(times(clock.month(), 275), 9), 30)
    const short = conditional(isLeap(clock.year()), integer(1), integer(2))
    const isLate = binary('>', clock.month(), integer(2))
    return add(conditional(isLate, subtract(before, short), before), clock.day())
  })
}

/** Week of the week-based year, 1 to 53, and that year (ISO 8601). */
export function isoWeek(clock: Clock, body: Body): { readonly week: Expression; readonly year: Expression } {
  const thursday = body.share(`thursday ${clock.name}`, () =>
    add(subtract(dayNumber(clock, body), dayOfWeek(clock, body)), 4),
  )
  const year = body.share(`weekyear ${clock.name}`, () => {
    const next = add(clock.year(), 1)
    return conditional(
      binary('<', thursday, firstDay(clock.year())),
      subtract(clock.year(), 1),
      conditional(binary('>=', thursday, firstDay(next)), next, clock.year()),
    )
  })
  return { week: add(quotient(subtract(thursday, firstDay(year)), 7), 1), year }
}

/** Day number of the first of January. */
function firstDay(year: Expression): Expression {
  const before = subtract(year, 1)
  return subtract(add(times(before, 365), leapDays(before)), 719_162)
}

/** Leap days of the years from 1 to a year. */
function leapDays(year: Expression): Expression {
  return add(subtract(quotient(year, 4), quotient(year, 100)), quotient(year, 400))
}
