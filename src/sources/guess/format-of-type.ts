import type { FieldType } from '../../model/field.ts'
import { type Converter, converterOf } from '../typing/convert.ts'
import { formatText, NUMBER_STYLES, stylesOf, writtenNumber } from '../typing/number-format.ts'
import { booleanWords } from '../typing/words.ts'
import { DateGuess } from './dates.ts'

/** Maximum distinct texts that are examined. */
const MAX_TEXTS = 200

/**
 * The format in which most values of a column have a type that somebody chose for it; undefined if none has more than the plain
 * form. Values that do not fit are no obstacle, other than where the type is inferred.
 */
export function formatOfType(type: FieldType, values: readonly unknown[]): string | undefined {
  const times = new Map<unknown, number>()
  for (const value of values) {
    const each = typeof value === 'string' ? value.trim() : value
    if (each === '' || each === null || each === undefined) continue
    if (times.has(each) || times.size < MAX_TEXTS) times.set(each, (times.get(each) ?? 0) + 1)
  }
  const texts = [...times.keys()].filter(each => typeof each === 'string')
  let best: { readonly format: string | undefined; readonly fits: number } = { format: undefined, fits: 0 }
  for (const format of [undefined, ...new Set(candidatesOf(type, texts, times))]) {
    const convert = converterOf(type, format, 'UTC')
    const fits = [...times].reduce((sum, [value, count]) => sum + (hasValue(convert, value) ? count : 0), 0)
    if (fits > best.fits) best = { format, fits }
  }
  return best.format
}

function hasValue(convert: Converter, value: unknown): boolean {
  const converted = convert(value)
  return converted !== null && converted !== undefined
}

function candidatesOf(
  type: FieldType,
  texts: readonly string[],
  times: ReadonlyMap<unknown, number>,
): readonly string[] {
  switch (type) {
    case 'int':
    case 'double':
      return texts.flatMap(text => numberFormats(text, type))
    case 'date':
    case 'datetime':
      return texts.flatMap(text => {
        const guess = new DateGuess()
        guess.note(text)
        return guess.evidence(true).candidates.map(({ pattern }) => pattern)
      })
    case 'boolean': {
      const [first, second] = [...texts].sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0))
      const words = first === undefined ? undefined : booleanWords([first, second ?? first])
      return words === undefined ? [] : [words.join('/')]
    }
    case 'geo_point_2d':
      return ['lon,lat']
    default:
      return []
  }
}

function numberFormats(text: string, type: 'int' | 'double'): readonly string[] {
  const written = writtenNumber(text)
  if (written === undefined) return []
  const { prefix, suffix, core } = written
  const styles = stylesOf(core)
  return NUMBER_STYLES.flatMap((style, at) =>
    (styles & (1 << at)) === 0 ? [] : formatText({ ...style, prefix, suffix, isDashZero: false }, type),
  )
}
