import { instantText } from '../../model/time.ts'
import { XSD } from '../../rdf/vocab.ts'
import type { Expression } from '../../sparql/algebra.ts'
import { binary, call, conditional, literal } from '../../sparql/build.ts'
import { type Scalar, scalarType } from '../plan.ts'
import type { Body } from './body.ts'
import { type OffsetStep, offsetSteps } from './zone.ts'

/** Years of moments of which nothing is known. */
const USUAL_YEARS = Array.from({ length: 201 }, (_, index) => 1900 + index)

/**
 * A moment as the clocks of the query's time zone show it. The offset is chosen by the moment among those that the
 * zone had in the years of the field, so that changes to and from daylight saving fall where they fell.
 */
export function localTime(operand: Scalar, value: Expression, body: Body): Expression {
  if (body.scope.timezone === 'UTC' || scalarType(operand) === 'date') return value
  const moment = body.let(value, 'moment')
  return body.share(`local ${JSON.stringify(moment)}`, () =>
    call('ADJUST', moment, byOffset(operand, moment, body, duration)),
  )
}

/** What depends on the offset from UTC at a moment: one of as many terms as there were changes. */
export function byOffset(
  operand: Scalar,
  moment: Expression,
  body: Body,
  term: (step: OffsetStep) => Expression,
): Expression {
  const steps = offsetSteps(body.scope.timezone, yearsOf(operand, body))
  const choose = (low: number, high: number): Expression => {
    const step = steps[low]
    if (step === undefined) throw new Error('a time zone without offset')
    if (low === high) return term(step)
    const middle = Math.floor((low + high + 1) / 2)
    const change = instantText(Math.floor((steps[middle]?.from ?? 0) / 1000), '')
    const before = binary('<', moment, literal(change, XSD.dateTime))
    return conditional(before, choose(low, middle - 1), choose(middle, high))
  }
  return choose(0, steps.length - 1)
}

/** Whole minutes: clocks that were set by the sun differ by seconds, which the store cannot add. */
function duration({ offset }: OffsetStep): Expression {
  const minutes = Math.round(offset / 60_000)
  const text = `${minutes < 0 ? '-' : ''}PT${Math.floor(Math.abs(minutes) / 60)}H${Math.abs(minutes) % 60}M`
  return literal(text, XSD.dayTimeDuration)
}

/** The years in which a value can lie, and their neighbours, for local time may be a day off. */
function yearsOf(scalar: Scalar, body: Body): readonly number[] {
  return [...new Set(ownYears(scalar, body).flatMap(year => [year - 1, year, year + 1]))].filter(
    year => year > 0 && year < 10_000,
  )
}

function ownYears(scalar: Scalar, body: Body): readonly number[] {
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
      return [...ownYears(scalar.operand, body), ...ownYears(scalar.other, body)]
    default:
      return USUAL_YEARS
  }
}

function yearOf(text: string): number {
  return Number(text.slice(0, 4))
}
