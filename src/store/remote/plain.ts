import { XSD } from '../../rdf/vocab.ts'

/** Digits that every engine keeps of a decimal. */
const DIGITS = 15
/** Some engines put older days into the calendar that was used then. */
const GREGORIAN = '1583'
const MOST_INTEGER = 2 ** 31 - 1
/** Characters beyond the first plane are ordered and counted differently, and so are control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const UNUSUAL_TEXT = /[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/

/**
 * True for a literal of a kind that engines handle alike, whose value is in canonical form. Engines part where values are
 * very large, very exact or very old, or texts have characters beyond the first plane; such values are exceptions: the
 * predicates that have some are known, and what is computed from them is computed by the embedded store.
 */
export function isPlainLiteral(value: string, datatype: string): boolean {
  switch (datatype) {
    case XSD.string:
      return !UNUSUAL_TEXT.test(value)
    case XSD.integer:
      return value.length < 12 && Math.abs(Number(value)) <= MOST_INTEGER
    case XSD.decimal:
      return value.replace(/[-.]/g, '').replace(/^0+/, '').length <= DIGITS
    case XSD.double:
      return value !== '-0' && Number.isFinite(Number(value))
    case XSD.date:
      return /^\d{4}-\d\d-\d\d$/.test(value) && value >= GREGORIAN
    case XSD.dateTime:
      return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/.test(value) && value >= GREGORIAN
    default:
      return true
  }
}
