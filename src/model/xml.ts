import { lookup } from './lookup.ts'
import { numberText } from './number.ts'

/** The only module that writes names and texts as XML 1.0: every XML format uses it. */

const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

/** Characters that XML 1.0 cannot contain, even as references (section 2.2, "Char"); lone surrogates are checked separately. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are meant
const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/
const EVERY_ILLEGAL = new RegExp(ILLEGAL, 'g')

/** The beginning of every XML file. */
export const XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

/** True for a text that XML 1.0 can represent unchanged. */
export function isXmlText(text: string): boolean {
  return text.isWellFormed() && !ILLEGAL.test(text)
}

/**
 * Escapes a text for elements and attributes alike (XML 1.0, sections 2.4 and 3.3.3): parsers return it unchanged, because none
 * of its white space is normalised. It must contain only characters that XML allows: see {@link isXmlText}.
 */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"\t\n\r]/g, referenceTo)
}

/** Characters that must be escaped or replaced between two tags; also each half of a surrogate pair. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are meant
export const SPECIAL_IN_XML = /[&<>\r\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\ud800-\udfff]/

/** Any text between two tags, with U+FFFD instead of characters that XML 1.0 cannot contain. */
export function xmlText(text: string): string {
  if (!SPECIAL_IN_XML.test(text)) return text
  return writable(text).replace(/[&<>\r]/g, referenceTo)
}

/** Any text in the double quotes of an attribute, with U+FFFD instead of characters that XML 1.0 cannot contain. */
export function xmlAttribute(text: string): string {
  return escapeXml(writable(text))
}

function writable(text: string): string {
  return text.toWellFormed().replace(EVERY_ILLEGAL, '\ufffd')
}

function referenceTo(character: string): string {
  return lookup(REFERENCES, character) ?? character
}

/** A name without colon from any text (Namespaces in XML 1.0, "NCName"): invalid characters become `_`. */
export function xmlName(text: string): string {
  const name = text
    .replace(/[^\p{L}\p{Nd}_.-]/gu, '_')
    .replace(/[^\p{ASCII}\u00c0-\u02af\u0370-\u1fff\u3001-\ud7ff]/gu, '_')
  return /^[\p{L}_]/u.test(name) ? name : `_${name}`
}

/** A number as `xs:decimal` (XML Schema 1.0, section 3.2.3): without exponent. */
export function xmlDecimal(value: number): string {
  const text = String(value)
  return text.includes('e') ? numberText(value) : text
}

/** Makes names distinct: duplicates are numbered from the second on. */
export function distinctNames(names: readonly string[], separator = '_'): readonly string[] {
  const taken = new Set<string>()
  return names.map(name => {
    let free = name
    for (let number = 2; taken.has(free); number++) free = `${name}${separator}${number}`
    taken.add(free)
    return free
  })
}
