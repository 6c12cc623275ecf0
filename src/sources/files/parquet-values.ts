import type { SchemaElement, SchemaTree } from 'hyparquet'
import { lookup, setMember } from '../../model/lookup.ts'
import { shortestSingle } from '../../model/number.ts'

/** Converts a value of a column, as it is stored or assembled, to a value of a source. */
export type ColumnConversion = (value: unknown) => unknown

/** Maximum significant digits that every double preserves. */
const DOUBLE_DIGITS = 15

/**
 * The columns that have decimals, local times, times of the day, intervals or numbers of single precision, also in lists, maps and structures, with their conversions: decimals are exact,
 * times are `HH:MM:SS`, intervals durations. hyparquet would round decimals to doubles, leave times in the unit of the file and refuse intervals, so the elements of the
 * schema are changed: it then returns the stored values.
 */
export function columnConversions({ children }: SchemaTree): ReadonlyMap<string, ColumnConversion> {
  return new Map(
    children.flatMap(child => {
      const convert = conversionOf(child)
      return convert === undefined ? [] : [[child.element.name, convert] as const]
    }),
  )
}

/** Converts the members of an object in place. */
export function convertMembers(
  object: Record<string, unknown>,
  conversions: ReadonlyMap<string, ColumnConversion>,
): void {
  for (const [name, convert] of conversions) setMember(object, name, convert(lookup(object, name)))
}

/** The conversion of a node of the schema: hyparquet assembles lists as arrays, maps and structures as objects. */
function conversionOf(node: SchemaTree): ColumnConversion | undefined {
  const { element, children } = node
  const [first] = children
  if (first === undefined) return forEach(storedConversion(element))
  // Variants are decoded by hyparquet.
  if (element.logical_type?.type === 'VARIANT') return undefined
  const isGroup = children.length === 1 && first.element.repetition_type === 'REPEATED'
  if (isGroup && element.converted_type === 'LIST' && first.children.length <= 1)
    return conversionOf(first.children[0] ?? first)
  if (isGroup && element.converted_type === 'MAP' && first.children.length === 2)
    return forEach(mapConversion(first))
  const members = columnConversions(node)
  if (members.size === 0) return undefined
  return forEach(struct => {
    convertMembers(struct as Record<string, unknown>, members)
    return struct
  })
}

/** Converts the values of a map; its keys are names, which hyparquet converts. */
function mapConversion({ children }: SchemaTree): ColumnConversion | undefined {
  const values = children.find(({ element }) => element.name === 'value')
  const convert = values && conversionOf(values)
  return (
    convert &&
    (map => {
      const object = map as Record<string, unknown>
      const names = Object.keys(object)
      convertMembers(object, new Map(names.map(name => [name, convert])))
      return object
    })
  )
}

/** Applies a conversion to a value or to each element of nested arrays; no value remains none. */
function forEach(convert: ColumnConversion | undefined): ColumnConversion | undefined {
  if (convert === undefined) return undefined
  const all: ColumnConversion = value =>
    value === null || value === undefined ? null : Array.isArray(value) ? value.map(all) : convert(value)
  return all
}

function storedConversion(element: SchemaElement): ColumnConversion | undefined {
  const { converted_type: converted, logical_type: logical } = element
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') {
    const scale = element.scale ?? (logical?.type === 'DECIMAL' ? logical.scale : 0)
    delete element.converted_type
    delete element.logical_type
    // Bytes of variable length without a type would be decoded as text; this type is not used to read them.
    if (element.type === 'BYTE_ARRAY') element.type = 'FIXED_LEN_BYTE_ARRAY'
    return value => decimal(value, scale)
  }
  if (converted === 'INTERVAL') {
    delete element.converted_type
    return value => duration(value as Uint8Array)
  }
  // Other readers write a single 0.1 as 0.1, and not as the double 0.10000000149011612 that it is.
  if (element.type === 'FLOAT') return value => shortestSingle(value as number)
  // Local times, in whatever zone the field declares: hyparquet does not tell them from moments.
  if (logical?.type === 'TIMESTAMP' && logical.isAdjustedToUTC === false)
    return value => (typeof value === 'string' ? value.replace(/Z$/, '') : value)
  if (logical?.type === 'TIME')
    return value => timeOfDay(value, logical.unit === 'NANOS' ? 9 : logical.unit === 'MICROS' ? 6 : 3)
  // Bytes of a fixed length are hashes and keys, and no numbers.
  if (element.type === 'FIXED_LEN_BYTE_ARRAY' && converted === undefined && logical === undefined)
    return value => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value)
  if (converted === 'TIME_MILLIS') return value => timeOfDay(value, 3)
  return converted === 'TIME_MICROS' ? value => timeOfDay(value, 6) : undefined
}

/** A decimal as a number where a double preserves its digits, integers as bigints, else as text. */
function decimal(value: unknown, scale: number): number | bigint | string {
  const unscaled = value instanceof Uint8Array ? bigEndian(value) : (value as number | bigint)
  const number = Number(unscaled)
  if (scale === 0) return Number.isSafeInteger(number) ? number : unscaled
  // The quotient of two integers that doubles represent is the nearest double.
  if (Math.abs(number) < 10 ** DOUBLE_DIGITS && scale <= 22) return number / 10 ** scale
  const text = decimalText(BigInt(unscaled), scale)
  return text.replace(/^-?[0.]*|\./g, '').length <= DOUBLE_DIGITS ? Number(text) : text
}

function decimalText(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : ''
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  const fraction = digits.slice(-scale).replace(/0+$/, '')
  return `${sign}${digits.slice(0, -scale)}${fraction === '' ? '' : `.${fraction}`}`
}

/** The signed integer of big-endian bytes. */
function bigEndian(bytes: Uint8Array): bigint {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
  return hex === '' ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${hex}`))
}

/** A duration in ISO 8601, `P1Y2M3DT4.5S`, of months, days and milliseconds, each of four little-endian bytes. */
function duration(bytes: Uint8Array): string {
  const [months = 0, days = 0, milliseconds = 0] = [0, 4, 8].map(at =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).readUInt32LE(at),
  )
  const part = (number: number, sign: string) => (number === 0 ? '' : `${number}${sign}`)
  const date = part(Math.floor(months / 12), 'Y') + part(months % 12, 'M') + part(days, 'D')
  const hours = part(Math.floor(milliseconds / 3_600_000), 'H')
  const minutes = part(Math.floor(milliseconds / 60_000) % 60, 'M')
  const time = hours + minutes + part((milliseconds % 60_000) / 1000, 'S')
  return date + time === '' ? 'PT0S' : `P${date}${time === '' ? '' : `T${time}`}`
}

/** A time of the day as `HH:MM:SS`, with its fraction if it has one; null for a negative number. */
function timeOfDay(value: unknown, fractionDigits: number): string | null {
  const digits = String(value).padStart(fractionDigits + 1, '0')
  if (!/^\d+$/.test(digits)) return null
  const seconds = Number(digits.slice(0, -fractionDigits))
  const fraction = digits.slice(-fractionDigits).replace(/0+$/, '')
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return `${parts.map(part => String(part).padStart(2, '0')).join(':')}${fraction === '' ? '' : `.${fraction}`}`
}
