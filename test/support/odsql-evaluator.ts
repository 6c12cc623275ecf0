/**
 * What ODSQL means, spelled out over plain records: no index, no plan, no store. The differential test asks the same
 * question here and of the API. Moments are whole microseconds since 1970, days are `YYYY-MM-DD`, null is no value.
 */

export type Scalar = string | number | boolean | null
/** Types of values; a part is a number that v2.0 shows as text: `year(at)`. */
export type Type = 'text' | 'number' | 'part' | 'boolean' | 'date' | 'datetime'
export type Position = readonly [lon: number, lat: number]
export type Row = Readonly<Record<string, unknown>>

/** A record as it stands in the source. */
export interface Source {
  readonly k: number
  readonly title: string | null
  readonly word: string | null
  readonly n: number | null
  readonly m: number | null
  readonly big: number | null
  readonly x: number | null
  readonly flag: boolean | null
  readonly on: string | null
  readonly at: string | null
  readonly tags: readonly string[] | null
  readonly codes: readonly string[] | null
  readonly place: { readonly lat: number; readonly lon: number } | null
  readonly shape: { readonly type: 'Polygon'; readonly coordinates: readonly (readonly Position[])[] } | null
}

/** How a question is asked. */
export interface Context {
  readonly version: 'v2.0' | 'v2.1'
  readonly timezone: string
  readonly lang: string
}

/** A value of a record. */
export interface Term {
  readonly text: string
  readonly type: Type
  readonly of: (record: Source, context: Context) => Scalar
}

/** A figure of many records. */
export interface Figure {
  readonly text: string
  readonly type: Type
  readonly over: (records: readonly Source[], context: Context) => Scalar
}

export interface Condition {
  readonly text: string
  /** Texts of which the condition is the conjunction, where they can be asked one by one. */
  readonly parts?: readonly string[]
  readonly holds: (record: Source, context: Context) => boolean
}

/** Something that groups: a record has any number of values of it, and `steps` are groups even without records. */
export interface Key {
  readonly text: string
  readonly label: string
  readonly of: (record: Source, context: Context) => readonly Scalar[]
  readonly show: (value: Scalar, context: Context) => unknown
  readonly steps?: readonly Scalar[]
}

export interface Ordering<Value> {
  readonly by: Value
  readonly descending: boolean
}

/** A list of records. */
export interface RowQuestion {
  readonly where: Condition | null
  readonly cells: readonly ((record: Source, context: Context) => Row)[]
  readonly orderBy: readonly Ordering<Term>[]
}

/** A list of groups; without keys, the one group of all records. */
export interface GroupQuestion {
  readonly where: Condition | null
  readonly keys: readonly Key[]
  readonly figures: readonly (readonly [label: string, figure: Figure])[]
  readonly orderBy: readonly Ordering<Figure | number>[]
}

/** Order of values: nothing first, numbers by size, texts by code point. */
export function order(left: Scalar, right: Scalar): number {
  if (left === right) return 0
  if (left === null) return -1
  if (right === null) return 1
  if (typeof left === 'string') return Buffer.compare(Buffer.from(left), Buffer.from(String(right)))
  return left < right ? -1 : left > right ? 1 : 0
}

const HOLDS: Readonly<Record<string, (order: number) => boolean>> = {
  '=': order => order === 0,
  ':': order => order === 0,
  '!=': order => order !== 0,
  '<': order => order < 0,
  '<=': order => order <= 0,
  '>': order => order > 0,
  '>=': order => order >= 0,
}
export const OPERATORS = Object.keys(HOLDS)

/** A comparison; with a missing value it does not hold. */
export function compare(operator: string, left: Scalar, right: Scalar): boolean {
  return left !== null && right !== null && HOLDS[operator]?.(order(left, right)) === true
}

export function arithmetic(operator: string, left: Scalar, right: Scalar): number | null {
  if (typeof left !== 'number' || typeof right !== 'number') return null
  if (operator === '+') return left + right
  if (operator === '-') return left - right
  if (operator === '*') return left * right
  return right === 0 ? null : left / right
}

const TYPED: readonly (readonly [letters: string, typed: string])[] = [
  ['ς', 'σ'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ß', 'ss'],
  ['þ', 'th'],
  ['ðđ', 'd'],
  ['ħ', 'h'],
  ['ı', 'i'],
  ['ł', 'l'],
  ['ŋ', 'n'],
  ['ø', 'o'],
  ['ŧ', 't'],
  ['ƒ', 'f'],
]

/** Words of a text as full-text search compares them. */
export function tokens(text: string): readonly string[] {
  const lower = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const plain = TYPED.reduce(
    (folded, [letters, typed]) =>
      [...letters].reduce((each, letter) => each.replaceAll(letter, typed), folded),
    lower,
  )
  return plain.match(/[\p{L}\p{N}]+/gu) ?? []
}

/** All words of what is asked are among the words; a star at the end of one asks for its beginning only. */
export function containsWords(words: readonly string[], requested: string, everyPrefix = false): boolean {
  return requested.split(/\s+/).every(chunk => {
    const found = tokens(chunk)
    return found.every((word, index) =>
      // Scripts without blanks are found by any characters that follow one another.
      /\p{Script=Han}/u.test(word)
        ? words.some(each => each.includes(word))
        : everyPrefix || (chunk.endsWith('*') && index === found.length - 1)
          ? words.some(each => each.startsWith(word))
          : words.includes(word),
    )
  })
}

/** Words of every field that full-text search reads. */
export function wordsOf(record: Source): readonly string[] {
  const { k, title, word, n, m, big, x, on, at, tags, codes } = record
  return [k, title, word, n, m, big, x, on, at, ...(tags ?? []), ...(codes ?? [])].flatMap(value =>
    value === null ? [] : tokens(searched(value)),
  )
}

/** The text by which a value is searched: a moment has the words of its day and of its time as well. */
export function searched(value: unknown): string {
  return String(value).replace(/^(\d{4}-\d\d-\d\d)T([\d:.]+)Z$/, '$& $1 $2')
}

/** Linear interpolation between the closest ranks. */
export function percentile(values: readonly number[], percent: number): number | null {
  const sorted = [...values].sort((left, right) => left - right)
  const rank = (percent / 100) * (sorted.length - 1)
  const [low, high] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]]
  return low === undefined || high === undefined ? null : low + (high - low) * (rank - Math.floor(rank))
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** A figure over the values of a term: sum, avg, min, max, median or percentile. */
export function figure(name: string, term: Term, percent = 50): Figure {
  const kept = name === 'min' || name === 'max' ? (term.type === 'part' ? 'number' : term.type) : 'number'
  const more = name === 'percentile' ? `, ${percent}` : ''
  const over = (records: readonly Source[], context: Context): Scalar => {
    const values = records.map(record => term.of(record, context)).filter(value => value !== null)
    if (values.length === 0) return null
    if (name === 'min') return values.reduce((least, value) => (order(value, least) < 0 ? value : least))
    if (name === 'max') return values.reduce((max, value) => (order(value, max) > 0 ? value : max))
    const numbers = values.map(Number)
    if (name === 'sum') return sum(numbers)
    return name === 'avg' ? sum(numbers) / numbers.length : percentile(numbers, percent)
  }
  return { text: `${name}(${term.text}${more})`, type: kept, over }
}

/** Metres between two positions on a sphere. */
export function metres([fromLon, fromLat]: Position, [toLon, toLat]: Position): number {
  const radians = Math.PI / 180
  const height = Math.sin(((toLat - fromLat) * radians) / 2) ** 2
  const width = Math.sin(((toLon - fromLon) * radians) / 2) ** 2
  const chord = height + Math.cos(fromLat * radians) * Math.cos(toLat * radians) * width
  return 2 * 6_371_008.8 * Math.asin(Math.min(1, Math.sqrt(chord)))
}

const edges = (ring: readonly Position[]) =>
  ring.slice(1).map((end, index) => [ring[index] ?? end, end] as const)

/** The position lies inside the ring, in the plane of longitude and latitude. */
export function inside([lon, lat]: Position, ring: readonly Position[]): boolean {
  const crossed = edges(ring).filter(
    ([[x1, y1], [x2, y2]]) => y1 > lat !== y2 > lat && lon < x1 + ((lat - y1) * (x2 - x1)) / (y2 - y1),
  )
  return crossed.length % 2 === 1
}

const turn = ([ax, ay]: Position, [bx, by]: Position, [cx, cy]: Position) =>
  Math.sign((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))

function edgesCross(left: readonly Position[], right: readonly Position[]): boolean {
  return edges(left).some(([a, b]) =>
    edges(right).some(([c, d]) => turn(a, b, c) !== turn(a, b, d) && turn(c, d, a) !== turn(c, d, b)),
  )
}

/** Relation of two rings that share no stretch of their edges. */
export function relate(
  shape: readonly Position[],
  polygon: readonly Position[],
): 'within' | 'crossing' | 'disjoint' {
  if (edgesCross(shape, polygon)) return 'crossing'
  const [first, corner] = [shape[0], polygon[0]]
  if (first !== undefined && inside(first, polygon)) return 'within'
  return corner !== undefined && inside(corner, shape) ? 'crossing' : 'disjoint'
}

/** The records that a list of records gives, in its order: nothing last in either direction, then as in the source. */
export function answerRows(
  requested: RowQuestion,
  records: readonly Source[],
  context: Context,
): readonly Row[] {
  const found = records.filter(record => requested.where?.holds(record, context) ?? true)
  const sorted = found
    .map(record => ({ record, keys: requested.orderBy.map(({ by }) => by.of(record, context)) }))
    .sort((left, right) => {
      for (const [index, { descending }] of requested.orderBy.entries()) {
        const [one, other] = [left.keys[index] ?? null, right.keys[index] ?? null]
        const before = order(one, other)
        if (before !== 0) return one === null || other === null ? -before : descending ? -before : before
      }
      return left.record.k - right.record.k
    })
  return sorted.map(({ record }) => Object.assign({}, ...requested.cells.map(cell => cell(record, context))))
}

interface Group {
  readonly values: readonly Scalar[]
  readonly records: Source[]
}

/** The groups of a question, in its order; under group_by nothing is lowest. */
export function answerGroups(
  requested: GroupQuestion,
  records: readonly Source[],
  context: Context,
): readonly Row[] {
  const { keys, figures } = requested
  const groups = new Map<string, Group>()
  const group = (values: readonly Scalar[]) => {
    const name = JSON.stringify(values)
    const known = groups.get(name) ?? { values, records: [] }
    groups.set(name, known)
    return known
  }
  if (keys.length === 0) group([])
  if (keys.length === 1) for (const step of keys[0]?.steps ?? []) group([step])
  for (const record of records) {
    if (requested.where?.holds(record, context) === false) continue
    const combined = keys.reduce<readonly (readonly Scalar[])[]>(
      (rows, key) => rows.flatMap(row => key.of(record, context).map(value => [...row, value])),
      [[]],
    )
    for (const values of combined)
      if (context.version === 'v2.1' || !values.includes(null)) group(values).records.push(record)
  }
  const rank = requested.orderBy.map(
    ({ by }) =>
      (each: Group) =>
        typeof by === 'number' ? (each.values[by] ?? null) : by.over(each.records, context),
  )
  const sorted = [...groups.values()]
    .map(each => ({ ...each, ranks: [...rank.map(of => of(each)), ...each.values] }))
    .sort((left, right) => {
      for (const [index, one] of left.ranks.entries()) {
        const before = order(one, right.ranks[index] ?? null)
        if (before !== 0) return requested.orderBy[index]?.descending === true ? -before : before
      }
      return 0
    })
  return sorted.map(({ values, records }) =>
    Object.fromEntries([
      ...keys.map((key, index) => [key.label, key.show(values[index] ?? null, context)] as const),
      ...figures.map(
        ([label, { type, over }]) => [label, present(over(records, context), type, context)] as const,
      ),
    ]),
  )
}

const FORMATS = new Map<string, Intl.DateTimeFormat>()
const CLOCKS = new Map<string, string>()
const DAY = 86_400_000

/** What clocks of a zone show at a moment of a zone, in milliseconds: `2020-03-29T03:00:00`. */
export function clock(epoch: number, timezone: string): string {
  const seconds = Math.floor(epoch / 1000)
  const name = `${timezone} ${seconds}`
  const known = CLOCKS.get(name)
  if (known !== undefined) return known
  const options = { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' } as const
  const format = FORMATS.get(timezone) ?? new Intl.DateTimeFormat('sv-SE', options)
  FORMATS.set(timezone, format)
  const shown = format.format(seconds * 1000).replace(' ', 'T')
  CLOCKS.set(name, shown)
  return shown
}

const wall = (shown: string) => Date.parse(`${shown}Z`)
const offset = (epoch: number, timezone: string) =>
  wall(clock(epoch, timezone)) - Math.floor(epoch / 1000) * 1000

/** The first moment, in milliseconds, at which clocks of a zone show a time. */
export function moment(shown: string, timezone: string): number {
  const [before, after] = [-DAY, DAY].map(day => wall(shown) - offset(wall(shown) + day, timezone))
  const [first = 0, second = 0] = [before, after]
  return clock(first, timezone) === shown || clock(second, timezone) !== shown ? first : second
}

/** Microseconds of a moment as the source writes it; null for none. */
export function micros(text: string | null): number | null {
  if (text === null) return null
  return Date.parse(`${text.slice(0, 19)}Z`) * 1000 + Number(text.slice(20, -1).padEnd(6, '0'))
}

/** What a clock shows for a value: of a day, its midnight in any zone. */
export function clockOf(value: Scalar, timezone: string): string | null {
  if (typeof value === 'number') return clock(value / 1000, timezone)
  return value === null ? null : `${value}T00:00:00`
}

/** A moment as ISO 8601 with the offset of the zone. */
export function isoText(value: number, timezone: string): string {
  const minutes = offset(value / 1000, timezone) / 60_000
  const fraction = String(value % 1_000_000)
    .padStart(6, '0')
    .replace(/0+$/, '')
  const parts = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const shift = parts.map(part => String(part).padStart(2, '0')).join(':')
  return `${clock(value / 1000, timezone)}${fraction && `.${fraction}`}${minutes < 0 ? '-' : '+'}${shift}`
}

/** A value as JSON. */
export function present(value: Scalar, type: Type, { timezone, version }: Context): unknown {
  if (type === 'datetime' && typeof value === 'number') return isoText(value, timezone)
  if (type === 'part' && value !== null && version === 'v2.0') return String(value)
  return value
}

const PARTS = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
export type Part = (typeof PARTS)[number]

/** One part of what a clock shows. */
export function part(name: Part, shown: string): number {
  return Number(shown.split(/[-T:]/)[PARTS.indexOf(name)])
}

/** Days since the first of January, from 1, of a shown day. */
const dayOfYear = (shown: string) =>
  (wall(`${shown.slice(0, 10)}T00:00:00`) - Date.UTC(part('year', shown), 0, 1)) / DAY + 1

/** Year and number of the ISO week of a shown day: those of its Thursday. */
function isoWeek(shown: string): readonly [year: number, week: number] {
  const thursday = new Date(wall(shown) + (4 - weekday(shown)) * DAY).toISOString().slice(0, 19)
  return [part('year', thursday), Math.ceil(dayOfYear(thursday) / 7)]
}

/** 1 for Monday to 7 for Sunday. */
const weekday = (shown: string) => new Date(wall(shown)).getUTCDay() || 7

const twelve = (hour: number) => hour % 12 || 12
const NUMBERS: Readonly<Record<string, (shown: string) => number>> = {
  y: shown => part('year', shown),
  Y: shown => part('year', shown),
  x: shown => isoWeek(shown)[0],
  w: shown => isoWeek(shown)[1],
  e: weekday,
  D: dayOfYear,
  C: shown => Math.floor(part('year', shown) / 100),
  M: shown => part('month', shown),
  d: shown => part('day', shown),
  H: shown => part('hour', shown),
  k: shown => part('hour', shown) || 24,
  K: shown => part('hour', shown) % 12,
  h: shown => twelve(part('hour', shown)),
  m: shown => part('minute', shown),
  s: shown => part('second', shown),
}

/** Name of the month or day of the week in a language. */
function nameOf(part: 'month' | 'weekday', style: 'long' | 'short', lang: string, shown: string): string {
  const name = `${lang} ${part} ${style}`
  const format = FORMATS.get(name) ?? new Intl.DateTimeFormat(lang, { [part]: style, timeZone: 'UTC' })
  FORMATS.set(name, format)
  return format.format(wall(shown))
}

/** What a clock shows, written by a pattern of letters. */
export function formatted(shown: string, pattern: string, lang: string): string {
  const symbols = /'((?:[^']|'')*)'|([A-Za-z])\2*/g
  return pattern.replace(symbols, (found, quoted: string | undefined, letter: string) => {
    if (quoted !== undefined) return quoted === '' ? "'" : quoted.replaceAll("''", "'")
    const style = found.length >= 4 ? 'long' : 'short'
    if (letter === 'E') return nameOf('weekday', style, lang, shown)
    if (letter === 'M' && found.length > 2) return nameOf('month', style, lang, shown)
    const value = NUMBERS[letter]?.(shown) ?? 0
    const short = 'yYx'.includes(letter) && found.length === 2
    return String(short ? value % 100 : value).padStart(found.length, '0')
  })
}
