import { XSD } from '../../rdf/vocab.ts'
import type { Expression } from '../../sparql/algebra.ts'
import { apply, binary, call, conditional, integer } from '../../sparql/build.ts'
import type { Body } from './body.ts'

const add = (a: Expression, b: Expression | number): Expression => binary('+', a, term(b))
const subtract = (a: Expression | number, b: Expression | number): Expression => binary('-', term(a), term(b))
const times = (a: Expression, b: number): Expression => binary('*', a, term(b))
const term = (value: Expression | number): Expression => (typeof value === 'number' ? integer(value) : value)

/** The whole quotient, also of a negative number; division of doubles is twice as fast as that of integers. */
export function quotient(a: Expression, by: number): Expression {
  return apply(XSD.integer, call('FLOOR', binary('/', apply(XSD.double, a), integer(by))))
}

export function remainder(a: Expression, by: number, body: Body): Expression {
  const value = body.let(a, 'number')
  return subtract(value, times(quotient(value, by), by))
}

/** Year, month and day of a date or a local time, each computed once. */
export function yearMonthDay(date: Expression, body: Body) {
  const part = (name: 'YEAR' | 'MONTH' | 'DAY') =>
    body.share(`${name} ${JSON.stringify(date)}`, () => call(name, date))
  return { year: part('YEAR'), month: part('MONTH'), day: part('DAY') }
}

/** Days since 1970-01-01 of the Gregorian calendar. */
export function dayNumber(date: Expression, body: Body): Expression {
  return body.share(`days ${JSON.stringify(date)}`, () => {
    const { year, month, day } = yearMonthDay(date, body)
    const late = binary('<', month, integer(3))
    const y = body.let(conditional(late, subtract(year, 1), year), 'year')
    const m = conditional(late, add(month, 9), subtract(month, 3))
    const inYear = add(quotient(add(times(m, 153), 2), 5), day)
    const leapDays = add(subtract(quotient(y, 4), quotient(y, 100)), quotient(y, 400))
    return subtract(add(add(inYear, times(y, 365)), leapDays), 719_469)
  })
}

/** Day of the week: 1 is Monday, 7 Sunday (ISO 8601). */
export function dayOfWeek(date: Expression, body: Body): Expression {
  return body.share(`weekday ${JSON.stringify(date)}`, () =>
    add(remainder(add(dayNumber(date, body), 3), 7, body), 1),
  )
}

/** Day of the year: 1 to 366. */
export function dayOfYear(date: Expression, body: Body): Expression {
  return body.share(`yearday ${JSON.stringify(date)}`, () => {
    const { year, month, day } = yearMonthDay(date, body)
    const before = subtract(quotient(times(month, 275), 9), 30)
    const isLeap = binary(
      '&&',
      binary('=', remainder(year, 4, body), integer(0)),
      binary(
        '||',
        binary('!=', remainder(year, 100, body), integer(0)),
        binary('=', remainder(year, 400, body), integer(0)),
      ),
    )
    const short = conditional(isLeap, integer(1), integer(2))
    const shortened = conditional(binary('>', month, integer(2)), subtract(before, short), before)
    return add(shortened, day)
  })
}

/** Week of the week-based year, 1 to 53, and that year (ISO 8601). */
export function isoWeek(
  date: Expression,
  body: Body,
): { readonly week: Expression; readonly year: Expression } {
  const thursday = body.share(`thursday ${JSON.stringify(date)}`, () =>
    add(subtract(dayNumber(date, body), dayOfWeek(date, body)), 4),
  )
  const { year } = yearMonthDay(date, body)
  const first = (of: Expression) => body.share(`first ${JSON.stringify(of)}`, () => firstDay(of))
  const next = body.let(add(year, 1), 'year')
  const weekYear = body.share(`weekyear ${JSON.stringify(date)}`, () =>
    conditional(
      binary('<', thursday, first(year)),
      subtract(year, 1),
      conditional(binary('>=', thursday, first(next)), next, year),
    ),
  )
  return { week: add(quotient(subtract(thursday, firstDay(weekYear)), 7), 1), year: weekYear }
}

/** Day number of the first of January. */
function firstDay(year: Expression): Expression {
  const before = subtract(year, 1)
  const leapDays = add(subtract(quotient(before, 4), quotient(before, 100)), quotient(before, 400))
  return subtract(add(times(before, 365), leapDays), 719_162)
}

/** Seconds of a minute without their fraction. */
export function wholeSeconds(local: Expression): Expression {
  return apply(XSD.integer, call('FLOOR', call('SECONDS', local)))
}
