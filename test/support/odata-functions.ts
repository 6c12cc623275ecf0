import {
  DAY,
  dateOf,
  double,
  inside,
  int,
  isNumber,
  isPoint,
  isQuantity,
  metres,
  orderOf,
  partOf,
  type Quantity,
  type Ring,
  timeOf,
  type Value,
} from './odata-values.ts'

/** Functions whose answer is a boolean, for what `not` binds to. */
export const BOOLEAN_FUNCTIONS: ReadonlySet<string> = new Set([
  'contains',
  'startswith',
  'endswith',
  'matchespattern',
  'geo.intersects',
])

/** The value of a canonical function (URL Conventions 5.1.1.5 to 5.1.1.11); null where an argument is null. */
export function call(name: string, values: readonly Value[], now: Quantity): Value {
  if (values.includes(null)) return null
  const [first = null, second = null, third = null] = values
  if (name === 'now') return now
  if (name === 'mindatetime') return { type: 'moment', value: -Infinity }
  if (name === 'maxdatetime') return { type: 'moment', value: Infinity }
  if (name === 'geo.distance' && isPoint(first) && isPoint(second)) return double(metres(first, second))
  if (name === 'geo.intersects' && isPoint(first)) return inside(first, second as Ring)
  if (typeof first === 'string') return ofText(name, first, second, third)
  if (!isQuantity(first)) throw new Error(`${name} of ${JSON.stringify(first)}`)
  return isNumber(first) ? ofNumber(name, first) : ofTime(name, first)
}

function ofText(name: string, text: string, second: Value, third: Value): Value {
  const other = typeof second === 'string' ? second : ''
  switch (name) {
    case 'contains':
      return text.includes(other)
    case 'startswith':
      return text.startsWith(other)
    case 'endswith':
      return text.endsWith(other)
    case 'matchespattern':
      return new RegExp(other, 'u').test(text)
    case 'concat':
      return text + other
    case 'indexof': {
      const at = text.indexOf(other)
      return int(at < 0 ? -1 : [...text.slice(0, at)].length)
    }
    case 'length':
      return int([...text].length)
    case 'substring':
      return substring([...text], second, third)
    case 'tolower':
      return text.toLowerCase()
    case 'toupper':
      return text.toUpperCase()
    case 'trim':
      return text.replace(/^[\p{White_Space}]+|[\p{White_Space}]+$/gu, '')
    default:
      throw new Error(`unknown function ${name}`)
  }
}

/** A part of a text; a negative start counts from its end. */
function substring(characters: readonly string[], start: Value, length: Value): string {
  const from = isQuantity(start) ? start.value : 0
  const begin = from < 0 ? Math.max(0, characters.length + from) : from
  return characters.slice(begin, isQuantity(length) ? begin + length.value : undefined).join('')
}

function ofNumber(name: string, { type, value }: Quantity): Value {
  if (name === 'floor') return { type, value: Math.floor(value) }
  if (name === 'ceiling') return { type, value: Math.ceil(value) }
  if (name === 'round') return { type, value: Math.sign(value) * Math.floor(Math.abs(value) + 0.5) }
  throw new Error(`${name} of a number`)
}

function ofTime(name: string, quantity: Quantity): Value {
  const { type, value } = quantity
  if (name === 'date' && type === 'moment') return { type: 'date', value: Math.floor(value / DAY) }
  const ofDay = value - Math.floor(value / DAY) * DAY
  if (name === 'time') return { type: 'time', value: ofDay }
  if (name === 'fractionalseconds') return double((ofDay % 1e6) / 1e6)
  if (name === 'totaloffsetminutes') return int(0)
  if (name === 'totalseconds') return double(value / 1e6)
  const part = partOf(name, type === 'time' ? { type: 'moment', value } : quantity)
  if (part === undefined) throw new Error(`${name} of ${type}`)
  return int(part)
}

/** Arithmetic (URL Conventions 5.1.1.2): null with null, whole quotients of integers, IEEE 754 where one is a double. */
export function arithmetic(operator: string, left: Value, right: Value): Value {
  if (left === null || right === null) return null
  if (!isQuantity(left) || !isQuantity(right)) throw new Error(`${operator} of what is no quantity`)
  if (!isNumber(left) || !isNumber(right)) return ofDurations(operator, left, right)
  const type = left.type === 'int' && right.type === 'int' ? 'int' : 'double'
  const [a, b] = [left.value, right.value]
  switch (operator) {
    case 'add':
      return { type, value: a + b }
    case 'sub':
      return { type, value: a - b }
    case 'mul':
      return { type, value: a * b }
    case 'divby':
      return double(a / b)
    case 'div':
      if (type === 'double') return double(a / b)
      return b === 0 ? null : int(Math.trunc(a / b))
    case 'mod':
      return type === 'int' && b === 0 ? null : { type, value: a % b }
    default:
      throw new Error(`unknown operator ${operator}`)
  }
}

function ofDurations(operator: string, left: Quantity, right: Quantity): Value {
  const sign = operator === 'sub' ? -1 : 1
  if (operator === 'mul' || operator === 'div') {
    const [a, b] = [left.value, right.value]
    return { type: 'duration', value: operator === 'mul' ? a * b : a / b }
  }
  if (left.type === right.type && (left.type === 'moment' || left.type === 'date') && sign < 0)
    return { type: 'duration', value: (left.value - right.value) * (left.type === 'date' ? DAY : 1) }
  if (right.type !== 'duration') throw new Error(`${left.type} ${operator} ${right.type}`)
  const step = left.type === 'date' ? right.value / DAY : right.value
  return { type: left.type, value: left.value + sign * step }
}

/** A cast of which the meaning is sure: to itself, to text, or of a text to what it writes (5.1.1.10.1). */
export function cast(value: Value, target: string): Value {
  if (value === null) return null
  if (target === 'Edm.String') return textOf(value)
  if (isNumber(value) && target === 'Edm.Double') return double(value.value)
  if (isNumber(value) && target === 'Edm.Int64' && value.type === 'int') return value
  if (typeof value !== 'string') throw new Error(`a cast to ${target} that is not sure`)
  if (target === 'Edm.Int64') return /^[-+]?\d+$/.test(value) ? int(Number(value)) : null
  if (target === 'Edm.Double')
    return /^[-+]?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(value) ? double(Number(value)) : null
  if (target === 'Edm.Date') return /^\d{4}-\d\d-\d\d$/.test(value) ? dateOf(value) : null
  if (target === 'Edm.TimeOfDay') return /^\d\d:\d\d:\d\d$/.test(value) ? timeOf(value) : null
  throw new Error(`a cast to ${target} that is not sure`)
}

function textOf(value: Value): string {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value)
  if (isQuantity(value) && value.type === 'int') return String(value.value)
  if (isQuantity(value) && value.type === 'date')
    return new Date(value.value * 86_400_000).toISOString().slice(0, 10)
  throw new Error('a text that is not sure')
}

/** `eq` of two values: null equals null alone, what is not a number nothing. */
export function equal(left: Value, right: Value): boolean {
  if (left === null || right === null) return left === right
  return orderOf(left, right) === 0
}
