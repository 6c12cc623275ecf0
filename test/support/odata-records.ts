/** Random records with all types of OData, and the dice that the generators of the tests share. */
import type { FieldType, Point, Source } from './odata-values.ts'

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
export const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index))
export const two = (value: number) => String(value).padStart(2, '0')
export const decimal = (low: number, high: number) => between(low * 100, high * 100) / 100

/** Texts with letters of many alphabets, quotes, blanks around and numbers. */
export const WORDS =
  'Zoë|zoe|Élan|élan|naïve|O\'Brien|"quoted"|back\\slash|tab\there|line\nbreak|ÅNGSTRÖM|straße|STRASSE|ﬁne|fine|São Paulo|sao-paulo|日本|123|12.5|-7|a|b|Ελλάς|x,y|–dash|😀 smile| padded |\u00a0hard\u2003|100%|a+b|c&d|2020-02-29'.split(
    '|',
  )
export const CODES = ['a1', 'b2', 'C3', 'zz', 'no', 'or', 'k9']

/** The fields of a record, as the evaluator types them. */
export const TYPES = {
  k: 'int',
  title: 'text',
  word: 'text',
  n: 'int',
  m: 'int',
  big: 'int',
  x: 'double',
  y: 'double',
  flag: 'boolean',
  on: 'date',
  at: 'datetime',
  seen: 'datetime',
  tags: 'texts',
  codes: 'texts',
  place: 'point',
} as const satisfies Record<string, FieldType>
export type FieldName = keyof typeof TYPES

const orNull = <Value>(value: Value): Value | null => (chance(0.2) ? null : value)

function makeMoment(): string {
  const tail = `${pick(['00', '30', '45'])}:${pick(['00', '07', '59'])}${pick(['', '', '.5', '.123456'])}Z`
  return `${between(2019, 2022)}-${two(between(1, 12))}-${two(between(1, 28))}T${two(between(0, 23))}:${tail}`
}
const makeDouble = () => pick([0, -0.5, 1.5, -2.5, 1e6, 0.1 + 0.2, between(-100, 100) / 8, between(0, 9)])
const makePoint = (): Point => ({ lat: decimal(38, 62), lon: decimal(-12, 25) })

function makeRecord(k: number): Source {
  const at = orNull(makeMoment())
  return {
    k,
    title: orNull(times(between(1, 4), () => pick(WORDS)).join(pick([' ', ' ', '-', '/']))),
    word: orNull(pick(WORDS)),
    n: orNull(between(-5, 20)),
    m: orNull(between(-3, 60)),
    big: orNull(between(-1e12, 1e12)),
    x: orNull(makeDouble()),
    y: orNull(makeDouble()),
    flag: orNull(chance(0.5)),
    on: orNull(`${between(1995, 2025)}-${two(between(1, 12))}-${two(between(1, 28))}`),
    at,
    seen: chance(0.1) ? at : orNull(makeMoment()),
    tags: orNull([...new Set(times(between(0, 3), () => pick(WORDS)))]),
    codes: orNull([...new Set(times(between(0, 4), () => pick(CODES)))]),
    place: orNull(makePoint()),
  }
}

/** Makes so many records. */
export const makeRecords = (count: number): readonly Source[] => times(count, makeRecord)
