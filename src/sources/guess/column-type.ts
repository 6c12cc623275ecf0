import { FIELD_TYPES, type FieldType } from '../../model/field.ts'
import { words } from '../../model/words.ts'
import { meansNothing } from '../typing/words.ts'
import { otherCalendar } from './dates.ts'
import { namesIdentifier, namesOutline, namesTime } from './name-hints.ts'
import type { TextProfile } from './profile.ts'
import { type Choice, chooseType, type FileHints } from './text-type.ts'

const NARROWEST: readonly FieldType[] = words('boolean int double date datetime geo_point_2d geo_shape text')

/** What is known of the values of one column; memory is independent of the number of rows. */
export interface GuessedColumn {
  readonly path: readonly string[]
  /** The set of FIELD_TYPES that all values so far fit, and the set that all values other than texts fit. */
  types: number
  otherTypes: number
  readonly suggestsPoint: boolean
  /** True once a value was a pair with two fractions, without which `1,5` is no position. */
  hasPosition: boolean
  hasScalar: boolean
  hasList: boolean
  /** True once a value was a list without elements, which any type may have in place of none. */
  hasEmptyList?: boolean
  /** True once a value was an integer with more digits than numbers can represent, and once one had a fraction. */
  hasLong: boolean
  hasFraction: boolean
  /** True once a value was JSON that only text can represent, and once one was a geometry with coordinates other than degrees. */
  hasJson: boolean
  isProjected: boolean
  /** Columns of the members of its objects. */
  members: Map<string, GuessedColumn> | undefined
  /** Number of values that are not empty. */
  filled: number
  /** True as long as all moments are midnights without a zone, and as long as all lists are two coordinates. */
  isMidnight: boolean
  isPairs: boolean
  /** The largest absolute values of the two numbers of these lists. */
  maxOfPairs: readonly number[]
  readonly profile: TextProfile
  readonly examples: string[]
  /** The smallest and largest number. */
  min: number
  max: number
}

/** True for the members of objects without any value, such as `{ lat: null, lon: null }` among positions. */
export function areEmpty(members: ReadonlyMap<string, GuessedColumn>): boolean {
  return [...members.values()].every(it => it.filled === 0 && it.members === undefined && !it.hasJson)
}

/** Whole numbers between 2000 and 2050 as seconds since 1970. */
const EPOCH = { from: 946_684_800, to: 2_524_608_000 } as const

/** The type of a column, with the reason. */
export function typeOfColumn(column: GuessedColumn, name: string, hints: FileHints): Choice {
  const { profile } = column
  const text = (why: string): Choice => ({ type: 'text', nulls: [], why })
  if (column.hasJson) return text('the values are nested, or of different kinds')
  if (column.hasList) return pairsType(column, name) ?? text('the values are lists')
  if (!column.hasScalar) return text('there are no values')
  const plain = plainType(column, column.types)
  if (plain === 'int' && profile.count === column.filled && column.min >= 0 && namesIdentifier(name))
    return text('the name is that of identifiers, whose digits are no quantity')
  if (plain === 'double' && profile.count === column.filled && namesOutline(name))
    return text('the name is that of versions or sections, of which 1.10 is not 1.1')
  if (plain === 'int') return numberOrTime(column, name)
  if (plain === 'double') {
    const chosen = profile.count === column.filled ? chooseType(profile, name, false, hints) : undefined
    if (chosen?.format !== undefined && chosen.type === 'int') return chosen
    if (chosen?.question !== undefined && chosen.type === 'double') return chosen
  }
  if (plain === 'datetime' && column.isMidnight && profile.count === column.filled)
    return { type: 'date', nulls: [], why: 'all values are days, with the time of midnight' }
  if (plain === 'date' || plain === 'datetime')
    return {
      type: plain,
      nulls: [],
      why: PLAIN_REASONS[plain],
      ...otherCalendar(profile.days(true)?.calendar),
    }
  if (plain !== 'text') return { type: plain, nulls: [], why: PLAIN_REASONS[plain] }
  // Only whole numbers beyond 64 bits fit a double and are text.
  if (column.types & (1 << FIELD_TYPES.indexOf('double'))) return longNumbers({ beyond: true, decimal: '' })
  if (profile.count === column.filled) {
    const chosen = chooseType(profile, name, column.suggestsPoint, hints)
    if (chosen !== undefined) return chosen
    if (namesIdentifier(name)) return text('the name is that of identifiers')
    const long = profile.longNumbers()
    return long === undefined ? text('no other type fits all values') : longNumbers(long)
  }
  return mixedType(column) ?? text('no other type fits all values')
}

/** The text that keeps all digits of numbers of more than 15. */
function longNumbers({ beyond, decimal }: { readonly beyond: boolean; readonly decimal: string }): Choice {
  const double = `type: double${decimal === ',' ? " and format: ','" : ''}, which rounds to about 16 digits`
  if (decimal !== '')
    return {
      type: 'text',
      nulls: [],
      why: 'some numbers have more than 15 digits before the decimal sign, all of which only text keeps',
      question: `numbers of more than 15 digits before the decimal sign are texts, so that no digit is lost; where they are quantities, say ${double}`,
    }
  if (beyond)
    return {
      type: 'text',
      nulls: [],
      why: 'some whole numbers are beyond the 64 bits of an int, and only text keeps all their digits',
      question: `whole numbers beyond 64 bits (9223372036854775807) are texts, so that no digit is lost; where they are quantities, say ${double}`,
    }
  return {
    type: 'text',
    nulls: [],
    why: 'some whole numbers have 16 digits or more, as identifiers have',
    question:
      'whole numbers of 16 digits and more were taken for identifiers; where they are quantities, say type: int, which keeps all their digits',
  }
}

/** Arrays of two numbers in a column whose name indicates positions. */
function pairsType(column: GuessedColumn, name: string): Choice | undefined {
  const [first = 0, second = 0] = column.maxOfPairs
  if (!column.isPairs || !column.suggestsPoint || column.hasScalar || (first > 90 && second > 90))
    return undefined
  const isLatitudeFirst = second > 90 || (/lat[^a-z]*(?:itude)?[^a-z]*lo?n/i.test(name) && first <= 90)
  return {
    type: 'geo_point_2d',
    format: isLatitudeFirst ? 'lat,lon' : 'lon,lat',
    nulls: [],
    why: `all values are two coordinates, ${isLatitudeFirst ? 'latitude' : 'longitude'} first`,
    ...(isLatitudeFirst || first > 90
      ? {}
      : { question: "longitude was taken to come first; where latitude does, say format: 'lat,lon'" }),
  }
}

/** Values of one type, apart from words for no value, as in spreadsheets. */
function mixedType(column: GuessedColumn): Choice | undefined {
  const words = [...(column.profile.values()?.keys() ?? [])]
  const type = plainType(column, column.otherTypes)
  if (type === 'text' || words.length === 0 || !words.every(meansNothing)) return undefined
  return { type, nulls: words, why: `all values but ${words.map(it => JSON.stringify(it)).join(', ')} fit` }
}

function numberOrTime(column: GuessedColumn, name: string): Choice {
  const { min, max, profile, filled } = column
  if (profile.count === filled && filled > 0) {
    const days = profile.days(true)
    const isDay = days !== undefined && min >= 18_000_101 && max <= 21_001_231
    const isMany = (profile.values()?.size ?? 100) >= 3
    if (isDay && isMany && (namesTime(name) || /datum|fecha|jour|data|day|dob|birth/i.test(name)))
      return {
        type: 'date',
        format: 'yyyyMMdd',
        nulls: [],
        why: 'all values are days written as yyyyMMdd, and so says the name',
      }
  }
  if (namesTime(name) && min >= EPOCH.from && max <= EPOCH.to)
    return {
      type: 'datetime',
      format: 'epoch-s',
      nulls: [],
      why: 'the name says that the values count seconds',
    }
  if (namesTime(name) && min >= EPOCH.from * 1000 && max <= EPOCH.to * 1000)
    return {
      type: 'datetime',
      format: 'epoch-ms',
      nulls: [],
      why: 'the name says that the values count milliseconds',
    }
  return { type: 'int', nulls: [], why: PLAIN_REASONS.int }
}

const PLAIN_REASONS: Readonly<Record<FieldType, string>> = {
  text: 'no other type fits all values',
  int: 'all values are whole numbers',
  double: 'all values are numbers',
  boolean: 'all values are true or false',
  date: 'all values are days of ISO 8601',
  datetime: 'all values are moments of ISO 8601',
  geo_point_2d: 'all values are positions',
  geo_shape: 'all values are geometries',
}

function plainType(column: GuessedColumn, types: number): FieldType {
  const fits = (type: FieldType) =>
    (types & (1 << FIELD_TYPES.indexOf(type))) !== 0 && (type !== 'geo_point_2d' || column.hasPosition)
  const type = NARROWEST.find(fits) ?? 'text'
  return type === 'double' && column.hasLong && !column.hasFraction ? 'text' : type
}
