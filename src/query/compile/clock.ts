import { exactJson } from '../../model/exact-json.ts'
import { instantText } from '../../model/time.ts'
import { XSD } from '../../rdf/vocab.ts'
import type { Expression } from '../../sparql/algebra.ts'
import { binary, call, conditional, integer, literal } from '../../sparql/build.ts'
import { type Scalar, scalarType } from '../plan.ts'
import { add, and, equals, isLeap, quotient, subtract, times, wholeSeconds } from './arithmetic.ts'
import type { Body } from './body.ts'
import { type OffsetStep, offsetSteps } from './zone.ts'

/** The parts of a date or a moment as clocks and calendars of a place show them, each computed when it is asked for. */
export interface Clock {
  /** Names the clock among all of its body. */
  readonly name: string
  year(): Expression
  month(): Expression
  day(): Expression
  hour(): Expression
  minute(): Expression
  /** Seconds without their fraction. */
  second(): Expression
  /** Seconds with their fraction. */
  seconds(): Expression
}

/** The clock of a value: of a date the calendar alone, of a moment the clocks of the query's time zone. */
export function clockOf(operand: Scalar, value: Expression, body: Body): Clock {
  const moment = body.let(value, 'moment')
  const name = exactJson(moment)
  const share = (part: string, make: () => Expression) => body.share(`${part} ${name}`, make)
  const utc = (part: 'YEAR' | 'MONTH' | 'DAY' | 'HOURS' | 'MINUTES' | 'SECONDS') =>
    share(part, () => call(part, moment))
  const zero = () => integer(0)
  const calendar = { year: () => utc('YEAR'), month: () => utc('MONTH'), day: () => utc('DAY') }
  if (scalarType(operand) === 'date')
    return { name, ...calendar, hour: zero, minute: zero, second: zero, seconds: zero }
  if (body.scope.timezone === 'UTC')
    return {
      name,
      ...calendar,
      hour: () => utc('HOURS'),
      minute: () => utc('MINUTES'),
      second: () => share('second', () => wholeSeconds(utc('SECONDS'))),
      seconds: () => utc('SECONDS'),
    }
  return localClock({ operand, moment, name, share, utc }, body)
}

interface Zoned {
  readonly operand: Scalar
  readonly moment: Expression
  readonly name: string
  readonly share: (part: string, make: () => Expression) => Expression
  readonly utc: (part: 'YEAR' | 'MONTH' | 'DAY' | 'HOURS' | 'MINUTES' | 'SECONDS') => Expression
}

/**
 * The offset is chosen by the moment among those that the zone had in the years of the field, so that changes to and
 * from daylight saving fall where they fell. It is added to the time of the day; the day before or after is taken where
 * that leaves the day. (SPARQL 1.1 has no function for time zones, and moments cannot be added to in every store.)
 */
function localClock({ operand, moment, name, share, utc }: Zoned, body: Body): Clock {
  const steps = offsetSteps(body.scope.timezone, yearsOf(operand, body))
  const inMinutes = steps.every(({ offset }) => offset % 60_000 === 0)
  const unit = inMinutes ? 60_000 : 1000
  const perDay = 86_400_000 / unit
  const offset = () => share('offset', () => byStep(steps, moment, step => numberTerm(step.offset / unit)))
  const shifted = () =>
    share('shifted', () => {
      const minutes = add(times(utc('HOURS'), 60), utc('MINUTES'))
      const time = inMinutes ? minutes : add(times(minutes, 60), wholeSeconds(utc('SECONDS')))
      return add(time, offset())
    })
  const shift = () =>
    share('shift', () =>
      conditional(
        binary('<', shifted(), integer(0)),
        numberTerm(-1),
        conditional(binary('>=', shifted(), integer(perDay)), integer(1), integer(0)),
      ),
    )
  const ofDay = () => share('time', () => subtract(shifted(), times(shift(), perDay)))
  const [year, month, day] = [() => utc('YEAR'), () => utc('MONTH'), () => utc('DAY')]
  /** 1 where the local day is in the next month, -1 in the one before. */
  const turn = () =>
    share('turn', () =>
      conditional(
        and(equals(shift(), 1), binary('=', day(), monthLength(year(), month()))),
        integer(1),
        conditional(and(equals(shift(), -1), equals(day(), 1)), numberTerm(-1), integer(0)),
      ),
    )
  return {
    name,
    year: () =>
      share('year', () =>
        conditional(
          and(equals(turn(), 1), equals(month(), 12)),
          add(year(), 1),
          conditional(and(equals(turn(), -1), equals(month(), 1)), subtract(year(), 1), year()),
        ),
      ),
    month: () =>
      share('month', () =>
        conditional(
          equals(turn(), 0),
          month(),
          conditional(
            equals(turn(), 1),
            conditional(equals(month(), 12), integer(1), add(month(), 1)),
            before(month()),
          ),
        ),
      ),
    day: () =>
      share('day', () =>
        conditional(
          equals(turn(), 1),
          integer(1),
          conditional(equals(turn(), -1), monthLength(year(), before(month())), add(day(), shift())),
        ),
      ),
    hour: () => share('hour', () => quotient(ofDay(), 3_600_000 / unit)),
    minute: () =>
      share('minute', () => {
        const minutes = inMinutes ? ofDay() : quotient(ofDay(), 60)
        return subtract(minutes, times(quotient(ofDay(), 3_600_000 / unit), 60))
      }),
    second: () =>
      share('second', () =>
        inMinutes ? wholeSeconds(utc('SECONDS')) : subtract(ofDay(), times(quotient(ofDay(), 60), 60)),
      ),
    seconds: () =>
      share('seconds', () => {
        if (inMinutes) return utc('SECONDS')
        const fraction = subtract(utc('SECONDS'), wholeSeconds(utc('SECONDS')))
        return add(subtract(ofDay(), times(quotient(ofDay(), 60), 60)), fraction)
      }),
  }
}

/** What depends on the offset from UTC at a moment: one of as many terms as there were changes. */
export function byOffset(
  operand: Scalar,
  moment: Expression,
  body: Body,
  term: (step: OffsetStep) => Expression,
): Expression {
  return byStep(offsetSteps(body.scope.timezone, yearsOf(operand, body)), moment, term)
}

function byStep(
  steps: readonly OffsetStep[],
  moment: Expression,
  term: (step: OffsetStep) => Expression,
): Expression {
  const choose = (low: number, high: number): Expression => {
    const step = steps[low]
    if (step === undefined) throw new Error('a time zone without offset')
    if (low === high) return term(step)
    const middle = Math.floor((low + high + 1) / 2)
    const change = instantText(Math.floor((steps[middle]?.from ?? 0) / 1000), '')
    const earlier = binary('<', moment, literal(change, XSD.dateTime))
    return conditional(earlier, choose(low, middle - 1), choose(middle, high))
  }
  return choose(0, steps.length - 1)
}

function before(month: Expression): Expression {
  return conditional(equals(month, 1), integer(12), subtract(month, 1))
}

function monthLength(year: Expression, month: Expression): Expression {
  const isShort: Expression = { type: 'oneOf', operand: month, items: [4, 6, 9, 11].map(integer) }
  return conditional(
    equals(month, 2),
    conditional(isLeap(year), integer(29), integer(28)),
    conditional(isShort, integer(30), integer(31)),
  )
}

function numberTerm(value: number): Expression {
  return literal(String(value), XSD.integer)
}

/** Years of moments of which nothing is known. */
const USUAL_YEARS = Array.from({ length: 201 }, (_, index) => 1900 + index)

/** The years in which a value can lie. */
function yearsOf(scalar: Scalar, body: Body): readonly number[] {
  switch (scalar.type) {
    case 'field': {
      const statistics = body.scope.statistics(scalar.field)
      if (statistics?.years !== undefined) return statistics.years
      if (scalar.field.name === 'record_timestamp') return [yearOf(body.scope.target.published)]
      return USUAL_YEARS
    }
    case 'constant':
      return [yearOf(String(scalar.value))]
    case 'ifNull':
      return [...yearsOf(scalar.operand, body), ...yearsOf(scalar.other, body)]
    default:
      return USUAL_YEARS
  }
}

function yearOf(text: string): number {
  return Number(text.slice(0, 4))
}
