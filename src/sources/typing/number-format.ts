import { integerValue } from '../../model/exact-json.ts'
import { misconfigured } from '../source.ts'

/** The format of the numbers of a column, beyond the plain form with a decimal point. */
export interface NumberFormat {
  /** Separator of groups of three digits; empty for none. */
  readonly group: '' | '.' | ',' | ' ' | "'"
  readonly decimal: '.' | ','
  /** Text around the number: a currency or a unit. Empty for none. */
  readonly prefix: string
  readonly suffix: string
  /** True if a dash is the number 0, as accounting formats write it; beside a prefix or suffix it always is. */
  readonly isDashZero: boolean
}

const EXAMPLE = /^(?<prefix>\D*?)1(?<group>[.,' ]?)234(?:(?<decimal>[.,])5)?(?<suffix>[^\d;]*)(?<dash>;-)?$/

/** Blanks that separate groups of digits, and apostrophes, in their typographic variants. */
const BLANKS = /[\u0020\u00a0\u2009\u202f]/g
const APOSTROPHES = /['\u2019]/g
const MINUS = /[\u2212\u2013]/

/** Maximum digits of an exactly represented integer. */
const MAX_DIGITS = 15

/**
 * Parses the format of an int or double: a decimal sign (`,` or `.`), or the number 1234.5 as the column writes it: `1.234,5`, `1
 * 234,5`, `€1,234.5`, `1234,5 %`, and `;-` after it where a dash is 0. Throws ConfigInvalid for anything else.
 */
export function numberFormat(format: string, type: 'int' | 'double'): NumberFormat {
  if (type === 'double' && (format === ',' || format === '.'))
    return { group: '', decimal: format, prefix: '', suffix: '', isDashZero: false }
  const { prefix = '', group = '', decimal, suffix = '', dash } = EXAMPLE.exec(format)?.groups ?? {}
  const isFormat = EXAMPLE.test(format) && (decimal === undefined || decimal !== group)
  if (!isFormat || (type === 'int' && decimal !== undefined))
    throw misconfigured(
      `The format of ${type === 'int' ? 'an int' : 'a double'} is its decimal sign or an example, not ${JSON.stringify(format)}.`,
      type === 'int' ? "format: '1 234'" : "format: ',' or '1.234,5' or '1,234.5 €'",
      'format',
    )
  const point = decimal ?? (group === '.' ? ',' : '.')
  return {
    group: group as NumberFormat['group'],
    decimal: point as NumberFormat['decimal'],
    prefix: prefix.trim(),
    suffix: suffix.trim(),
    isDashZero: dash !== undefined,
  }
}

/** The text of a format: the number 1234.5, or 1234 for an int, as the column writes it. */
export function formatText(format: NumberFormat, type: 'int' | 'double'): string {
  const { group, decimal, prefix, suffix, isDashZero } = format
  if (group === '' && prefix === '' && suffix === '' && !isDashZero && type === 'double') return decimal
  const fraction = type === 'double' ? `${decimal}5` : ''
  return `${prefix}1${group}234${fraction}${suffix === '' ? '' : ` ${suffix}`}${isDashZero ? ';-' : ''}`
}

/** The pattern of a number without sign and affixes, its digits grouped according to the format. */
function bareForm({ group, decimal }: NumberFormat): RegExp {
  const escaped = (sign: string) => (sign === '.' ? '\\.' : sign)
  return numberForm(escaped(group), escaped(decimal), '\\d{1,3}', '\\d+')
}

/**
 * The pattern of numbers, their digits in groups of three, in Indian groups or, as some write them, ungrouped; those with an exponent have no groups:
 * 1.234e-01 is less than one.
 */
function numberForm(group: string, decimal: string, first: string, whole: string): RegExp {
  // India groups by lakh and crore: 12,34,567.89.
  const indian = group === ',' && decimal === '\\.' ? `|${first}(?:,\\d{2})+,\\d{3}` : ''
  const grouped = group === '' ? '' : `(?:${first}(?:${group}\\d{3})+${indian})(?:${decimal}\\d*)?|`
  return new RegExp(`^(?:${grouped}(?:${whole}(?:${decimal}\\d*)?|${decimal}\\d+)(?:e[+-]?\\d+)?)$`, 'i')
}

/**
 * Converts numbers in a format to the plain text that JavaScript parses (`-1234.5`); undefined for other texts. A minus may be
 * typographic, trailing, or a pair of parentheses, as in accounting, where a dash beside a currency is 0.
 */
export function numberReader(format: NumberFormat): (text: string) => string | undefined {
  const form = bareForm(format)
  const { group, decimal, prefix, suffix } = format
  const isMoney = MONEY.test(prefix || suffix)
  return text => {
    let rest = text.trim()
    let sign = ''
    const takeParentheses = () => {
      if (!rest.startsWith('(') || !rest.endsWith(')')) return
      rest = rest.slice(1, -1).trim()
      sign = '-'
    }
    takeParentheses()
    const takeSign = () => {
      const first = rest.charAt(0)
      if (sign !== '' || !(first === '-' || first === '+' || MINUS.test(first))) return
      sign = first === '+' ? '+' : '-'
      rest = rest.slice(1).trimStart()
    }
    if (format.isDashZero && rest === '-') return '0'
    takeSign()
    if (prefix !== '' && rest.startsWith(prefix)) rest = rest.slice(prefix.length).trimStart()
    if (suffix !== '' && rest.endsWith(suffix)) rest = rest.slice(0, -suffix.length).trimEnd()
    if (sign === '') takeParentheses()
    takeSign()
    if (sign === '-' && rest === '' && isMoney && text.includes('-')) return '0'
    if (sign === '' && rest.length > 1 && (rest.endsWith('-') || rest.endsWith('\u2212'))) {
      rest = rest.slice(0, -1).trimEnd()
      sign = '-'
    }
    if (group === ' ') rest = rest.replace(BLANKS, ' ')
    if (group === "'") rest = rest.replace(APOSTROPHES, "'")
    if (!form.test(rest)) return undefined
    const digits = group === '' ? rest : rest.replaceAll(group, '')
    const plain = decimal === ',' ? digits.replace(',', '.') : digits
    return `${sign === '-' ? '-' : ''}${plain}`
  }
}

/** The parts of a number: signs, affixes and digits. */
export interface WrittenNumber {
  readonly prefix: string
  readonly suffix: string
  readonly core: string
}

const CURRENCIES =
  'EUR|USD|GBP|CHF|JPY|CNY|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|TRY|RUB|UAH|BRL|MXN|ARS|CLP|COP|PEN|INR|ZAR|KRW|Kč|kr|zł|Ft|lei|Fr\\.?|R\\$|US\\$|[A-Z]{1,2}\\$'
const MONEY = new RegExp(`^(?:\\p{Sc}|${CURRENCIES})$`, 'u')
/** A dash beside a currency, which accounting formats write for 0. */
const MONEY_ZERO = new RegExp(
  `^(?:(?<prefix>\\p{Sc}|${CURRENCIES})\\s*-|-\\s*(?<suffix>\\p{Sc}|${CURRENCIES}))$`,
  'u',
)
const UNITS =
  '%|‰|°C?|°F|°|k?m[²³]|[kmcdµ]?m|km\\/h|m\\/s|k?g|mg|µg|t|[mcdh]?l|ha|a|[kMGT]?Wh?|[kMGT]?V|[km]?A|[kMG]?Hz|[kMG]?J|[hkM]?Pa|dB|min|h|s|ms|ppm|km2|m2|m3'

const WRITTEN = new RegExp(
  `^(?:\\(|[+\\-\u2212\u2013])?\\s*(?<prefix>\\p{Sc}|${CURRENCIES})?\\s*[(+\\-\u2212\u2013]?\\s*(?<core>[\\d.,][\\d.,'\u2019\u0020\u00a0\u2009\u202f]*(?:[eE][+-]?\\d+)?)\\s*(?<suffix>\\p{Sc}|${CURRENCIES}|${UNITS})?(?:\\)|-|\u2212)?$`,
  'u',
)

/** Splits a number and its currency or unit; undefined for other texts. */
export function writtenNumber(text: string): WrittenNumber | undefined {
  if (text.length > 60) return undefined
  const zero = text.includes('-') ? MONEY_ZERO.exec(text)?.groups : undefined
  if (zero !== undefined) return { prefix: zero.prefix ?? '', suffix: zero.suffix ?? '', core: '0' }
  const { prefix = '', core, suffix = '' } = WRITTEN.exec(text)?.groups ?? {}
  if (core === undefined || (prefix !== '' && suffix !== '' && prefix !== suffix)) return undefined
  // +33123456789 is a telephone number.
  if (text.startsWith('+') && suffix === '' && core.replace(/\D/g, '').length >= 8) return undefined
  // 12a is a house number, 12 A is a current.
  if (/^[a-z]$/i.test(suffix) && !/\s[a-z]\)?$/i.test(text)) return undefined
  return { prefix, suffix, core: core.trim() }
}

/** A number of more than 15 digits before its decimal sign. */
export interface LongNumber {
  /** Whether it is a whole number beyond 64 bits. */
  beyond: boolean
  /** Its decimal sign; empty for a whole number. */
  decimal: string
}

/** A plain number of more digits than a double represents exactly; undefined for other texts. */
export function longNumber(text: string): LongNumber | undefined {
  const found = text.length < 60 ? /^-?[1-9]\d{15,}(?:([.,])\d+)?$/.exec(text) : null
  if (found === null) return undefined
  const [, decimal = ''] = found
  return { decimal, beyond: decimal === '' && integerValue(BigInt(text)) === undefined }
}

/** Styles of digits, each a bit of a set. */
export const NUMBER_STYLES = [
  { group: '', decimal: '.' },
  { group: '', decimal: ',' },
  { group: ',', decimal: '.' },
  { group: '.', decimal: ',' },
  { group: ' ', decimal: ',' },
  { group: ' ', decimal: '.' },
  { group: "'", decimal: '.' },
  { group: "'", decimal: ',' },
] as const

/** Numbers in each style, without leading zeros. */
const STYLE_FORMS = NUMBER_STYLES.map(({ group, decimal }) => {
  const sign = (of: string) =>
    of === '.' ? '\\.' : of === ' ' ? '[\\u0020\\u00a0\\u2009\\u202f]' : of === "'" ? "['\\u2019]" : of
  return numberForm(sign(group), sign(decimal), '[1-9]\\d{0,2}', '(?:0|[1-9]\\d{0,14})')
})

/** The set of styles that the digits of a number match; 0 for none. */
export function stylesOf(core: string): number {
  if ((core.match(/\d/g)?.length ?? 0) > MAX_DIGITS + 6) return 0
  let styles = 0
  for (let i = 0; i < STYLE_FORMS.length; i++) if ((STYLE_FORMS[i] as RegExp).test(core)) styles |= 1 << i
  return styles
}
