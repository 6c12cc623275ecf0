import { lookup } from '../model/lookup.ts'
import { isIri } from './iri-syntax.ts'
import { isLanguageTag } from './literals.ts'
import type { BlankNode, NamedNode, Term, TripleTerm } from './term.ts'
import { RDF, XSD } from './vocab.ts'

/**
 * The only module that writes terms as N-Triples (RDF 1.1 N-Triples, section 2), which are valid in Turtle, N-Quads, TriG and
 * SPARQL, too. The escapes are those that the store returns, so text round-trips unchanged.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what has to be escaped
const SPECIAL = /["\\\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above; a pair of surrogates is one character and stays
const SPECIALS = /[\ud800-\udbff][\udc00-\udfff]|["\\\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]/g
const NAMED: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
}

/** PN_CHARS_BASE of RDF 1.2 N-Triples, section 6, as members of a class. */
const LETTERS = String.raw`A-Za-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C\u200D\u2070-\u218F\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\u{10000}-\u{EFFFF}`
const MEMBERS = String.raw`${LETTERS}0-9_:\u00B7\u0300-\u036F\u203F\u2040\-`

/** Source of an expression, with flag u, for the label of a blank node after `_:`; with the colon of RDF 1.1 N-Triples. */
export const BLANK_LABEL = `[${LETTERS}0-9_:](?:[${MEMBERS}.]*[${MEMBERS}])?`

/** The text of a literal between its quotes. A lone surrogate, which UTF-8 cannot encode, becomes U+FFFD. */
export function escapeText(text: string): string {
  return SPECIAL.test(text) ? text.replace(SPECIALS, escapeCharacter) : text
}

function escapeCharacter(character: string): string {
  if (character.length === 2) return character
  const named = lookup(NAMED, character)
  if (named !== undefined) return named
  const code = character.charCodeAt(0)
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd'
  return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`
}

/** An IRI in angle brackets. Throws where it is invalid: external input is checked with {@link isIri} before. */
export function iriText(iri: string): string {
  if (!isIri(iri)) throw new RangeError(`Not an IRI: ${iri}`)
  return `<${iri}>`
}

/** A literal; the datatype xsd:string is omitted. `language` may end in a direction (`ar--rtl`). */
export function literalText(value: string, datatype: string = XSD.string, language = ''): string {
  return `"${escapeText(value)}${literalEnd(datatype, language)}`
}

/** The text after the content of a literal: the closing quote, and language or datatype. */
export function literalEnd(datatype: string, language = ''): string {
  if (language !== '') {
    if (!isDirectedTag(language)) throw new RangeError(`Not a language tag: ${language}`)
    return `"@${language}`
  }
  return datatype === XSD.string ? '"' : `"^^${iriText(datatype)}`
}

/** True for a language tag that may end in a base direction (RDF 1.2). */
export function isDirectedTag(language: string): boolean {
  return isLanguageTag(language.replace(/--(?:ltr|rtl)$/, ''))
}

/** Any term. */
export function termText(term: Term): string {
  switch (term.type) {
    case 'iri':
      return iriText(term.value)
    case 'literal':
      return literalText(term.value, term.datatype, term.language)
    case 'blank':
      return `_:${term.value}`
    case 'triple':
      return term.value
  }
}

/** A triple as a term (RDF 1.2 N-Triples, section 2.2). */
export function tripleTerm(subject: NamedNode | BlankNode, predicate: NamedNode, object: Term): TripleTerm {
  const value = `<<( ${termText(subject)} ${termText(predicate)} ${termText(object)} )>>`
  return { type: 'triple', value, subject, predicate, object }
}

/** The term as stores hold it: language tags are equal without regard to case, and stored in lower case (RDF 1.1 Concepts, 3.3). */
export function withLowerCaseTags(term: Term): Term {
  if (term.type === 'literal') return { ...term, language: term.language.toLowerCase() }
  if (term.type !== 'triple') return term
  return tripleTerm(term.subject, term.predicate, withLowerCaseTags(term.object))
}

/** The datatype of a literal that has a language. */
export function languageDatatype(language: string): string {
  return language.includes('--') ? RDF.dirLangString : RDF.langString
}
