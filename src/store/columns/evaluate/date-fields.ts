import { civilOf } from '../../../model/calendar.ts'
import { XSD } from '../../../rdf/vocab.ts'
import type { AlgebraExpression } from '../../../sparql/algebra.ts'
import { momentOfLexical } from '../lexical.ts'
import { type ColumnDomain, onlyPartOf } from './domain.ts'

/** What YEAR, MONTH, DAY, HOURS and MINUTES read of the seconds that a local clock shows since 1970-01-01T00:00:00. */
const DAYS = {
  YEAR: (seconds: number) => civilOf(Math.floor(seconds / 86_400)).year,
  MONTH: (seconds: number) => civilOf(Math.floor(seconds / 86_400)).month,
  DAY: (seconds: number) => civilOf(Math.floor(seconds / 86_400)).day,
} as const
const CLOCKS = {
  HOURS: (seconds: number) => Math.floor((seconds - 86_400 * Math.floor(seconds / 86_400)) / 3600),
  MINUTES: (seconds: number) => Math.floor((seconds - 3600 * Math.floor(seconds / 3600)) / 60),
} as const

type FieldName = keyof typeof DAYS | keyof typeof CLOCKS

/** A field of the date or the time of a variable. */
export interface DateField {
  readonly name: FieldName
  readonly variable: string
}

/** Reads an expression as a field of a variable's date or time; null for any other. */
export function dateField(expression: AlgebraExpression): DateField | null {
  if (expression.type !== 'builtin' || !isField(expression.name)) return null
  const [operand, ...others] = expression.arguments
  if (operand?.type !== 'variable' || others.length > 0) return null
  return { name: expression.name, variable: operand.name }
}

function isField(name: string): name is FieldName {
  return name in DAYS || name in CLOCKS
}

/** A field of the moments of a column, which are given in local seconds. */
export interface DateFieldReader {
  readonly first: number
  readonly moments: Float64Array
  readonly read: (seconds: number) => number
}

/** Reads a field of the moments of a column; null where these are of several datatypes, or have no such field. */
export function dateFieldReader(name: FieldName, domain: ColumnDomain): DateFieldReader | null {
  const part = onlyPartOf(domain)
  if (part?.kind !== 'moment' || part.types !== null) return null
  const read = name in DAYS ? DAYS[name as keyof typeof DAYS] : CLOCKS[name as keyof typeof CLOCKS]
  if (part.datatypes[0] === XSD.date && name in CLOCKS) return null
  const moments = localMoments(domain)
  return moments === null ? null : { first: part.first, moments, read }
}

const LOCAL = new WeakMap<ColumnDomain, Float64Array | null>()

/** What a local clock shows at the moments of a column, in seconds. Those without forms of their own are dates, or in UTC. */
function localMoments(domain: ColumnDomain): Float64Array | null {
  const part = onlyPartOf(domain)
  if (part?.kind !== 'moment') return null
  if (part.forms === null) return part.values
  let local = LOCAL.get(domain)
  if (local === undefined) {
    local = new Float64Array(part.count)
    const isDate = part.datatypes[0] === XSD.date
    for (let place = 0; place < part.count && local !== null; place++) {
      const moment = momentOfLexical(domain.dictionary.form(part.first + place), isDate)
      if (moment === null) local = null
      else local[place] = moment.seconds + 60 * (moment.offset ?? 0)
    }
    LOCAL.set(domain, local)
  }
  return local
}
