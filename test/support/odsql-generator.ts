/** Random records and random questions about them, each with the text of the query and its plain meaning. */
import {
  answerGroups,
  answerRows,
  arithmetic,
  type Condition,
  type Context,
  clockOf,
  compare,
  containsWords,
  type Figure,
  figure,
  formatted,
  inside,
  isoText,
  type Key,
  metres,
  micros,
  moment,
  OPERATORS,
  type Ordering,
  type Part,
  type Position,
  part,
  present,
  type Row,
  relate,
  type Scalar,
  type Source,
  type Term,
  tokens,
  wordsOf,
} from './odsql-evaluator.ts'

let state = 1

/** The same start gives the same records and questions. */
export function startFrom(seed: number): void {
  state = seed
}

const random = () => {
  state = (state * 1664525 + 1013904223) % 2 ** 32
  return state / 2 ** 32
}
export const chance = (share: number) => random() < share
export const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1))
export function pick<Value>(values: readonly Value[]): Value {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) throw new Error('nothing to pick from')
  return value
}
const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index))

const WORDS =
  'Zoë|zoe|Élan|élan|naïve|O\'Brien|"quoted"|back\\slash|tab\there|line\nbreak|ÅNGSTRÖM|straße|STRASSE|ﬁne|fine|São Paulo|sao-paulo|İstanbul|日本|123|12.5|a|b|c*|Ελλάς|x,y|–dash|😀'.split(
    '|',
  )
const CODES = ['a1', 'b2', 'C3', 'zz', 'no', 'or', 'k9']
const orNull = <Value>(value: Value): Value | null => (chance(0.2) ? null : value)
const two = (value: number) => String(value).padStart(2, '0')
const decimal = (low: number, high: number) => between(low * 100, high * 100) / 100

/** Moments near which clocks change, in Paris, New York and Lord Howe. */
const CHANGES = [
  '2019-03-31T01',
  '2020-10-25T01',
  '2021-03-14T07',
  '2022-11-06T06',
  '2019-10-05T15',
  '2021-04-03T15',
]

function makeMoment(): string {
  const tail = `${pick(['00', '30', '45'])}:${pick(['00', '07', '59'])}${pick(['', '', '.5', '.123456'])}Z`
  if (chance(0.8))
    return `${between(2019, 2022)}-${two(between(1, 12))}-${two(between(1, 28))}T${two(between(0, 23))}:${tail}`
  const near = Date.parse(`${pick(CHANGES)}:00:00Z`) + between(-4, 4) * 3_600_000
  return `${new Date(near).toISOString().slice(0, 13)}:${tail}`
}

const ring = (corners: readonly Position[]): readonly Position[] => [...corners, ...corners.slice(0, 1)]

function makeShape(): Source['shape'] {
  const [lon, lat, wide, high] = [decimal(-12, 22), decimal(38, 60), decimal(0.1, 3), decimal(0.1, 3)]
  const [east, north] = [Number((lon + wide).toFixed(2)), Number((lat + high).toFixed(2))]
  const corners: readonly Position[] = [
    [lon, lat],
    [east, lat],
    [east, north],
    [lon, north],
  ]
  return { type: 'Polygon', coordinates: [ring(corners.slice(0, pick([3, 4])))] }
}

function makeRecord(k: number): Source {
  const far = chance(0.25)
  return {
    k,
    title: orNull(times(between(1, 4), () => pick(WORDS)).join(pick([' ', ' ', '-', '/']))),
    word: orNull(pick(WORDS)),
    n: orNull(between(-5, 20)),
    m: orNull(between(-3, 60)),
    big: orNull(between(-1e12, 1e12)),
    x: orNull(pick([0, -0.5, 1.5, 1e6, 0.1 + 0.2, between(-100, 100) / 8, between(0, 9)])),
    flag: orNull(chance(0.5)),
    on: orNull(`${between(1995, 2025)}-${two(between(1, 12))}-${two(between(1, 28))}`),
    at: orNull(makeMoment()),
    tags: orNull([...new Set(times(between(0, 3), () => pick(WORDS)))]),
    codes: orNull([...new Set(times(between(0, 4), () => pick(CODES)))]),
    place: orNull({
      lat: far ? decimal(-89, 89) : decimal(38, 62),
      lon: far ? decimal(-179, 179) : decimal(-12, 25),
    }),
    shape: orNull(makeShape()),
  }
}

/** The fields of a record and their types. */
export const TYPES = {
  k: 'int',
  title: 'text',
  word: 'text',
  n: 'int',
  m: 'int',
  big: 'int',
  x: 'double',
  flag: 'boolean',
  on: 'date',
  at: 'datetime',
  tags: 'text',
  codes: 'text',
  place: 'geo_point_2d',
  shape: 'geo_shape',
} as const satisfies Record<keyof Source, string>
const FIELDS = Object.keys(TYPES) as (keyof Source)[]

let records: readonly Source[] = []

/** Makes the records that questions are about. */
export function makeRecords(count: number): readonly Source[] {
  records = times(count, makeRecord)
  return records
}

export function quote(text: string): string {
  const mark = pick(['"', "'"])
  return mark + text.replaceAll('\\', '\\\\').replaceAll(mark, `\\${mark}`) + mark
}
const cased = (keyword: string) => pick([keyword, keyword.toUpperCase()])

type NumberField = 'k' | 'n' | 'm' | 'x' | 'big'
type DateField = 'on' | 'at'
type ManyField = 'tags' | 'codes'
const NUMBERS: readonly NumberField[] = ['n', 'n', 'm', 'm', 'x', 'x', 'big', 'k']
const PARTS: readonly Part[] = ['year', 'month', 'day', 'hour', 'minute', 'second']
const PATTERNS = `YYYY|YYYY-MM|yy/M/d|dd/MM/YYYY HH:mm:ss|YYYY-MM-dd'T'HH|D|DDD|e|w|xxxx-ww|E|EEEE|MMMM YYYY|h:mm|K|k|C|'d''un' d`
/** Operators bind by level: 0 for sums, 1 for products, 2 for everything else. */
type Leveled = Term & { readonly level: number }

const fieldTerm = (name: NumberField | 'title' | 'word' | 'flag'): Leveled => ({
  text: name,
  type: name === 'title' || name === 'word' ? 'text' : name === 'flag' ? 'boolean' : 'number',
  of: record => record[name],
  level: 2,
})
const dateTerm = (name: DateField): Leveled => ({
  text: name,
  type: name === 'on' ? 'date' : 'datetime',
  of: name === 'on' ? record => record.on : record => micros(record.at),
  level: 2,
})

/** A function of what clocks show for a date. */
function clockTerm(
  text: string,
  type: Term['type'],
  date: Term,
  read: (shown: string, context: Context) => Scalar,
): Leveled {
  const of: Term['of'] = (record, context) => {
    const shown = clockOf(date.of(record, context), context.timezone)
    return shown === null ? null : read(shown, context)
  }
  return { text, type, of, level: 2 }
}
/** A date, or another one where there is none. */
function anyDate(): Term {
  const date = dateTerm(pick(['at', 'at', 'on']))
  if (chance(0.85)) return date
  const { text, start } = literal(date.text === 'on' ? 'on' : 'at')
  return { ...date, text: `ifnull(${date.text}, ${text})`, of: (...all) => date.of(...all) ?? start(all[1]) }
}
function partTerm(date = anyDate()): Leveled {
  const name = pick(PARTS)
  return clockTerm(`${cased(name)}(${date.text})`, 'part', date, shown => part(name, shown))
}
function formatTerm(patterns = PATTERNS, date = anyDate()): Leveled {
  const pattern = pick(patterns.split('|'))
  const text = `${cased('date_format')}(${date.text}, ${quote(pattern)})`
  return clockTerm(text, 'text', date, (shown, { lang }) => formatted(shown, pattern, lang))
}
function lowerTerm(): Leveled {
  const inner = textTerm(0)
  return {
    ...inner,
    text: `${cased('lower')}(${inner.text})`,
    of: (...all) =>
      inner
        .of(...all)
        ?.toString()
        .toLowerCase() ?? null,
  }
}
function ifNullTerm(inner: Leveled, other: Term): Leveled {
  const text = `${cased('ifnull')}(${inner.text}, ${other.text})`
  return { ...inner, text, of: (...all) => inner.of(...all) ?? other.of(...all), level: 2 }
}
function constantTerm(value = pick([0, 1, 2, 3, between(-5, 20), between(-40, 40) / 4])): Leveled {
  return { text: String(value), type: 'number', of: () => value, level: 2 }
}
function distanceTerm(): Leveled {
  const centre: Position = [decimal(-12, 25), decimal(38, 62)]
  return {
    text: `distance(place, geom'POINT(${centre.join(' ')})')`,
    type: 'number',
    of: ({ place }) => place && metres([place.lon, place.lat], centre),
    level: 2,
  }
}

const textConstant = (value: string): Term => ({ text: quote(value), type: 'text', of: () => value })

/** Text values: fields and functions. */
function textTerm(depth = 1): Leveled {
  if (depth === 0 || chance(0.4)) return fieldTerm(pick(['title', 'word', 'word']))
  return pick([
    lowerTerm,
    () => formatTerm(),
    () => ifNullTerm(fieldTerm('word'), pick([textConstant(pick(WORDS)), fieldTerm('title')])),
  ])()
}

/** Numbers: fields, constants, functions and arithmetic as deep as told. */
function numberTerm(depth: number): Leveled {
  if (depth === 0 || chance(0.25))
    return pick([
      () => fieldTerm(pick(NUMBERS)),
      () => fieldTerm(pick(NUMBERS)),
      () => ifNullTerm(fieldTerm(pick(NUMBERS)), pick([constantTerm(), fieldTerm(pick(NUMBERS))])),
      lengthTerm,
      () => partTerm(),
    ])()
  if (chance(0.1)) {
    const inner = numberTerm(depth - 1)
    const text = `-${inner.level < 2 || inner.text.startsWith('-') ? `(${inner.text})` : inner.text}`
    return { ...inner, text, type: 'number', of: (...all) => arithmetic('-', 0, inner.of(...all)), level: 2 }
  }
  const constant = () => (chance(0.8) ? constantTerm() : joined(constantTerm(), constantTerm()))
  const [left, right] = [numberTerm(depth - 1), chance(0.5) ? constant() : numberTerm(depth - 1)]
  return chance(0.3) ? joined(right, left) : joined(left, right)
}
/** Arithmetic on two terms, with parentheses where it needs them. */
function joined(first: Leveled, second: Leveled): Leveled {
  const operator = pick(['+', '-', '*', '/'])
  const level = operator === '+' || operator === '-' ? 0 : 1
  const [before, after] = [first.level < level, second.level <= level]
  return {
    text: `${before ? `(${first.text})` : first.text} ${operator} ${after ? `(${second.text})` : second.text}`,
    type: 'number',
    of: (...all) => arithmetic(operator, first.of(...all), second.of(...all)),
    level,
  }
}
function lengthTerm(): Leveled {
  const inner = textTerm(between(0, 1))
  return {
    text: `${cased('length')}(${inner.text})`,
    type: 'number',
    of: (...all) => {
      const value = inner.of(...all)
      return value === null ? null : [...String(value)].length
    },
    level: 2,
  }
}

/** A date literal: when it begins and, if it stands for a period, when that ends. */
interface Literal {
  readonly text: string
  readonly start: (context: Context) => Scalar
  readonly end: ((context: Context) => Scalar) | null
}

const LENGTHS = { year: 4, month: 7, day: 10, minute: 16 } as const
const fill = (text: string) => `${text}${'0000-01-01T00:00:00'.slice(text.length)}`
/** The time on a clock so much later. */
function later(shown: string, unit: keyof typeof LENGTHS | 'hour', count: number): string {
  const date = new Date(`${shown}Z`)
  if (unit === 'year') date.setUTCFullYear(date.getUTCFullYear() + count)
  else if (unit === 'month') date.setUTCMonth(date.getUTCMonth() + count)
  else date.setTime(date.getTime() + count * { day: 86_400_000, hour: 3_600_000, minute: 60_000 }[unit])
  return date.toISOString().slice(0, 19)
}

function literal(field: DateField): Literal {
  const mark = pick(["'", '"'])
  const write = (text: string) => `${cased('date')}${mark}${text}${mark}`
  const model = pick(records)[field] ?? '2020-07-08T09:10:11Z'
  if (field === 'at' && chance(0.4)) {
    const start = () => micros(model)
    const shifted = new Date(Date.parse(model) + 7_200_000).toISOString().slice(0, 19)
    return { text: write(chance(0.5) || model.includes('.') ? model : `${shifted}+02:00`), start, end: null }
  }
  const unit = pick(
    field === 'at' ? (['year', 'month', 'day', 'minute'] as const) : (['year', 'month', 'day'] as const),
  )
  const text = model.slice(0, LENGTHS[unit])
  const [first, next] = [fill(text), later(fill(text), unit, 1)]
  const value = (shown: string) => (context: Context) =>
    field === 'on' ? shown.slice(0, 10) : moment(shown, context.timezone) * 1000
  const written = unit !== 'minute' && chance(0.3) ? text.replaceAll('-', '/') : text
  return {
    text: write(written),
    start: value(first),
    end: field === 'on' && unit === 'day' ? null : value(next),
  }
}

const negated = ({ text, holds }: Condition): Condition => ({
  text: `${cased('not')} (${text})`,
  holds: (...all) => !holds(...all),
})
const asPosition = ({ lon, lat }: { readonly lon: number; readonly lat: number }): Position => [lon, lat]
/** A polygon as a query writes it: as text, as GeoJSON or as bytes. */
function written(...rings: readonly (readonly Position[])[]): string {
  const bytes = rings.map(corners => {
    const numbers = Buffer.from(new Float64Array(corners.flat()).buffer)
    return Buffer.concat([Buffer.from(new Uint32Array([corners.length]).buffer), numbers]).toString('hex')
  })
  return pick([
    `${cased('geom')}'POLYGON(${rings.map(corners => `(${corners.map(each => each.join(' ')).join(', ')})`).join(', ')})'`,
    `geom'${JSON.stringify({ type: 'Polygon', coordinates: rings })}'`,
    `geom'0103000000${Buffer.from(new Uint32Array([rings.length]).buffer).toString('hex')}${bytes.join('')}'`,
  ])
}

/** A polygon around a middle, its corners where no record has a coordinate. */
function polygon(
  count = between(3, 6),
  [lon, lat]: Position = [decimal(-8, 20), decimal(42, 58)],
  [least, max]: readonly [number, number] = [1, 11],
): readonly Position[] {
  return ring(
    times(count, index => {
      const [angle, reach] = [((index + random() * 0.8) / count) * 2 * Math.PI, decimal(least, max)]
      return [
        Number((lon + Math.cos(angle) * reach * 1.5 + 0.00137).toFixed(5)),
        Number((lat + Math.sin(angle) * reach + 0.00173).toFixed(5)),
      ]
    }),
  )
}

/** Words to ask for: those of a record, the last one perhaps cut to its beginning. */
function askedWords(from: readonly string[], max: number): string {
  const requested = times(between(1, max), () => pick([...from, 'zo', 'élan', 'Zoë', 'sao-paulo']))
  const last = requested.length - 1
  if (chance(0.4)) requested[last] = `${[...(requested[last] ?? '')].slice(0, 2).join('')}*`
  return requested.join(pick([' ', '  ']))
}

type TextField = 'title' | 'word' | ManyField
/** The texts that a field of a record has. */
function textsOf(record: Source, field: TextField): readonly string[] {
  const value = record[field]
  return value === null ? [] : typeof value === 'string' ? [value] : value
}
const someText = (field: TextField) => pick([...textsOf(pick(records), field), pick(WORDS)])
const anyTextField = () => pick<TextField>(['title', 'word', 'tags', 'codes'])
const range = (low: string | number, high: string | number) => {
  const [open, close] = [pick(['[', ']']), pick(['[', ']'])]
  const text = `${pick([` ${cased('in')} `, ': '])}${open}${low}${pick(['..', ' TO ', ' .. ', ' to '])}${high}${close}`
  return { text, lower: open === '[' ? '>=' : '>', upper: close === ']' ? '<=' : '<' }
}
const comparison = (left: Term, right: Term, operators = OPERATORS): Condition => {
  const [operator, gap] = [pick(operators), pick(['', ' '])]
  return {
    text: `${left.text}${gap}${operator}${gap}${right.text}`,
    holds: (...all) => compare(operator, left.of(...all), right.of(...all)),
  }
}
const positionsOf = ({ place }: Source) => (place === null ? [] : [asPosition(place)])

/** One kind of condition each. */
const CONDITIONS: readonly (() => Condition)[] = [
  () => comparison(fieldTerm(pick(NUMBERS)), constantTerm()),
  () => comparison({ ...fieldTerm('n'), text: '`n`' }, constantTerm()),
  () => comparison(constantTerm(), fieldTerm(pick(NUMBERS))),
  () => {
    const field = pick(NUMBERS)
    const value = pick(records)[field] ?? 3
    return comparison(fieldTerm(field), { text: String(value), type: 'number', of: () => value })
  },
  () => comparison(numberTerm(2), numberTerm(1)),
  () => comparison(numberTerm(1), constantTerm()),
  () => comparison(partTerm(), { ...constantTerm(), text: '2020', of: () => 2020 }, ['=', '>', '<=']),
  () => comparison(constantTerm(), partTerm()),
  () => comparison(fieldTerm('word'), textConstant(someText('word'))),
  () => comparison(fieldTerm('title'), textConstant(someText('title')), ['=', ':', '!=']),
  () => comparison(fieldTerm('title'), fieldTerm('word')),
  () => comparison(textTerm(), textConstant(pick([...WORDS, 'zoë', '2020', '2020-05', 'lundi', '07']))),
  () => comparison(formatTerm('YYYY-MM'), textConstant(`${between(2019, 2022)}-${two(between(1, 12))}`)),
  () => comparison(lowerTerm(), textTerm()),
  () => {
    const [field, operator, value] = [
      pick<ManyField>(['tags', 'codes']),
      pick(['=', ':', '!=']),
      someText('codes'),
    ]
    const requested = field === 'tags' ? pick(WORDS) : value
    return {
      text: `${field} ${operator} ${quote(requested)}`,
      holds: record => textsOf(record, field).some(each => compare(operator, each, requested)),
    }
  },
  () => {
    const [text, value, required] = pick<readonly [string, boolean, boolean]>([
      ['flag', true, true],
      ['flag is true', true, true],
      ['flag IS FALSE', false, true],
      ['flag is not true', true, false],
      ['flag is not false', false, false],
      ['flag = FALSE', false, true],
      ['flag != true', false, true],
    ])
    return { text, holds: ({ flag }) => (flag === value) === required }
  },
  () => {
    const field = pick(['title', 'n', 'x', 'flag', 'on', 'at', 'tags', 'codes', 'place', 'shape'] as const)
    const required = chance(0.5)
    const empty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0)
    return {
      text: `${field} ${cased('is')} ${required ? '' : 'not '}${cased('null')}`,
      holds: record => empty(record[field]) === required,
    }
  },
  () => ({ text: `${pick(['n', 'word', 'on'])} ${pick(['=', '!='])} null`, holds: () => false }),
  () => {
    const [field, operator] = [pick<DateField>(['on', 'at']), pick(OPERATORS)]
    const [{ text, start, end }, date] = [literal(field), dateTerm(field)]
    return {
      text: `${field} ${operator} ${text}`,
      holds: (record, context) => {
        const value = date.of(record, context)
        if (value === null || end === null || !['=', ':', '!='].includes(operator))
          return compare(operator, value, start(context))
        const within = compare('>=', value, start(context)) && compare('<', value, end(context))
        return within === (operator !== '!=')
      },
    }
  },
  () => {
    const field = pick<DateField>(['on', 'at'])
    const [low, high, date] = [literal(field), literal(field), dateTerm(field)]
    const { text, lower, upper } = range(low.text, high.text)
    return {
      text: `${field}${text}`,
      holds: (record, context) => {
        const value = date.of(record, context)
        return compare(lower, value, low.start(context)) && compare(upper, value, high.start(context))
      },
    }
  },
  () => ({
    text: `at ${pick(['<', '!='])} now(${pick(['', 'years=-1', 'months=-2, day=31'])})`,
    holds: ({ at }) => at !== null,
  }),
  () => {
    const [field, low, high] = [
      pick(['n', 'm', 'x', 'k'] as const),
      between(-5, 10),
      between(0, 25) + pick([0, 0.5]),
    ]
    const { text, lower, upper } = range(low, high)
    return {
      text: `${field}${text}`,
      holds: record => compare(lower, record[field], low) && compare(upper, record[field], high),
    }
  },
  () => {
    const field = pick(['word', 'title', 'n', 'x', 'tags', 'codes'] as const)
    const many = (record: Source) => [record[field]].flat().filter(value => value !== null)
    const found = times(between(1, 4), () => pick(records)).flatMap(many)
    const list = found.length > 0 ? found : [field === 'n' || field === 'x' ? 1 : 'a']
    const written = list
      .map(value => (typeof value === 'string' ? quote(value) : value))
      .join(pick([',', ', ']))
    const listed: Condition = {
      text: `${field} ${cased('in')} (${written})`,
      holds: record => many(record).some(value => list.includes(value)),
    }
    return chance(0.3) ? { ...negated(listed), text: `not ${listed.text}` } : listed
  },
  () => {
    const field = pick<ManyField>(['tags', 'codes'])
    const requested = someText(field)
    return {
      text: `${quote(requested)} in ${field}`,
      holds: record => textsOf(record, field).includes(requested),
    }
  },
  () => {
    const requested = askedWords(wordsOf(pick(records)), 2)
    return { text: quote(requested), holds: record => containsWords(wordsOf(record), requested) }
  },
  () => {
    const field = anyTextField()
    const requested = askedWords(textsOf(pick(records), field).slice(0, 1).flatMap(tokens), 2)
    return {
      text: `${field} ${cased('like')} ${quote(requested)}`,
      holds: record => textsOf(record, field).some(value => containsWords(tokens(value), requested)),
    }
  },
  () => {
    const [fields, requested] = [
      times(between(1, 2), anyTextField),
      pick(['zo', 'e', 'STR', 'São', 'a', '12', 'c']),
    ]
    const listed = chance(0.2) ? [] : fields
    const words = (record: Source) =>
      listed.length === 0 ? wordsOf(record) : listed.flatMap(field => textsOf(record, field).flatMap(tokens))
    return {
      text: `suggest(${[...listed, quote(requested)].join(pick([',', ', ']))})`,
      holds: record => containsWords(words(record), requested, true),
    }
  },
  () => {
    const fields = times(between(1, 2), anyTextField)
    const requested = [...pick(fields.map(someText))].slice(0, between(1, 6)).join('')
    return {
      text: `startswith(${[...fields, quote(requested)].join(', ')})`,
      holds: record =>
        fields.some(field => textsOf(record, field).some(value => value.startsWith(requested))),
    }
  },
  () => {
    const [field, requested] = [
      anyTextField(),
      pick(['zoe', 'elan', 'strasse', 'fine', 'a', '日本', 'quoted']),
    ]
    return {
      text: `(${field} like ${quote(requested)} and not search(${field}, ${quote(requested)}))`,
      holds: () => false,
    }
  },
  () => {
    const [middle, [unit, length]] = [
      asPosition({ lon: decimal(-12, 25), lat: decimal(38, 62) }),
      pick([
        ['km', 1000],
        ['mi', 1609.344],
        ['m', 1],
        ['yd', 0.9144],
        ['ft', 0.3048],
        ['cm', 0.01],
        ['', 1],
      ] as const),
    ]
    const distances = records.flatMap(positionsOf).map(each => metres(each, middle))
    const limit = pick([300, 700, 1500, 6000].map(size => Math.round((size * 1000) / length)))
    if (distances.some(each => Math.abs(each / (limit * length) - 1) < 0.005)) return pick(CONDITIONS)()
    return {
      text: `${pick(['distance', 'within_distance', 'DISTANCE'])}(place, geom'POINT(${middle.join(' ')})', ${limit}${pick(['', ' '])}${unit})`,
      holds: record => positionsOf(record).some(each => metres(each, middle) <= limit * length),
    }
  },
  () =>
    comparison(distanceTerm(), { ...constantTerm(), text: '654321.123', of: () => 654_321.123 }, ['<', '>']),
  () => {
    const [south, west] = [decimal(35, 58) + 0.00371, decimal(-15, 20) + 0.00213]
    const [north, east] = [south + decimal(1, 9), west + decimal(2, 20)]
    const text = pick([
      `in_bbox(place, ${south}, ${west}, ${north}, ${east})`,
      `bbox(place, geom'POINT(${west} ${north})', geom'POINT(${east} ${south})')`,
    ])
    const holds = ([lon, lat]: Position) => lon >= west && lon <= east && lat >= south && lat <= north
    return { text, holds: record => positionsOf(record).some(holds) }
  },
  () => {
    const area = polygon()
    return {
      text: `${pick(['polygon', 'within', 'intersects'])}(place, ${written(area)})`,
      holds: record => positionsOf(record).some(each => inside(each, area)),
    }
  },
  () => {
    const middle: Position = [decimal(-8, 20), decimal(42, 58)]
    const [area, hole] = [polygon(6, middle, [8, 11]), polygon(6, middle, [1, 4])]
    return {
      text: `polygon(place, ${written(area, hole)})`,
      holds: record => positionsOf(record).some(each => inside(each, area) && !inside(each, hole)),
    }
  },
  () => {
    const [[x1, y1], , [x2, y2]] = pick(
      records.flatMap(({ shape }) => shape?.coordinates ?? []),
    ) as readonly [Position, Position, Position]
    const share = between(1, 9) / 10
    const lon = Number((x1 * share + x2 * (1 - share) + 0.00071).toFixed(5))
    const lat = Number((y1 * share + y2 * (1 - share) - 0.00053).toFixed(5))
    return {
      text: `intersects(shape, geom'POINT(${lon} ${lat})')`,
      holds: ({ shape }) => shape !== null && inside([lon, lat], shape.coordinates[0] ?? []),
    }
  },
  () => {
    const [area, relation] = [polygon(), pick(['intersects', 'disjoint', 'within'] as const)]
    const literal = written(area)
    return {
      text: pick([
        `${relation}(shape, ${literal})`,
        `geometry(shape, ${literal}, ${relation.toUpperCase()})`,
        `geometry(shape, ${literal}, '${relation}')`,
      ]),
      holds: ({ shape }) => {
        const found = shape && relate(shape.coordinates[0] ?? [], area)
        return relation === 'intersects' ? found === 'within' || found === 'crossing' : found === relation
      },
    }
  },
]

/** Conditions, joined as deep as told. */
function condition(depth: number): Condition {
  if (depth === 0 || chance(0.3)) return pick(CONDITIONS)()
  if (chance(0.15)) {
    const [first, second, third] = [pick(CONDITIONS)(), pick(CONDITIONS)(), pick(CONDITIONS)()]
    return {
      text: `${first.text} or ${second.text} AND not ${third.text}`,
      holds: (...all) => first.holds(...all) || (second.holds(...all) && !third.holds(...all)),
    }
  }
  const left = condition(depth - 1)
  if (chance(0.2)) return negated(left)
  const right = condition(depth - 1)
  return pick<() => Condition>([
    () => ({
      text: `(${left.text}) ${cased('and')} (${right.text})`,
      parts: chance(0.5) ? [left.text, right.text] : [`(${left.text}) and (${right.text})`],
      holds: (...all) => left.holds(...all) && right.holds(...all),
    }),
    () => ({
      text: `(${left.text}) ${cased('or')} (${right.text})`,
      holds: (...all) => left.holds(...all) || right.holds(...all),
    }),
    () => ({
      text: `(${left.text}) and not (${right.text})`,
      holds: (...all) => left.holds(...all) && !right.holds(...all),
    }),
  ])()
}

/** The text of the first moment of a period on a clock. */
function periodStart(shown: string, unit: Unit, count: number): string {
  if (unit === 'hour')
    return `${shown.slice(0, 11)}${two(Math.floor(part('hour', shown) / count) * count)}:00:00`
  if (unit === 'year' || unit === 'month') return fill(shown.slice(0, LENGTHS[unit]))
  if (unit === 'quarter')
    return fill(`${shown.slice(0, 5)}${two(Math.floor((part('month', shown) - 1) / 3) * 3 + 1)}`)
  const monday = (new Date(`${shown}Z`).getUTCDay() + 6) % 7
  return fill(later(shown, 'day', unit === 'week' ? -monday : 0).slice(0, 10))
}
type Unit = 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'

function periodEnd(start: string, unit: Unit, count: number): string {
  if (unit === 'week') return later(start, 'day', 7)
  return unit === 'quarter' ? later(start, 'month', 3) : later(start, unit, count)
}

/** One end of a range of dates as its key says it; days of a field without clock are those of UTC. */
function edgeText(shown: string | null, timezone: string, version: Context['version']): string {
  if (shown === null) return '*'
  if (version === 'v2.0' && shown.endsWith('T00:00:00')) return shown.slice(0, 10)
  if (version === 'v2.1' && timezone === 'UTC') return `${shown}.000Z`
  return isoText(moment(shown, timezone) * 1000, timezone)
}
function stepText(
  low: string | null,
  high: string | null,
  timezone: string,
  version: Context['version'],
): string {
  const [from, to] = [edgeText(low, timezone, version), edgeText(high, timezone, version)]
  return version === 'v2.0' ? `${from}-${to}` : `[${from}, ${to}[`
}

function valueKey(term: Term): Key {
  const show = (value: Scalar, context: Context) => {
    if (value === null || context.version === 'v2.1') return present(value, term.type, context)
    if (term.type === 'datetime') return Math.floor(Number(value) / 1000)
    return term.type === 'date' ? Date.parse(String(value)) : present(value, term.type, context)
  }
  return { text: term.text, label: term.text, of: (...all) => [term.of(...all)], show }
}

/** Steps between edges; null is an open end. */
function stepsKey<Edge extends Scalar>(
  text: string,
  term: Term,
  edges: readonly Edge[],
  atMost: (edge: Edge, value: Scalar, context: Context) => boolean,
  show: (low: Edge, high: Edge, context: Context) => string,
): Key {
  const steps = edges.slice(1).map((_, index) => index)
  const pair = (step: number) => [edges[step] ?? null, edges[step + 1] ?? null] as readonly [Edge, Edge]
  return {
    text,
    label: text,
    steps,
    of: (record, context) => {
      const value = term.of(record, context)
      return steps.filter(step => {
        const [low, high] = pair(step)
        return (
          value !== null &&
          (low === null || atMost(low, value, context)) &&
          !(high !== null && atMost(high, value, context))
        )
      })
    },
    show: (step, context) => show(...pair(Number(step)), context),
  }
}

/** Edges of static ranges, with the text of the range in one of its spellings. */
function edgesOf<Edge>(
  field: string,
  inner: readonly Edge[],
  write: (edge: Edge) => string,
): readonly [string, readonly (Edge | null)[]] {
  const [open, close] = inner.length < 2 ? [true, true] : [chance(0.6), chance(0.6)]
  const edges = [...(open ? [null] : []), ...inner, ...(close ? [null] : [])]
  const listed = inner.map(write).join(', ')
  const starred = edges.map(edge => (edge === null ? '*' : write(edge))).join(', ')
  return [
    chance(0.5)
      ? `range(${field}, ${open ? ']' : '['}${listed}${close ? '[' : ']'})`
      : `range(${field}, ${starred})`,
    edges,
  ]
}
const rising = (count: number, low: number, high: number) =>
  [...new Set(times(count, () => between(low, high)))].sort((left, right) => left - right)

function numberStepText(
  low: number | null,
  high: number | null,
  whole: boolean,
  version: Context['version'],
): string {
  if (version === 'v2.0') return `${low ?? '*'}-${high ?? '*'}`
  if (whole) return `[${low ?? '*'}, ${high === null ? '*' : high - 1}]`
  const write = (edge: number | null) =>
    edge === null ? '*' : Number.isInteger(edge) ? edge.toFixed(1) : String(edge)
  return `[${write(low)}, ${write(high)}[`
}

const millisecond = (at: string) => Number(at.slice(20, -1).padEnd(3, '0').slice(0, 3))

/** One kind of group each. */
const KEYS: readonly (() => Key)[] = [
  () => valueKey(fieldTerm(pick(['n', 'm', 'word', 'word', 'flag', 'title', 'x', 'big']))),
  () => valueKey(dateTerm(pick(['on', 'at']))),
  () => {
    const field = pick<ManyField>(['tags', 'codes'])
    const of = (record: Source) =>
      textsOf(record, field).length > 0 ? [...new Set(textsOf(record, field))] : [null]
    return { text: field, label: field, of, show: value => value }
  },
  () => valueKey(partTerm(dateTerm('at'))),
  () => valueKey(partTerm(dateTerm(pick(['on', 'at'])))),
  () =>
    valueKey({
      ...dateTerm('at'),
      text: 'millisecond(at)',
      type: 'part',
      of: ({ at }) => at && millisecond(at),
    }),
  () => valueKey(formatTerm(PATTERNS, dateTerm(pick(['on', 'at'])))),
  () => valueKey(lowerTerm()),
  () =>
    valueKey(
      chance(0.5)
        ? ifNullTerm(fieldTerm('word'), textConstant('nothing'))
        : ifNullTerm(fieldTerm(pick(['n', 'm', 'x'])), constantTerm(between(-3, 9))),
    ),
  () => {
    const [field, width] = [pick(['n', 'm', 'x', 'k'] as const), pick([1, 5, 7, 10, 25, 100])]
    return {
      text: `range(${field}, ${width})`,
      label: `range(${field}, ${width})`,
      of: ({ [field]: value }) => [value && Math.floor(value / width) * width],
      show: (value, { version }) => {
        if (value === null) return null
        const high = Number(value) + width
        if (version === 'v2.0') return `${value}-${high}`
        return field === 'x' ? `[${value}, ${high}[` : `[${value}, ${high - 1}]`
      },
    }
  },
  () => {
    const field = pick(['n', 'm', 'x'] as const)
    const [text, edges] = edgesOf(field, rising(between(1, 4), -4, 30), String)
    return stepsKey(
      text,
      fieldTerm(field),
      edges,
      (edge, value) => compare('<=', edge, value),
      (low, high, { version }) => numberStepText(low, high, field !== 'x', version),
    )
  },
  () => {
    const [field, step, low, count] = [
      pick(['n', 'm', 'x'] as const),
      between(2, 9),
      between(-4, 10),
      between(1, 5),
    ]
    const edges = [null, ...times(count + 1, index => low + index * step), null]
    const text = `range(${field}, EQUI(${step}, ${low}, ${low + step * count}))`
    return stepsKey(
      text,
      fieldTerm(field),
      edges,
      (edge, value) => compare('<=', edge, value),
      (from, to, { version }) => numberStepText(from, to, field !== 'x', version),
    )
  },
  () => {
    const field = pick<DateField>(['on', 'at'])
    const days = rising(between(1, 4), 0, 1460).map(
      day => `${later('2018-12-25T00:00:00', 'day', day).slice(0, 10)}`,
    )
    const [text, edges] = edgesOf(field, days, day => `date'${day}'`)
    const clockText = (day: string | null) => day && `${day}T00:00:00`
    const reached = (edge: string | null, value: Scalar, { timezone }: Context) =>
      compare('<=', edge && (field === 'on' ? edge : moment(`${edge}T00:00:00`, timezone) * 1000), value)
    return stepsKey(text, dateTerm(field), edges, reached, (low, high, { version, timezone }) =>
      stepText(clockText(low), clockText(high), field === 'on' ? 'UTC' : timezone, version),
    )
  },
  () => timeRangeKey(),
  () => timeRangeKey(),
]

/** Steps of one length on the clocks of a zone. */
function timeRangeKey(): Key {
  const field = pick<DateField>(['at', 'at', 'on'])
  const [unit, count, letter] = pick<readonly [Unit, number, string]>([
    ['year', 1, 'y'],
    ['quarter', 1, 'q'],
    ['month', 1, 'M'],
    ['week', 1, 'w'],
    ['day', 1, 'd'],
    ...(field === 'at'
      ? ([
          ['hour', 6, 'h'],
          ['hour', 12, 'h'],
        ] as const)
      : []),
  ])
  const text = `range(${field}, ${count} ${pick([unit, letter, count > 1 ? `${unit}s` : unit])})`
  const date = dateTerm(field)
  return {
    text,
    label: text,
    of: (record, context) => {
      const shown = clockOf(date.of(record, context), context.timezone)
      return [shown && periodStart(shown, unit, count)]
    },
    show: (start, { timezone, version }) => {
      if (typeof start !== 'string') return null
      const zone = field === 'on' ? 'UTC' : timezone
      if (version === 'v2.0')
        return unit === 'hour' ? isoText(moment(start, zone) * 1000, zone) : edgeText(start, zone, version)
      const end = periodEnd(start, unit, count)
      return stepText(start, end, zone, version)
    },
  }
}

type Counted = 'n' | 'word' | 'x' | 'on' | 'at' | 'flag' | 'place' | 'shape' | ManyField
const COUNTED: readonly Counted[] = ['n', 'word', 'x', 'on', 'at', 'flag', 'tags', 'codes', 'tags', 'codes']
/** The values of a field for counting: the elements of one with many. */
const valuesOf = (record: Source, field: Counted) => [record[field]].flat().filter(value => value !== null)

/** One kind of figure each; a steady one comes out the same in whatever order its values are added. */
function makeFigure(steady: boolean): Figure {
  const numbers = () => fieldTerm(pick(steady ? ['n', 'm', 'k'] : NUMBERS))
  return pick<() => Figure>([
    () => ({ text: 'count(*)', type: 'number', over: found => found.length }),
    () => {
      const field = pick<Counted>([...COUNTED, 'place', 'shape'])
      const over = (found: readonly Source[]) =>
        found.filter(record => valuesOf(record, field).length > 0).length
      return { text: `count(${field})`, type: 'number', over }
    },
    () => {
      const field = pick(COUNTED)
      const over = (found: readonly Source[]) =>
        new Set(found.flatMap(record => valuesOf(record, field))).size
      return { text: `count(distinct ${field})`, type: 'number', over }
    },
    () => figure(pick(['sum', 'avg', 'min', 'max', 'median']), numbers()),
    () => figure(pick(['sum', 'avg', 'min', 'max', 'median']), steady ? numbers() : numberTerm(1)),
    () => figure(steady ? 'max' : 'percentile', numbers(), pick([0, 5, 12.5, 50, 95, 100])),
    () => figure(pick(['min', 'max']), dateTerm(pick(['on', 'at']))),
    () => {
      const [left, right] = [figure('sum', numbers()), makeFigure(true)]
      if (steady || right.type !== 'number' || /[-+*/]/.test(right.text.replace('(*)', ''))) return left
      const operator = pick(['+', '*', '/'])
      const over: Figure['over'] = (...all) => arithmetic(operator, left.over(...all), right.over(...all))
      return { text: `${left.text} ${operator} ${right.text}`, type: 'number', over }
    },
  ])()
}

/** A question: the clauses of its query and what they mean. */
export interface Asked {
  readonly kind: 'records' | 'groups' | 'figures'
  readonly clauses: Readonly<Record<string, string | readonly string[]>>
  readonly answer: (context: Context) => readonly Row[]
}

/** Blanks after commas or none, where no text in quotes stands. */
const loosely = (text: string) => (chance(0.3) && !/['"]/.test(text) ? text.replaceAll(', ', ',') : text)
/** One item of an order_by clause; a name with a minus before it is descending too. */
function ordered(text: string, descending: boolean): string {
  if (descending && chance(0.2) && /^\w+$/.test(text)) return `-${text}`
  return `${text}${descending ? ` ${cased('desc')}` : pick(['', ' asc', ' ASC'])}`
}

type Cell = RowCell & { readonly text: string; readonly label?: string; readonly term?: Term }
interface RowCell {
  readonly show: (record: Source, context: Context) => Row
}

/** A field of a record as JSON. */
function shownField(name: keyof Source, record: Source, context: Context): unknown {
  const { at, place, shape } = record
  if (name === 'at') return present(micros(at), 'datetime', context)
  if (name === 'place') return place && { lon: place.lon, lat: place.lat }
  if (name === 'shape') return shape && { type: 'Feature', geometry: shape, properties: {} }
  if (name === 'tags' || name === 'codes') return record[name]?.length === 0 ? null : record[name]
  return record[name]
}
function narrowed(text: string, keep: (name: string) => boolean): Cell {
  const names = FIELDS.filter(keep)
  const show: Cell['show'] = (record, context) =>
    Object.fromEntries(names.map(name => [name, shownField(name, record, context)]))
  return { text, show }
}

/** The columns of a list of records. */
function makeCells(): readonly Cell[] {
  if (chance(0.5)) return [narrowed('k', name => name === 'k')]
  const computed = times(between(0, 2), (index): Cell => {
    const term = pick([
      () => numberTerm(2),
      () => numberTerm(1),
      () => textTerm(),
      () => partTerm(),
      () => formatTerm(),
      () => constantTerm(),
      distanceTerm,
    ])()
    const label = chance(0.6) ? `v${index}` : undefined
    const spelled = loosely(term.text)
    const show: Cell['show'] = (record, context) => ({
      [label ?? spelled]: present(term.of(record, context), term.type, context),
    })
    return {
      text: `${spelled}${label === undefined ? '' : ` ${cased('as')} ${label}`}`,
      show,
      term,
      ...(label && { label }),
    }
  })
  const some = pick<() => readonly Cell[]>([
    () => [narrowed('*', () => true)],
    () => [narrowed('include(t*, n)', name => name.startsWith('t') || name === 'n')],
    () => [
      narrowed('exclude(t*, at, shape)', name => !name.startsWith('t') && name !== 'at' && name !== 'shape'),
    ],
    () =>
      [...new Set(times(between(1, 4), () => pick(FIELDS)))].map(field =>
        narrowed(field, name => name === field),
      ),
  ])()
  return [...some, ...computed]
}

function askRecords(where: Condition | null): Asked {
  const cells = makeCells()
  const labelled = cells.flatMap(({ label, term }) => (label && term ? [{ ...term, text: label }] : []))
  const sortable = (): Term =>
    pick<() => Term>([
      () => fieldTerm(pick(['title', 'word', 'flag', ...NUMBERS])),
      () => dateTerm(pick(['on', 'at'])),
      () => pick([() => numberTerm(1), () => textTerm(), () => partTerm(), distanceTerm])(),
      ...labelled.map(term => () => term),
    ])()
  const orderBy = chance(0.5)
    ? []
    : times(between(1, 2), (): Ordering<Term> => ({ by: sortable(), descending: chance(0.5) }))
  return {
    kind: 'records',
    clauses: {
      where: where?.parts ?? where?.text ?? '',
      select: cells.map(({ text }) => text).join(pick([',', ', '])),
      order_by: orderBy.map(({ by, descending }) => ordered(by.text, descending)).join(', '),
    },
    answer: context => answerRows({ where, cells: cells.map(({ show }) => show), orderBy }, records, context),
  }
}

function askGroups(where: Condition | null, keyCount: number): Asked {
  const made = times(keyCount, index => {
    const key = pick(KEYS)()
    const text = loosely(key.text)
    const standard = key.label === key.text ? text : key.label
    return { ...key, text, label: chance(0.3) ? `g${index}` : standard }
  })
  const keys = made.filter(({ text }, index) => made.findIndex(other => other.text === text) === index)
  const chosen = times(keyCount === 0 ? between(1, 4) : between(0, 3), () => makeFigure(false))
  const steady = makeFigure(true)
  const figures = [steady, ...chosen].map(
    (each, index) => [chance(0.5) ? `f${index}` : loosely(each.text), each] as const,
  )
  const shown = [...new Map(chance(0.15) && keyCount > 0 ? [] : figures)]
  const ordering = chance(0.5) || keyCount === 0 ? [] : [{ by: steady, descending: chance(0.5) }]
  const byKey = chance(0.3) ? keys.slice(0, 1).map(() => ({ by: 0, descending: chance(0.5) })) : []
  const named = (by: Figure | number) => {
    if (typeof by === 'number') return keys[by]?.label ?? ''
    const label = shown.find(([, each]) => each === by)?.[0]
    return label !== undefined && chance(0.5) ? label : by.text
  }
  const orderBy: readonly Ordering<Figure | number>[] = [...ordering, ...byKey]
  return {
    kind: keyCount === 0 ? 'figures' : 'groups',
    clauses: {
      where: where?.parts ?? where?.text ?? '',
      group_by: keys.map(({ text, label }) => text + (label === text ? '' : ` as ${label}`)).join(', '),
      select: [
        ...keys.filter(() => shown.length > 0 && chance(0.2)).map(({ label }) => loosely(label)),
        ...shown.map(([label, { text }]) => (/^f\d$/.test(label) ? `${loosely(text)} AS ${label}` : label)),
      ].join(', '),
      order_by: orderBy.map(({ by, descending }) => ordered(named(by), descending)).join(', '),
    },
    answer: context => answerGroups({ where, keys, figures: shown, orderBy }, records, context),
  }
}

/** The next question: three of five about records, the others about groups and figures. */
export function ask(): Asked {
  const depth = between(0, 3)
  const where = chance(0.15) ? null : condition(chance(0.6) ? 1 : depth)
  return chance(0.6) ? askRecords(where) : askGroups(where, pick([0, 1, 1, 1, 2, 2, 3]))
}
