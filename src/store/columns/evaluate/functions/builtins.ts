import { randomUUID } from 'node:crypto'
import { memoised } from '../../../../model/memoised.ts'
import { civilOf } from '../../../../model/time.ts'
import { isLanguageTag } from '../../../../rdf/literals.ts'
import { tripleTerm } from '../../../../rdf/ntriples.ts'
import { resolveIri } from '../../../../rdf/resolve.ts'
import { RDF, XSD } from '../../../../rdf/vocab.ts'
import { type AlgebraExpression, operandsOf } from '../../../../sparql/algebra.ts'
import { checkTextLength } from '../evaluation-limits.ts'
import * as decimals from '../vectors/decimal.ts'
import { scaledOf, scaleOf, zoneForm } from '../vectors/exact.ts'
import { ROUNDINGS } from '../vectors/number-vectors.ts'
import {
  bigInteger,
  decimal,
  double,
  float,
  integerTerm,
  literalOf,
  type MomentValue,
  stringOf,
  type TermValue,
  type TextValue,
  termOf,
  termValue,
  text,
  truth,
} from '../vectors/value.ts'
import { durationOf } from './arithmetic.ts'
import type { ArgumentValue, FunctionContext } from './extension-function.ts'
import { compileRegex, type Regex } from './regex.ts'
import {
  areCompatible,
  around,
  concatenated,
  digestOf,
  encodeForUri,
  languageMatches,
  lengthOf,
  substring,
} from './texts.ts'

/** A function of values that are all bound; null is an error. */
export type Builtin = (args: readonly TermValue[], context: FunctionContext) => TermValue | null

/** The functions of SPARQL 1.1 Query, sections 17.4.2 to 17.4.6, except those that handle errors or unbound variables. */
export const BUILTINS: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ['STR', ([value]) => textOrNull(value)],
  ['LANG', ([value]) => (isLiteral(value) ? text(languageOf(value)) : null)],
  [
    'LANGMATCHES',
    ([tag, range]) =>
      isPlain(tag) && isPlain(range) ? truth(languageMatches(tag.value, range.value)) : null,
  ],
  ['DATATYPE', ([value]) => datatype(value)],
  ['IRI', ([value], context) => iri(value, context)],
  ['URI', ([value], context) => iri(value, context)],
  ['BNODE', (_, { freshBlank }) => ({ type: 'blank', value: freshBlank() })],
  ['STRDT', ([value, type]) => typed(value, type)],
  ['STRLANG', ([value, tag]) => tagged(value, tag)],
  ['UUID', () => ({ type: 'iri', value: `urn:uuid:${randomUUID()}` })],
  ['STRUUID', () => text(randomUUID())],
  ['RAND', (_, { random }) => double(random())],
  ['NOW', (_, { now }) => termValue(literalOf(now.toISOString(), XSD.dateTime))],
  ['SAMETERM', ([left, right]) => truth(isSameTerm(left as TermValue, right as TermValue))],
  ...['ISIRI', 'ISURI'].map((name): [string, Builtin] => [name, ([value]) => truth(value?.type === 'iri')]),
  ['ISBLANK', ([value]) => truth(value?.type === 'blank')],
  ['ISLITERAL', ([value]) => truth(isLiteral(value))],
  ['ISNUMERIC', ([value]) => truth(value?.type === 'number')],
  ['STRLEN', ([value]) => (value?.type === 'text' ? integerTerm(lengthOf(value.value)) : null)],
  ['SUBSTR', ([value, start, length]) => substr(value, start, length)],
  ['UCASE', ([value]) => mapText(value, each => each.toUpperCase())],
  ['LCASE', ([value]) => mapText(value, each => each.toLowerCase())],
  ['STRSTARTS', ([a, b]) => onCompatible(a, b, (whole, part) => truth(whole.value.startsWith(part.value)))],
  ['STRENDS', ([a, b]) => onCompatible(a, b, (whole, part) => truth(whole.value.endsWith(part.value)))],
  ['CONTAINS', ([a, b]) => onCompatible(a, b, (whole, part) => truth(whole.value.includes(part.value)))],
  ['STRBEFORE', ([a, b]) => onCompatible(a, b, (whole, part) => around(whole, part, 'before'))],
  ['STRAFTER', ([a, b]) => onCompatible(a, b, (whole, part) => around(whole, part, 'after'))],
  ['ENCODE_FOR_URI', ([value]) => (value?.type === 'text' ? text(encodeForUri(value.value)) : null)],
  ['CONCAT', concat],
  ['REGEX', ([value, pattern, flags], context) => regex(value, pattern, flags, context)],
  ['REPLACE', replace],
  ['ABS', ([value]) => numeric(value, ROUNDINGS.ABS, exact => (exact < 0n ? -exact : exact))],
  ['CEIL', ([value]) => numeric(value, ROUNDINGS.CEIL, (exact, places) => -decimals.floor(-exact, places))],
  ['FLOOR', ([value]) => numeric(value, ROUNDINGS.FLOOR, decimals.floor)],
  ['ROUND', ([value]) => numeric(value, ROUNDINGS.ROUND, decimals.round)],
  ['YEAR', ([value]) => civil(value, YEARS, ({ year }) => year)],
  ['MONTH', ([value]) => civil(value, MONTHS, ({ month }) => month)],
  ['DAY', ([value]) => civil(value, DAYS, ({ day }) => day)],
  ['HOURS', ([value]) => clock(value, seconds => Math.floor(seconds / 3600))],
  ['MINUTES', ([value]) => clock(value, seconds => Math.floor(seconds / 60) % 60)],
  ['SECONDS', ([value]) => secondsOf(value)],
  [
    'TIMEZONE',
    ([value]) =>
      value?.type === 'moment' && value.offset !== null
        ? durationOf(0, 60 * value.offset, XSD.dayTimeDuration)
        : null,
  ],
  ['TZ', ([value]) => (value?.type === 'moment' ? text(value.offset === null ? '' : zoneOf(value)) : null)],
  ...['MD5', 'SHA1', 'SHA256', 'SHA384', 'SHA512'].map((name): [string, Builtin] => [
    name,
    ([value]) => (isPlain(value) ? digestOf(name.toLowerCase(), value.value) : null),
  ]),
  ['LANGDIR', ([value]) => (isLiteral(value) ? text(directionOf(value)) : null)],
  ['HASLANG', ([value]) => truth(value?.type === 'text' && value.language !== '')],
  ['HASLANGDIR', ([value]) => truth(value?.type === 'text' && value.language.includes('--'))],
  ['ISTRIPLE', ([value]) => truth(value?.type === 'triple')],
  ['TRIPLE', ([subject, predicate, object]) => triple(subject, predicate, object)],
  ['SUBJECT', ([value]) => (value?.type === 'triple' ? termValue(value.term.subject) : null)],
  ['PREDICATE', ([value]) => (value?.type === 'triple' ? termValue(value.term.predicate) : null)],
  ['OBJECT', ([value]) => (value?.type === 'triple' ? termValue(value.term.object) : null)],
  ['STRLANGDIR', ([value, tag, direction]) => directed(value, tag, direction)],
])

/** Functions whose results differ between calls. */
const VOLATILE: ReadonlySet<string> = new Set(['RAND', 'UUID', 'STRUUID', 'BNODE'])

/** True for an expression that always has the same value for the same values of its variables within one query. */
export function isStable(expression: AlgebraExpression): boolean {
  if (expression.type === 'exists' || (expression.type === 'builtin' && VOLATILE.has(expression.name)))
    return false
  return operandsOf(expression).every(isStable)
}

function isLiteral(value: ArgumentValue): value is Exclude<TermValue, { type: 'iri' | 'blank' | 'triple' }> {
  return value !== undefined && value.type !== 'iri' && value.type !== 'blank' && value.type !== 'triple'
}

/** True for a text without a language: a simple literal or an xsd:string. */
function isPlain(value: ArgumentValue): value is TextValue {
  return value?.type === 'text' && value.language === ''
}

function textOrNull(value: ArgumentValue): TermValue | null {
  if (isPlain(value)) return value
  const form = value === undefined ? null : stringOf(value)
  return form === null ? null : text(form)
}

function languageOf(value: TermValue): string {
  return value.type === 'text' ? value.language.replace(/--(?:ltr|rtl)$/, '') : ''
}

function directionOf(value: TermValue): string {
  return value.type === 'text' ? (/--(ltr|rtl)$/.exec(value.language)?.[1] ?? '') : ''
}

function datatype(value: ArgumentValue): TermValue | null {
  if (!isLiteral(value)) return null
  const term = termOf(value)
  return term.type === 'literal' ? { type: 'iri', value: term.datatype } : null
}

function iri(value: ArgumentValue, { base }: FunctionContext): TermValue | null {
  if (value?.type === 'iri') return value
  if (!isPlain(value)) return null
  const resolved = resolveIri(value.value, base)
  return resolved === null ? null : { type: 'iri', value: resolved }
}

function typed(value: ArgumentValue, type: ArgumentValue): TermValue | null {
  if (!isPlain(value) || type?.type !== 'iri') return null
  if (type.value === RDF.langString || type.value === RDF.dirLangString) return null
  return termValue(literalOf(value.value, type.value))
}

function tagged(value: ArgumentValue, tag: ArgumentValue): TermValue | null {
  if (!isPlain(value) || !isPlain(tag)) return null
  return isLanguageTag(tag.value) ? text(value.value, tag.value) : null
}

function directed(value: ArgumentValue, tag: ArgumentValue, direction: ArgumentValue): TermValue | null {
  if (!isPlain(direction) || !/^(?:ltr|rtl)$/.test(direction.value)) return null
  const literal = tagged(value, tag)
  return literal?.type === 'text' ? text(literal.value, `${literal.language}--${direction.value}`) : null
}

/** A triple term; an error where no triple can have these parts (SPARQL 1.2 Query, section 17.4.6.2). */
function triple(subject: ArgumentValue, predicate: ArgumentValue, object: ArgumentValue): TermValue | null {
  if (subject?.type !== 'iri' && subject?.type !== 'blank') return null
  if (predicate?.type !== 'iri' || object === undefined) return null
  return { type: 'triple', term: tripleTerm(subject, predicate, termOf(object)) }
}

/** True for the same term; a computed number is in canonical form. */
function isSameTerm(left: TermValue, right: TermValue): boolean {
  const [a, b] = [termOf(left), termOf(right)]
  if (a.type !== b.type || a.value !== b.value) return false
  if (a.type !== 'literal' || b.type !== 'literal') return true
  return a.datatype === b.datatype && a.language.toLowerCase() === b.language.toLowerCase()
}

function onCompatible(
  left: ArgumentValue,
  right: ArgumentValue,
  call: (left: TextValue, right: TextValue) => TermValue,
): TermValue | null {
  const areTexts = left?.type === 'text' && right?.type === 'text'
  return areTexts && areCompatible(left, right) ? call(left, right) : null
}

function mapText(value: ArgumentValue, map: (text: string) => string): TermValue | null {
  return value?.type === 'text' ? text(map(value.value), value.language) : null
}

function substr(value: ArgumentValue, start: ArgumentValue, length: ArgumentValue): TermValue | null {
  if (value?.type !== 'text' || start?.type !== 'number') return null
  if (length === undefined) return text(substring(value.value, start.value, null), value.language)
  return length.type === 'number'
    ? text(substring(value.value, start.value, length.value), value.language)
    : null
}

function concat(args: readonly TermValue[]): TermValue | null {
  const parts: TextValue[] = []
  let length = 0
  for (const arg of args) {
    if (arg.type !== 'text') return null
    parts.push(arg)
    length += arg.value.length
  }
  checkTextLength(length)
  return concatenated(parts)
}

/** A regular expression, compiled once per query; null where it is invalid. */
export function regexOf(
  pattern: string,
  flags: string,
  { regexes }: Pick<FunctionContext, 'regexes'>,
): Regex | null {
  return memoised(regexes, `${flags}/${pattern}`, () => compileRegex(pattern, flags))
}

function regex(
  value: ArgumentValue,
  pattern: ArgumentValue,
  flags: ArgumentValue,
  context: FunctionContext,
): TermValue | null {
  if (value?.type !== 'text' || !isPlain(pattern)) return null
  if (flags !== undefined && !isPlain(flags)) return null
  const compiled = regexOf(pattern.value, flags?.value ?? '', context)
  return compiled === null ? null : truth(compiled.test(value.value))
}

function replace(args: readonly TermValue[], context: FunctionContext): TermValue | null {
  const [value, pattern, replacement, flags] = args
  if (value?.type !== 'text' || !isPlain(pattern) || !isPlain(replacement)) return null
  if (flags !== undefined && !isPlain(flags)) return null
  const compiled = regexOf(pattern.value, flags?.value ?? '', context)
  const replaced = compiled?.replace(value.value, replacement.value, () => context.check?.()) ?? null
  if (replaced === null) return null
  checkTextLength(replaced.length)
  return text(replaced, value.language)
}

/** Applies a function to a number of any kind. */
function numeric(
  value: ArgumentValue,
  near: (value: number) => number,
  exact: (value: bigint, places?: number) => bigint,
): TermValue | null {
  if (value?.type !== 'number') return null
  switch (value.kind) {
    case 'double':
      return double(near(value.value))
    case 'float':
      return float(near(value.value))
    case 'decimal':
      return decimal(exact(scaledOf(value, scaleOf(value)), scaleOf(value)), scaleOf(value))
    case 'integer': {
      // Whole numbers need no rounding: only ABS changes them.
      if (value.exact === undefined) return integerTerm(near(value.value))
      return bigInteger(decimals.truncate(exact(decimals.fromInteger(value.exact))))
    }
  }
}

const DATES = [XSD.dateTime, XSD.dateTimeStamp, XSD.date]
const YEARS: ReadonlySet<string> = new Set([...DATES, XSD.gYear, XSD.gYearMonth])
const MONTHS: ReadonlySet<string> = new Set([...DATES, XSD.gYearMonth, XSD.gMonth, XSD.gMonthDay])
const DAYS: ReadonlySet<string> = new Set([...DATES, XSD.gMonthDay, XSD.gDay])
const CLOCKS: ReadonlySet<string> = new Set([XSD.dateTime, XSD.dateTimeStamp, XSD.time])

/** The local time in whole seconds. */
function localSeconds({ seconds, offset }: MomentValue): number {
  return Math.floor(seconds) + 60 * (offset ?? 0)
}

function civil(
  value: ArgumentValue,
  datatypes: ReadonlySet<string>,
  part: (day: ReturnType<typeof civilOf>) => number,
): TermValue | null {
  if (value?.type !== 'moment' || !datatypes.has(value.datatype)) return null
  return integerTerm(part(civilOf(Math.floor(localSeconds(value) / 86_400))))
}

function clock(value: ArgumentValue, part: (seconds: number) => number): TermValue | null {
  if (value?.type !== 'moment' || !CLOCKS.has(value.datatype)) return null
  const local = localSeconds(value)
  return integerTerm(part(local - Math.floor(local / 86_400) * 86_400))
}

/** The seconds as in the literal, including their fraction: an xsd:decimal. */
function secondsOf(value: ArgumentValue): TermValue | null {
  if (value?.type !== 'moment' || !CLOCKS.has(value.datatype)) return null
  const form = /:(\d\d(?:\.\d+)?)(?:Z|[+-]\d\d:\d\d)?$/.exec(value.term.value)?.[1]
  return form === undefined
    ? null
    : decimal(decimals.parseDecimal(form, decimals.placesOfForm(form)), decimals.placesOfForm(form))
}

function zoneOf({ offset, term }: MomentValue): string {
  const own = /(?:Z|[+-]\d\d:\d\d)$/.exec(term.value)?.[0]
  return own ?? zoneForm(offset ?? 0)
}
