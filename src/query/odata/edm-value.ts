import type { EdmValue } from '../../model/edm.ts'
import { epochText } from './computed.ts'
import type { ApplyCell } from './evaluate.ts'
import type { PrimitiveKind } from './typed-expression.ts'

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
