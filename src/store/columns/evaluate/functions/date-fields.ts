import { memoised } from '../../../../model/memoised.ts'
import { civilOf, daysOf } from '../../../../model/time.ts'
import { XSD } from '../../../../rdf/vocab.ts'
import type { AlgebraExpression } from '../../../../sparql/algebra.ts'
import { momentOfLexical } from '../../lexical.ts'
import { type ColumnDomain, onlyPartOf } from '../vectors/domain.ts'

const SECONDS_A_DAY = 86_400

/** Caches a value that is constant within a day, for consecutive moments of the same day. */
export function byDay(read: (day: number) => number): (seconds: number) => number {
  let [day, value] = [Number.NaN, 0]
  return seconds => {
    const own = Math.floor(seconds / SECONDS_A_DAY)
    if (own !== day) {
      day = own
      value = read(day)
    }
    return value
  }
}

/** Caches a value that is constant within a month, computed from its first day, for consecutive moments of the same month. */
export function byMonth(read: (firstDay: number) => number): (seconds: number) => number {
  let [begin, end, value] = [Number.NaN, Number.NaN, 0]
  return seconds => {
    if (!(seconds >= begin && seconds < end)) {
      const today = Math.floor(seconds / SECONDS_A_DAY)
      const { year, month, day } = civilOf(today)
      const first = today - day + 1
      begin = SECONDS_A_DAY * first
      end = begin + SECONDS_A_DAY * daysOf(year, month)
      value = read(first)
    }
    return value
  }
}

/** The remainder of a number of seconds after subtracting all whole units. */
const restOf = (seconds: number, unit: number) => seconds - unit * Math.floor(seconds / unit)

interface FieldKind {
  /** Reads the field from local time in seconds since 1970-01-01T00:00:00. */
  readonly read: (seconds: number) => number
  /** True for a field that is constant within a day. */
  readonly isOfDay: boolean
}

/** Functions of SPARQL that read an integer of a date or a time (SPARQL 1.1 Query, section 17.4.5). */
const FIELDS: ReadonlyMap<string, FieldKind> = new Map<string, FieldKind>([
  ['YEAR', { read: byMonth(day => civilOf(day).year), isOfDay: true }],
  ['MONTH', { read: byMonth(day => civilOf(day).month), isOfDay: true }],
  ['DAY', { read: byDay(day => civilOf(day).day), isOfDay: true }],
  ['HOURS', { read: seconds => Math.floor(restOf(seconds, SECONDS_A_DAY) / 3600), isOfDay: false }],
  ['MINUTES', { read: seconds => Math.floor(restOf(seconds, 3600) / 60), isOfDay: false }],
])

/** A field of the date or time of a variable. */
export interface DateField extends FieldKind {
  readonly name: string
  readonly variable: string
}

/** Parses an expression as a field of a variable's date or time; null for any other. */
export function dateField(expression: AlgebraExpression): DateField | null {
  const kind = expression.type === 'builtin' ? FIELDS.get(expression.name) : undefined
  if (expression.type !== 'builtin' || kind === undefined) return null
  const [operand, ...others] = expression.arguments
  if (operand?.type !== 'variable' || others.length > 0) return null
  return { ...kind, name: expression.name, variable: operand.name }
}

/** A field of the moments of a column, which are local seconds. */
export interface DateFieldReader {
  readonly first: number
  readonly moments: Float64Array
  readonly read: (seconds: number) => number
}

/** Creates a reader of a field of the moments of a column; null where these are of several datatypes, or have no such field. */
export function dateFieldReader({ read, isOfDay }: FieldKind, domain: ColumnDomain): DateFieldReader | null {
  const part = onlyPartOf(domain)
  if (part?.kind !== 'moment' || part.types !== null) return null
  if (part.datatypes[0] === XSD.date && !isOfDay) return null
  const moments = localMoments(domain)
  return moments === null ? null : { first: part.first, moments, read }
}

const LOCAL = new WeakMap<ColumnDomain, Float64Array | null>()

/** The local time of the moments of a column, in seconds, without fractions where it is read from forms. Moments without separate forms are dates, or in UTC. */
function localMoments(domain: ColumnDomain): Float64Array | null {
  const part = onlyPartOf(domain)
  if (part?.kind !== 'moment') return null
  if (part.forms === null) return part.values
  return memoised(LOCAL, domain, () => {
    const local = new Float64Array(part.count)
    const isDate = part.datatypes[0] === XSD.date
    for (let place = 0; place < part.count; place++) {
      const moment = momentOfLexical(domain.dictionary.form(part.first + place), isDate)
      if (moment === null) return null
      local[place] = Math.floor(moment.seconds) + 60 * (moment.offset ?? 0)
    }
    return local
  })
}
