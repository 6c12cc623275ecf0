import type { EdmValue, EntityColumn } from '../../../model/edm.ts'
import type { Version } from './shape.ts'

/** The value of a point. */
export type PointValue = { readonly latitude: number; readonly longitude: number }

/** Maximum digits before or after the decimal point of a double: as many as identify it uniquely. */
const MAX_DIGITS = 17

/** A double as XML Schema and the texts of OData have it: `INF`, `-INF`, `NaN`, with an exponent if it has many digits. */
export function doubleText(value: number): string {
  if (Number.isFinite(value)) {
    const text = String(value)
    const isLong = text.length > MAX_DIGITS && text.split(/[-.e]/).some(part => part.length > MAX_DIGITS)
    return isLong ? value.toExponential() : text
  }
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'INF' : '-INF'
}

/** A decimal in digits, without exponent. */
export function decimalText(value: number): string {
  const text = Number.isFinite(value) ? String(value) : doubleText(value)
  if (!text.includes('e')) return text
  return Math.abs(value) >= 1e21 ? String(BigInt(value)) : value.toFixed(20).replace(/\.?0+$/, '')
}

/** A number of seconds as `xs:dayTimeDuration`, to the microsecond. */
export function durationText(seconds: number): string {
  const millionths = Math.round(Math.abs(seconds) * 1e6)
  const whole = Math.floor(millionths / 1e6)
  const parts = [
    [Math.floor(whole / 3600) % 24, 'H'],
    [Math.floor(whole / 60) % 60, 'M'],
    [Number(`${whole % 60}.${String(millionths % 1e6).padStart(6, '0')}`), 'S'],
  ] as const
  const days = Math.floor(whole / 86_400)
  const time = parts.map(([amount, unit]) => (amount === 0 ? '' : `${decimalText(amount)}${unit}`)).join('')
  const date = days === 0 ? '' : `${days}D`
  if (date === '' && time === '') return 'PT0S'
  return `${seconds < 0 ? '-' : ''}P${date}${time === '' ? '' : `T${time}`}`
}

/** A time of day as the duration since midnight, which is what Edm.Time of 3.0 is. */
function timeDuration(time: string): string {
  const [hours = '0', minutes = '0', seconds = '0'] = time.split(':')
  const parts = [
    [hours, 'H'],
    [minutes, 'M'],
    [seconds, 'S'],
  ] as const
  const text = parts
    .map(([digits, unit]) => (Number(digits) === 0 ? '' : `${digits.replace(/^0(?=\d)/, '')}${unit}`))
    .join('')
  return `PT${text === '' ? '0S' : text}`
}

/**
 * The text of a single primitive value, the same in XML, in JSON between quotes, and by itself.
 * A boolean is `true` or `false`; before 4.0 a date is a date-time without zone. Clients of 2.0 read only milliseconds, which
 * is also the precision of its JSON.
 */
export function primitiveText(
  value: string | number | bigint | boolean,
  { type }: Typed,
  version: Version,
): string {
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number') {
    if (type === 'Edm.Duration') return durationText(value)
    return type === 'Edm.Double' ? doubleText(value) : decimalText(value)
  }
  if (version === '4.0') return value
  if (type === 'Edm.Date') return `${value}T00:00:00`
  if (type === 'Edm.DateTimeOffset' && version === '2.0') return value.replace(/(\.\d{3})\d+/, '$1')
  return type === 'Edm.TimeOfDay' ? timeDuration(value) : value
}

type Typed = Pick<EntityColumn, 'type'>

/** The text of a property by itself (`/$value`, Protocol 11.2.4.1); undefined for what is not primitive. */
export function rawText(value: EdmValue, column: EntityColumn, version: Version): string | undefined {
  if (value === null || typeof value === 'object') return undefined
  return primitiveText(value, column, version)
}
