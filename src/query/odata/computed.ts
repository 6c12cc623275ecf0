import { Fault } from '../../errors/errors.ts'
import { ODATA_UNSUPPORTED } from '../../language/odata/faults.ts'
import type { EdmValue } from '../../model/edm.ts'
import { instantText } from '../../model/time.ts'
import { planSize } from '../conditions.ts'
import { type Condition, functionScalar, type Scalar } from '../plan.ts'
import { type ApplyCell, evaluate } from './apply-evaluate.ts'
import {
  constantOf,
  NULL,
  type PrimitiveKind,
  perRecord,
  type TypedExpression,
  type TypedValue,
} from './typed-expression.ts'

/** A value of the plan as a typed expression: computed immediately where no part of it depends on the record. */
export function computed(
  kind: PrimitiveKind,
  scalar: Scalar,
  operands: readonly TypedExpression[],
  epoch = false,
): TypedExpression {
  const isPattern = scalar.type === 'function' && scalar.name === 'matches'
  if (isPattern || operands.some(({ type }) => type !== 'constant')) return perRecord(kind, scalar, epoch)
  const value = evaluate(scalar, () => null)
  if (value === null) return NULL
  if (!epoch) return constantOf(kind, value)
  const text = epochText(value, kind === 'date')
  return text === null ? NULL : constantOf(kind, String(text))
}

/** A date or moment as seconds since 1970. */
export function epochScalar({ scalar, epoch }: TypedValue): Scalar {
  return epoch ? scalar : functionScalar('epoch', scalar)
}

/** The ends of the calendar in seconds: the first moment of the year 1, and the end of the year 9999. */
const FIRST = -62_135_596_800
const END = 253_402_300_800

/** The moment or day at a number of seconds since 1970, as in model/value.ts; null outside of the years 1 to 9999. */
function epochText(seconds: ApplyCell, isDay: boolean): string | null {
  if (typeof seconds !== 'number' || !(seconds >= FIRST && seconds < END - 1e-6)) return null
  const millionths = Math.round(seconds * 1e6)
  const whole = Math.floor(millionths / 1e6)
  const text = instantText(whole, String(millionths - whole * 1e6).padStart(6, '0'))
  return isDay ? text.slice(0, 10) : text
}

/** A value of the plan as in answers: computed moments and times of day as texts, all others unchanged. */
export function edmValue(kind: PrimitiveKind, epoch: boolean, cell: ApplyCell): EdmValue {
  if (cell === null) return null
  if (epoch) return epochText(cell, kind === 'date')
  return kind === 'time' && typeof cell === 'number' ? timeText(cell) : cell
}

/** `HH:MM:SS[.f…]` of seconds since midnight, which a double holds to the nanosecond. */
function timeText(seconds: number): string {
  const whole = Math.floor(seconds)
  const nanoseconds = Math.min(Math.round((seconds - whole) * 1e9), 999_999_999)
  const two = (value: number) => String(value).padStart(2, '0')
  const fraction = String(nanoseconds).padStart(9, '0').replace(/0+$/, '')
  const clock = `${two(Math.floor(whole / 3600))}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`
  return fraction === '' ? clock : `${clock}.${fraction}`
}

/** Evaluations of single operations for one answer, which takes about a second, and characters of the texts that it computes. */
const MAX_OPERATIONS = 20_000_000
const MAX_CHARACTERS = 30_000_000

/** What the steps over the rows of one answer cost. They run in the thread of the server, so it is limited. */
export class RowWork {
  private operations = 0
  private characters = 0

  /** Counts expressions that are evaluated for each of some rows. Faults: ODataUnsupported. */
  count(rows: number, expressions: readonly (Condition | Scalar)[]): void {
    this.operations += rows * expressions.reduce((sum, expression) => sum + planSize(expression), 0)
    if (this.operations > MAX_OPERATIONS) throw tooMuch('take too long')
  }

  /** Counts a computed text. Faults: ODataUnsupported. */
  countText(cell: ApplyCell): ApplyCell {
    if (typeof cell === 'string') this.characters += cell.length
    if (this.characters > MAX_CHARACTERS) throw tooMuch('need too much memory')
    return cell
  }
}

function tooMuch(what: string): Fault {
  return new Fault(ODATA_UNSUPPORTED, {
    reason: `The transformations after the aggregation ${what}: filter the records, or group by fewer properties.`,
  })
}
