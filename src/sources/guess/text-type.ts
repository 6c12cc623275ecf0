import type { FieldType } from '../../model/field.ts'
import { formatText, NUMBER_STYLES, type NumberFormat } from '../typing/number-format.ts'
import { certaintyOf } from '../typing/words.ts'
import type { DateCandidate } from './dates.ts'
import { otherCalendar } from './dates.ts'
import type { NumberEvidence } from './evidence.ts'
import { namesDate, namesIdentifier, POSITION_LONGITUDE_FIRST, spaced } from './name-hints.ts'
import type { TextProfile } from './profile.ts'

/** Evidence from the other columns of a file about a column with ambiguous values. */
export interface FileHints {
  /** Whether decimals are written with a comma; undefined if no column is conclusive. */
  readonly hasDecimalComma: boolean | undefined
  /** Whether days precede months; undefined if no column is conclusive. */
  readonly isDayFirst: boolean | undefined
}

/** The chosen type of a column of texts. */
export interface Choice {
  readonly type: FieldType
  readonly format?: string
  /** Texts that denote no value. */
  readonly nulls: readonly string[]
  readonly why: string
  /** A question for the publisher, if the values alone are not conclusive. */
  readonly question?: string
  readonly annotations?: Readonly<Record<string, readonly string[]>>
}

/**
 * The type of a column of texts, none of which has the plain form of a type; undefined if only text fits.
 *
 * @param suggestsPoint whether the name of the column suggests positions
 */
export function chooseType(
  profile: TextProfile,
  name: string,
  suggestsPoint: boolean,
  hints: FileHints,
): Choice | undefined {
  return (
    chooseBoolean(profile) ??
    chooseNumber(profile, name, hints) ??
    chooseDate(profile, name, hints) ??
    choosePoint(profile, name, suggestsPoint)
  )
}

function chooseBoolean(profile: TextProfile): Choice | undefined {
  const found = profile.booleans()
  if (found === undefined) return undefined
  const { words, nulls } = found
  const isPlain = words.every(word => /^(?:true|false)$/i.test(word))
  const format = isPlain ? {} : { format: words.join('/') }
  const why = `all values are ${words.join(' or ')}`
  const both = words.join(' and ')
  switch (certaintyOf(words)) {
    case 'certain':
      return { type: 'boolean', ...format, nulls, why }
    case 'likely': {
      const question = `${both} were taken for yes and no; where they mean something else, say type: text`
      return { type: 'boolean', ...format, nulls, why, question }
    }
    case 'unlikely': {
      const question = `${both} were taken for texts; where they mean yes and no, say type: boolean and format: ${words.join('/')}`
      return { type: 'text', nulls: [], why: `${why}, which may have any meaning`, question }
    }
  }
}

const DASH_ZERO =
  "a dash was taken for 0, as accounting formats write it; where it means no value, say nulls: ['-']"

function chooseNumber(profile: TextProfile, name: string, hints: FileHints): Choice | undefined {
  const found = profile.numbers()
  if (found === undefined || (namesIdentifier(name) && !found.isNegative)) return undefined
  const chosen = chooseStyle(found, hints)
  const style = NUMBER_STYLES[chosen.style]
  if (style === undefined) return undefined
  if (found.isCode)
    return {
      type: 'text',
      nulls: [],
      why: 'values such as 12e4 may be codes',
      question:
        'values with an e were taken for codes; where they are numbers with exponents, say type: double',
    }
  const isInt = !found.hasExponent && !(style.decimal === '.' ? found.hasPoint : found.hasComma)
  const type = isInt ? 'int' : 'double'
  const format: NumberFormat = {
    ...style,
    prefix: found.prefix,
    suffix: found.suffix,
    isDashZero: found.isDashZero,
  }
  const isPlain = style.group === '' && format.prefix === '' && format.suffix === '' && !format.isDashZero
  const text = formatText(format, type)
  const unit = found.suffix || found.prefix
  // 552 100 554 is a company or telephone number: quantities do not all have nine digits.
  if (isInt && style.group === ' ' && unit === '' && found.digits >= 9)
    return {
      type: 'text',
      nulls: [],
      why: `all values have ${found.digits} digits in groups, as identifiers have`,
      question: `values of ${found.digits} digits were taken for identifiers; where they are quantities, say type: int and format: '1 234'`,
    }
  const question = chosen.question ?? (found.isDashZero ? DASH_ZERO : undefined)
  return {
    type,
    ...(isPlain && found.isPlain && (isInt || style.decimal === '.') ? {} : { format: text }),
    nulls: found.nulls,
    why: isPlain
      ? `all values are numbers${style.decimal === ',' && !isInt ? ' with a decimal comma' : ''}`
      : `all values are numbers written like ${text === style.decimal ? '1234.5' : text}`,
    ...(question === undefined ? {} : { question }),
    ...(unit === '' ? {} : { annotations: { unit: [unit] } }),
  }
}

const PLAIN_POINT = 0
const PLAIN_COMMA = 1
const GROUP_COMMA = 2
const GROUP_POINT = 3

/** The style of numbers, with a question if two styles fit: 1.234 and 1,234 are ambiguous. */
function chooseStyle(
  { styles, hasPoint, hasComma, hasFraction }: NumberEvidence,
  { hasDecimalComma }: FileHints,
): { readonly style: number; readonly question?: string } {
  const fits = (style: number) => (styles & (1 << style)) !== 0
  if (!hasPoint && !hasComma && fits(PLAIN_POINT)) return { style: PLAIN_POINT }
  if (hasPoint && !hasComma && fits(PLAIN_POINT)) {
    if (!fits(GROUP_POINT) || hasFraction) return { style: PLAIN_POINT }
    if (hasDecimalComma !== undefined) return { style: hasDecimalComma ? GROUP_POINT : PLAIN_POINT }
    return {
      style: PLAIN_POINT,
      question:
        "the point was taken for a decimal sign; where it separates thousands, say type: int and format: '1.234'",
    }
  }
  if (hasComma && !hasPoint && fits(PLAIN_COMMA)) {
    if (!fits(GROUP_COMMA) || hasFraction) return { style: PLAIN_COMMA }
    if (hasDecimalComma !== undefined) return { style: hasDecimalComma ? PLAIN_COMMA : GROUP_COMMA }
    return {
      style: GROUP_COMMA,
      question:
        "the comma was taken for a separator of thousands; where it is a decimal sign, say format: ','",
    }
  }
  const order = [GROUP_COMMA, GROUP_POINT, 4, 5, 6, 7, PLAIN_POINT, PLAIN_COMMA]
  const blank = order.filter(fits)
  // Between 1 234,5 and 1 234.5, the decimal sign that occurs is decisive.
  const withSign = blank.find(style => {
    const decimal = NUMBER_STYLES[style]?.decimal
    return decimal === ',' ? hasComma : hasPoint
  })
  return { style: withSign ?? blank[0] ?? -1 }
}

function chooseDate(profile: TextProfile, name: string, hints: FileHints): Choice | undefined {
  const found = profile.days(namesDate(name))
  if (found === undefined) return undefined
  const [candidate, question] = chooseOrder(found.candidates, hints)
  if (candidate === undefined) return undefined
  const isDay = !candidate.hasTime || found.isMidnight
  const isMonth = candidate.order === 'month'
  if (isMonth && found.isSeason && !/month|mois|monat|maand|\bmes/i.test(name)) return undefined
  if (isMonth && !namesMonth(name) && /^MM?.yyyy$/.test(candidate.pattern)) return undefined
  if (found.isDistant)
    return {
      type: 'text',
      nulls: [],
      why: 'the years have two digits, and those of two centuries',
      question: `days with years of two digits, of which some would be years to come: write years with four digits, or say type: date and format: ${candidate.pattern}`,
    }
  return {
    type: isDay ? 'date' : 'datetime',
    format: candidate.pattern,
    nulls: found.nulls,
    why: `all values are ${isDay ? 'days' : 'moments'} written as ${candidate.pattern}`,
    ...otherCalendar(found.calendar, question),
    ...(isMonth ? { annotations: { timeserie_precision: ['month'] } } : {}),
  }
}

function namesMonth(name: string): boolean {
  return namesDate(name) || /month|mois|monat|mes|period|maand/i.test(name)
}

/** The pattern of dates, with a question if days and months are ambiguous. */
function chooseOrder(
  candidates: readonly DateCandidate[],
  { isDayFirst }: FileHints,
): readonly [DateCandidate | undefined, string?] {
  const dayFirst = candidates.find(({ order }) => order === 'day-first')
  const monthFirst = candidates.find(({ order }) => order === 'month-first')
  const other = candidates.find(({ order }) => order === 'year-first' || order === 'month')
  if (other !== undefined) return [other]
  if (dayFirst === undefined || monthFirst === undefined) return [dayFirst ?? monthFirst]
  if (isDayFirst !== undefined) return [isDayFirst ? dayFirst : monthFirst]
  // Only day-first dates are written with points.
  if (/[.]/.test(dayFirst.pattern)) return [dayFirst]
  return [
    dayFirst,
    `days and months cannot be told apart: read as ${dayFirst.pattern}; where months come first, say format: ${monthFirst.pattern}`,
  ]
}

function choosePoint(profile: TextProfile, name: string, suggestsPoint: boolean): Choice | undefined {
  const found = profile.pairs()
  if (
    found === undefined ||
    (!suggestsPoint && found.precise < 0.8 && found.spaced < 0.5 && !found.isOrdered)
  )
    return undefined
  const { first, second, isBracketed, isOrdered, nulls } = found
  if (first > 90 && second > 90) return undefined
  const isNamed = POSITION_LONGITUDE_FIRST.test(spaced(name))
  const isLongitudeFirst = !isOrdered && (first > 90 || (second <= 90 && (isBracketed || isNamed)))
  const isKnown = isOrdered || first > 90 || second > 90 || isBracketed || isNamed
  const format = isLongitudeFirst ? 'lon,lat' : 'lat,lon'
  return {
    type: 'geo_point_2d',
    format,
    nulls,
    why: `all values are two coordinates, ${isLongitudeFirst ? 'longitude' : 'latitude'} first`,
    ...(isKnown
      ? {}
      : { question: "latitude was taken to come first; where longitude does, say format: 'lon,lat'" }),
  }
}

/** Combined evidence of the columns of a file. */
export function hintsOf(
  columns: Iterable<{ readonly profile: TextProfile; readonly name: string }>,
): FileHints {
  let commas = 0
  let points = 0
  let dayFirst = 0
  let monthFirst = 0
  for (const { profile, name } of columns) {
    const numbers = profile.numbers()
    if (numbers !== undefined) {
      const fits = (style: number) => (numbers.styles & (1 << style)) !== 0
      const canBeComma = [PLAIN_COMMA, GROUP_POINT, 4, 7].some(fits)
      const canBePoint = [PLAIN_POINT, GROUP_COMMA, 5, 6].some(fits)
      if (numbers.hasPoint || numbers.hasComma) {
        if (canBeComma && !canBePoint) commas++
        if (canBePoint && !canBeComma) points++
      }
    }
    const days = profile.days(namesDate(name))
    const orders = new Set(days?.candidates.map(({ order }) => order))
    if (orders.has('day-first') && !orders.has('month-first')) dayFirst++
    if (orders.has('month-first') && !orders.has('day-first')) monthFirst++
  }
  return {
    hasDecimalComma: commas === points ? undefined : commas > points,
    isDayFirst: dayFirst === monthFirst ? undefined : dayFirst > monthFirst,
  }
}
