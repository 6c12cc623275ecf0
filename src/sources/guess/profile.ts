import { coordinatePair } from '../typing/coordinates.ts'
import {
  type LongNumber,
  longNumber,
  NUMBER_STYLES,
  stylesOf,
  writtenNumber,
} from '../typing/number-format.ts'
import { booleanWords, isPlainlyNothing, meansNothing } from '../typing/words.ts'
import { type DateEvidence, DateGuess } from './dates.ts'
import type { NumberEvidence, PairEvidence, Typed } from './evidence.ts'

/** Maximum distinct texts of a column that are counted, and maximum untyped texts that are remembered. */
const MAX_DISTINCT = 64
const MAX_ODD = 5
const MAX_AFFIXES = 2

/** Two signs, around the digits of a text that is then no number. */
const SIGNS = /[+(\-\u2212\u2013].*[+(\-\u2212\u2013]/

/** A number or day of other decimal digits than those of ASCII. */
const OTHER_DIGITS = /^[^\p{L}0-9]*[^\P{Nd}0-9][^\p{L}0-9]*$/u

/** A day with a year of four digits, which versions and addresses do not have. */
const DAY =
  /^(?:\d{1,2}[-/.]\d{1,2}[-/.](?:1[89]|2[01])\d\d|(?:1[89]|2[01])\d\d[-/.]\d{1,2}[-/.]\d{1,2})(?:[T ]|$)/

type Kind = 'number' | 'date' | 'pair'

/**
 * Examines the texts of a column beyond the plain forms of types: numbers with separators and units, dates in other orders, words
 * for booleans, two coordinates. Memory is bounded, whatever the number of texts.
 */
export class TextProfile {
  /** Number of texts that are not empty. */
  count = 0
  private readonly distinct = new Map<string, number>()
  private overflow = false
  private otherDigits = 0
  private dayTexts = 0
  private readonly alive = new Set<Kind>(['number', 'date', 'pair'])
  /** Number of texts that fit each kind; the odd ones that do not, with their frequencies. */
  private readonly fits: Record<Kind, number> = { number: 0, date: 0, pair: 0 }
  private readonly odd: Record<Kind, Map<string, number>> = {
    number: new Map(),
    date: new Map(),
    pair: new Map(),
  }
  private styles = (1 << NUMBER_STYLES.length) - 1
  private hasFraction = false
  private hasPoint = false
  private hasComma = false
  /** Whether an exponent occurred, and one without sign, and one with a sign. */
  private readonly exponents = { any: false, bare: false, signed: false }
  private digits = -1
  private affixed = 0
  private isNegative = false
  private isPlain = true
  private long: LongNumber | undefined
  private readonly accounting = new AccountingBlanks()
  private readonly affixes = new Map<string, { readonly prefix: string; readonly suffix: string }>()
  private readonly dates = new DateGuess()
  private pair = { first: 0, second: 0, precise: 0, spaced: 0, isBracketed: true, ordered: 0 }

  /** @param raw the text with the blanks around it */
  note(text: string, raw: string): void {
    this.count++
    this.accounting.note(raw)
    this.countDistinct(text)
    if (text.length < 60 && OTHER_DIGITS.test(text)) this.otherDigits++
    if (text.length < 40 && DAY.test(text)) this.dayTexts++
    if (this.alive.size === 0) return
    for (const kind of this.alive) {
      if (this.noteAs(kind, text)) this.fits[kind]++
      else this.noteOdd(kind, text)
    }
  }

  /** How the numbers are written; undefined if the column is not numeric. */
  numbers(): (NumberEvidence & Typed) | undefined {
    const typed = this.typed('number')
    if (typed === undefined || this.styles === 0 || this.affixes.size > 1 || this.long) return undefined
    const { prefix = '', suffix = '' } = [...this.affixes.values()][0] ?? {}
    const affixed = this.affixed / this.fits.number
    const isDashZero = this.accounting.hasZero
    const { styles, hasFraction, hasPoint, hasComma, digits, isNegative, isPlain, exponents } = this
    return {
      ...typed,
      styles,
      hasFraction,
      hasExponent: exponents.any,
      isCode: exponents.bare && !exponents.signed && !hasPoint && !hasComma,
      hasPoint,
      hasComma,
      digits,
      prefix,
      suffix,
      affixed,
      isNegative,
      isPlain,
      isDashZero,
      nulls: isDashZero ? typed.nulls.filter(text => text !== '-') : typed.nulls,
    }
  }

  /** The combination of the numbers that are too long for a double; undefined if there are none, or the column is not numeric. */
  longNumbers(): Readonly<LongNumber> | undefined {
    return this.typed('number') === undefined ? undefined : this.long
  }

  /** Patterns that match the dates; undefined if the column has no dates. */
  days(isNamed: boolean): (DateEvidence & Typed) | undefined {
    const typed = this.typed('date')
    if (typed === undefined || !this.dates.isPossible) return undefined
    const evidence = this.dates.evidence(isNamed)
    return evidence.candidates.length === 0 ? undefined : { ...typed, ...evidence }
  }

  /** How the coordinates are written; undefined if the column has no pairs. */
  pairs(): (PairEvidence & Typed) | undefined {
    const typed = this.typed('pair')
    if (typed === undefined) return undefined
    const { first, second, precise, spaced, isBracketed, ordered } = this.pair
    const fits = this.fits.pair
    return {
      ...typed,
      first,
      second,
      precise: precise / fits,
      spaced: spaced / fits,
      isBracketed,
      isOrdered: ordered === fits,
    }
  }

  /** The words of a boolean column, and its texts for no value. */
  booleans(): { readonly words: readonly [string, string]; readonly nulls: readonly string[] } | undefined {
    if (this.overflow) return undefined
    const all = [...this.distinct.keys()]
    const pair = booleanWords(all)
    if (pair !== undefined) return { words: pair, nulls: [] }
    const nulls = all.filter(meansNothing)
    const words = booleanWords(all.filter(text => !meansNothing(text)))
    return words === undefined || nulls.length === 0 ? undefined : { words, nulls }
  }

  /** Distinct texts with their frequencies; null if there are too many. */
  values(): ReadonlyMap<string, number> | null {
    return this.overflow ? null : this.distinct
  }

  /** True if all texts are digits of another script. */
  get hasOtherDigits(): boolean {
    return this.otherDigits > 0 && this.otherDigits === this.count
  }

  /** True if nearly all texts are written as days, in whatever order. */
  get hasDays(): boolean {
    return this.dayTexts > 1 && this.dayTexts >= this.count * 0.8
  }

  /** One of the texts. */
  get first(): string | undefined {
    return this.distinct.keys().next().value
  }

  /** The kind of nearly all values, for a suggestion if the column is text. */
  nearly(): { readonly kind: Kind; readonly unfittingValues: readonly string[] } | undefined {
    for (const kind of ['number', 'date', 'pair'] as const) {
      const odd = [...this.odd[kind].values()].reduce((sum, times) => sum + times, 0)
      if (this.alive.has(kind) && this.fits[kind] > 0 && this.fits[kind] / (this.fits[kind] + odd) >= 0.8)
        return { kind, unfittingValues: [...this.odd[kind].keys()].slice(0, 3) }
    }
    return undefined
  }

  private countDistinct(text: string): void {
    const known = this.distinct.get(text)
    if (known !== undefined) this.distinct.set(text, known + 1)
    else if (this.distinct.size >= MAX_DISTINCT || text.length > 200) this.overflow = true
    else this.distinct.set(text, 1)
  }

  private noteAs(kind: Kind, text: string): boolean {
    switch (kind) {
      case 'number':
        return this.noteNumber(text)
      case 'date': {
        if (!/\d/.test(text) || meansNothing(text) || !this.dates.isPossible) return false
        this.dates.note(text)
        return this.dates.isPossible
      }
      case 'pair':
        return this.notePair(text)
    }
  }

  private noteNumber(text: string): boolean {
    const long = text.length > 15 ? longNumber(text) : undefined
    if (long !== undefined) {
      this.long ??= long
      if (long.beyond) this.long.beyond = true
      if (long.decimal !== '') this.long.decimal = long.decimal
      return true
    }
    const written = writtenNumber(text)
    if (written === undefined) return false
    const [mantissa = '', exponent] = written.core.split(/e/i)
    // A number that is too large for a double has no value.
    if (exponent !== undefined && !Number.isFinite(Number(`1e${Number(exponent) + mantissa.length}`)))
      return false
    if (text !== written.core && SIGNS.test(text.replace(written.core, ''))) return false
    const styles = stylesOf(written.core)
    if (styles === 0 || (this.styles & styles) === 0) {
      if (styles !== 0) this.alive.delete('number')
      return false
    }
    const { prefix, suffix, core } = written
    this.styles &= styles
    if (prefix !== '' || suffix !== '') {
      this.affixed++
      if (this.affixes.size <= MAX_AFFIXES) this.affixes.set(`${prefix} ${suffix}`, { prefix, suffix })
    }
    if (/^[-\u2212\u2013(]|[-\u2212)]$/.test(text)) this.isNegative = true
    if (/^(?:[\u2212\u2013(]|[+-]\s)|[-\u2212)]$/.test(text)) this.isPlain = false
    if (core.includes('.')) this.hasPoint = true
    if (core.includes(',')) this.hasComma = true
    const digits = core.match(/\d/g)?.length ?? 0
    this.digits = this.digits === -1 || this.digits === digits ? digits : 0
    if (exponent !== undefined) {
      this.exponents.any = true
      this.exponents[/^[+-]/.test(exponent) ? 'signed' : 'bare'] = true
    }
    const [, fraction] = /^\d*[.,](\d*)$/.exec(mantissa) ?? []
    if (fraction !== undefined && (fraction.length !== 3 || /^(?:0|\d{4,})?[.,]/.test(mantissa)))
      this.hasFraction = true
    return true
  }

  private notePair(text: string): boolean {
    const pair = coordinatePair(text)
    if (pair === undefined || Math.abs(pair.first) > 180 || Math.abs(pair.second) > 180) return false
    const { first, second, decimals, isOrdered } = pair
    this.pair.first = Math.max(this.pair.first, Math.abs(first))
    this.pair.second = Math.max(this.pair.second, Math.abs(second))
    if (decimals >= 3) this.pair.precise++
    if (decimals >= 1 && text.includes(', ')) this.pair.spaced++
    if (isOrdered) this.pair.ordered++
    if (!text.startsWith('[')) this.pair.isBracketed = false
    return true
  }

  /** Records a text that does not fit, which may mean no value; too many distinct or too long ones rule out the kind. */
  private noteOdd(kind: Kind, text: string): void {
    const odd = this.odd[kind]
    const known = odd.get(text)
    if (known !== undefined) odd.set(text, known + 1)
    else if (odd.size < MAX_ODD && text.length <= 200) odd.set(text, 1)
    else this.alive.delete(kind)
  }

  private typed(kind: Kind): Typed | undefined {
    if (!this.alive.has(kind) || this.fits[kind] === 0) return undefined
    const odd = [...this.odd[kind]]
    const many = odd.reduce((sum, [, times]) => sum + times, 0)
    const share = many / (many + this.fits[kind])
    const areKnown = odd.every(([text]) => meansNothing(text))
    // Only known words mean no value: any other is data, which a type would lose.
    if (!areKnown) return undefined
    if (share > 0.9 && this.fits[kind] < 3 && !odd.every(([text]) => isPlainlyNothing(text))) return undefined
    return { nulls: odd.map(([text]) => text), nullCount: many }
  }
}

/** The blanks that accounting formats leave around numbers: ` 1,200.00 `, ` (300.00)`, ` -   ` for 0. Values of one length have none. */
class AccountingBlanks {
  private isPossible = true
  /** Blanks at the end of positive numbers, and of the dash. */
  private readonly ends = new Set<number>()
  private readonly dashEnds = new Set<number>()
  private readonly lengths = new Set<number>()

  note(raw: string): void {
    if (!this.isPossible) return
    let end = raw.length
    while (raw[end - 1] === ' ') end--
    const value = /^ ([^ ].*)$/.exec(raw.slice(0, end))?.[1] ?? ''
    if (value === '-') this.dashEnds.add(raw.length - end)
    else if (!/^[(-]/.test(value)) this.ends.add(raw.length - end)
    if (this.lengths.size < 2) this.lengths.add(raw.length)
    this.isPossible = value !== '' && this.ends.size < 2 && this.dashEnds.size < 2
  }

  /** True if a dash is the number 0. */
  get hasZero(): boolean {
    const [end = 0] = this.ends
    const [dashEnd] = this.dashEnds
    return this.isPossible && this.lengths.size > 1 && end > 0 && dashEnd === end + 2
  }
}
