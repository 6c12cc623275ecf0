import type { GridCell } from '../tables/grid.ts'
import { type DateBase, serialDate, serialDuration, serialTime } from './workbook.ts'

/**
 * Numbers of the built-in formats of dates and times (ECMA-376, part 1, 18.8.30). Those from 27 on belong to Chinese, Japanese and Korean
 * programs, which do not write them out; those that are times in one of these languages are days in another, as the numbers themselves tell.
 */
const BUILT_IN_DATES: ReadonlySet<number> = new Set([
  14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 36, 50, 51, 54, 57, 58,
])
const BUILT_IN_TIMES: ReadonlySet<number> = new Set([18, 19, 20, 21, 32, 33, 34, 35, 45, 47, 52, 53, 55, 56])
const BUILT_IN_DURATION = 46

/** The kind of a number by the format of its cell; `digits` of a format of zeros alone, which codes have. */
export type CellKind = 'number' | 'date' | 'time' | 'duration' | { readonly digits: number }

/** The kind of a number format by its id, among the formats of the workbook. */
export function kindOfFormat(format: number, formats: ReadonlyMap<number, string>): CellKind {
  const code = formats.get(format)
  if (code !== undefined) return kindOfCode(code)
  if (BUILT_IN_DATES.has(format)) return 'date'
  if (BUILT_IN_TIMES.has(format)) return 'time'
  return format === BUILT_IN_DURATION ? 'duration' : 'number'
}

/** The kind of a format of SpreadsheetML: the code of a number format, or the name of one, such as `Short Time`. */
export function kindOfNamed(format: string): CellKind {
  return / time$/i.test(format) ? 'time' : kindOfCode(format)
}

/** The kind of a number format: a date if it has years or days, a time if it has hours alone, a duration with `[h]`, `[m]` or `[s]`. */
function kindOfCode(code: string): CellKind {
  const [first = ''] = code.split(';')
  if (/^00+$/.test(first)) return { digits: first.length }
  const plain = first.replace(/"[^"]*"|\\.|_.|\*./g, '').replace(/\[(?!h+\]|m+\]|s+\])[^[\]]*\]/gi, '')
  if (/general/i.test(plain)) return 'number'
  if (/[yd]/i.test(plain)) return 'date'
  if (/\[[hms]/i.test(plain)) return 'duration'
  if (/m/i.test(plain) && !/[hs0#?]/i.test(plain)) return 'date'
  return /[hs]/i.test(plain) ? 'time' : 'number'
}

/** A number as the format of its cell denotes it. */
export function formattedNumber(number: number, kind: CellKind, base: DateBase): GridCell {
  switch (kind) {
    case 'number':
      return number
    case 'date':
      return serialDate(number, base) ?? number
    case 'time':
      return serialTime(number) ?? serialDate(number, base) ?? number
    case 'duration':
      return serialDuration(number)
    default:
      return Number.isSafeInteger(number) && number >= 0 ? String(number).padStart(kind.digits, '0') : number
  }
}
