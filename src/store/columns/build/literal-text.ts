import { RDF, XSD } from '../../../rdf/vocab.ts'
import { TRIPLE_TERM } from '../format.ts'

/** The part of a literal after its text in N-Triples: a datatype, or a language. */
export interface LiteralEnding {
  readonly datatype: string
  readonly language: string
}

/** Placeholder for the datatype of a triple term, whose text is stored as written. */
export const TRIPLE_ENDING: LiteralEnding = { datatype: TRIPLE_TERM, language: '' }

/** Parses the part of a literal after its closing quote. */
export function literalEnding(text: string): LiteralEnding {
  if (text === '') return { datatype: XSD.string, language: '' }
  if (text.startsWith('@')) {
    const language = text.slice(1)
    return { datatype: language.includes('--') ? RDF.dirLangString : RDF.langString, language }
  }
  return { datatype: text.slice(3, -1), language: '' }
}

export const BACKSLASH_BYTE = 0x5c

/** Minimum length in bytes of a copy by function call. */
export const LONG = 64

/** JSON cannot represent infinite numbers; as bounds the largest finite ones are equivalent. */
export function finite(value: number): number {
  if (Number.isNaN(value)) return Number.MAX_VALUE
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value))
}

export function sameNumber(left: number, right: number): boolean {
  return left === right || (Number.isNaN(left) && Number.isNaN(right))
}

export function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}

/** Compares the values of the forms of integers and decimals; other forms, whose doubles are exact, compare as equal. */
export function compareDecimals(left: string, right: string): number {
  const [a, b] = [scaled(left), scaled(right)]
  if (a === null || b === null) return 0
  const places = Math.max(a.places, b.places)
  const [first, second] = [a, b].map(({ digits, places: own }) => digits * 10n ** BigInt(places - own)) as [
    bigint,
    bigint,
  ]
  return first < second ? -1 : first > second ? 1 : 0
}

function scaled(form: string): { readonly digits: bigint; readonly places: number } | null {
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(form)
  if (parts === null || form.length > 4096) return null
  const fraction = (parts[3] ?? '').replace(/0+$/, '')
  const digits = BigInt(`${parts[2]}${fraction}` || '0')
  return { digits: parts[1] === '-' ? -digits : digits, places: fraction.length }
}

const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([\s\S]))/g
const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['t', '\t'],
  ['b', '\b'],
  ['n', '\n'],
  ['r', '\r'],
  ['f', '\f'],
])

export function withoutEscapes(text: string): string {
  return text.replace(ESCAPE, (_, short?: string, long?: string, character = '') => {
    const digits = short ?? long
    if (digits !== undefined) return String.fromCodePoint(Number.parseInt(digits, 16))
    return CHARACTERS.get(character) ?? character
  })
}
