import { nearName } from '../../model/did-you-mean.ts'
import { isLanguageTag, isUnknownDatatype } from '../../rdf/literals.ts'
import { RDF, XSD } from '../../rdf/vocab.ts'
import { constantText, type Segment } from '../ir.ts'
import { isLanguageCode, XSD_NAMES } from '../known-terms.ts'
import type { Context } from './context.ts'
import { DATATYPE, readIri } from './iris.ts'
import { quoted, within, type YamlText } from './node.ts'
import { segmentsOf } from './template.ts'

const MAX_GUESSES = 300

/** Reports constants and templates that are literals and were probably meant to be something else. */
export function reportGuesses(context: Context, node: YamlText, constant: string | null): void {
  const { prefixes } = context
  const prefix = /^([\w-]+):[^\s/]/.exec(node.text)?.[1]
  if (prefix !== undefined && prefixes.has(prefix)) {
    const found = `${quoted(node.text)} is taken as text, and looks like a name with the prefix ${quoted(`${prefix}:`)}`
    context.report('looks-like-curie', node, found, 'Write ~iri behind it if a resource is meant.')
    return
  }
  if (
    /^(www\.|https?\/\/|https?:\/?[^/\s]|https?:\/ ?\/|h?t{0,2}ps?:\/{1,2}|[a-z]{3,6}:\/\/|\/\/)[^\s]/i.test(
      node.text,
    )
  ) {
    const found = `${quoted(node.text)} is taken as text, and looks like an IRI that is not whole`
    context.report('looks-like-iri-without-scheme', node, found, 'IRIs begin with http:// or https://')
    return
  }
  if (constant === null || context.mappingKeys.has(constant)) return
  if (!node.quoted && /^(?:value|mapping|type|datatype|language|function)[\s:]/.test(constant)) {
    const found = `${quoted(constant)} is taken as text, and looks like a key`
    context.report('looks-like-key', node, found, 'After a key comes a colon and a space.')
    return
  }
  context.guesses += 1
  if (context.guesses > MAX_GUESSES) return
  const close = constant.length < 3 ? undefined : nearName(constant, context.mappingKeys.keys())
  if (close === undefined) return
  reportNearKey(context, 'looks-like-link', close, constant)
  context.report(
    'looks-like-link',
    node,
    `${quoted(constant)} is taken as text; no mapping has that name, ${quoted(close)} is near`,
    `Write ${close} for a link to that mapping, or {value: …, type: literal} for the text.`,
  )
}

/** Reports a mapping whose name is nearly that of a link: either may be misspelt. */
export function reportNearKey(
  context: Context,
  code: 'link-unknown' | 'looks-like-link',
  near: string | undefined,
  name: string,
): void {
  const key = near === undefined ? undefined : context.mappingKeys.get(near)
  if (key === undefined) return
  const found = `the mapping has this name, and ${quoted(name)} is used elsewhere`
  context.report(code, key, found)
}

/**
 * Reports a suffix that has no meaning for a value; true if it cannot be text either.
 *
 * @param value the text before the `~`
 */
export function reportSuffix(context: Context, node: YamlText, value: string, suffix: string): boolean {
  const at = within(node, node.text.length - suffix.length - 1, node.text.length)
  if (suffix === 'lang') {
    const hint = 'Write [predicate, value, en~lang], or objects: [[value, en~lang]].'
    context.report('value-shape', at, 'a language was found where a value is expected', hint)
    return true
  }
  const meant = intendedAnnotation(context, value, suffix)
  if (meant !== null) {
    const found = `${quoted(node.text)} is taken as text: ~${suffix} is no suffix that a value can have`
    context.report('suffix-unknown', at, found, meant)
    return false
  }
  const near = nearName(suffix, ['iri', 'lang'])
  if (near === undefined) return false
  context.report('value-shape', at, `the suffix ~${suffix} is not known`, `Did you mean ~${near}?`)
  return true
}

/** The replacement for a suffix that is a datatype or a language, or follows a reference; null for other text. */
function intendedAnnotation({ prefixes }: Context, value: string, suffix: string): string | null {
  const third = (kind: string, annotation: string) =>
    `The ${kind} is the third element of the statement: [predicate, ${value}, ${annotation}].`
  const prefix = /^([^:/]+):[^/]/.exec(suffix)?.[1]
  if ((prefix !== undefined && prefixes.has(prefix)) || /^<?https?:\/\//i.test(suffix))
    return third('datatype', suffix)
  if (!value.endsWith(')') || !value.includes('$(')) return null
  if (XSD_NAMES.includes(suffix)) return third('datatype', `xsd:${suffix}`)
  if (isLanguageCode(suffix.split(/[-_]/)[0] ?? ''))
    return third('language', `${suffix.replaceAll('_', '-')}~lang`)
  return nearName(suffix, ['iri', 'lang']) === undefined
    ? 'The one suffix of a value is ~iri; a sign that is part of the text is written \\~.'
    : null
}

/** The annotations of the value of an object. */
export interface ObjectWish {
  /** True if the predicate is rdf:type. */
  readonly isClass: boolean
  readonly type?: YamlText | undefined
  /** The third element of a statement, or the second of an object. */
  readonly mark?: YamlText | undefined
  readonly datatype?: YamlText | undefined
  readonly language?: YamlText | undefined
}

interface LiteralAnnotations {
  readonly datatype?: string | readonly Segment[]
  readonly language?: string | readonly Segment[]
}

/**
 * Datatype and language; null if they are invalid, which is reported.
 *
 * @param value the text that they belong to
 */
export function readLiteralAnnotations(
  context: Context,
  { mark, datatype, language }: ObjectWish,
  value: string,
): LiteralAnnotations | null {
  const tagged = mark === undefined ? null : /^(.*)~lang$/s.exec(mark.text)
  const tag = language ?? (tagged === null ? undefined : mark)
  const type = datatype ?? (tagged === null ? mark : undefined)
  if (tag !== undefined && type !== undefined && !isLangString(context, type)) {
    const found = 'a literal has either a datatype or a language'
    return context.report('datatype-and-language', language ?? tag, found, 'Take one of them away.')
  }
  if (tag !== undefined) {
    const bare = tag.text.replace(/~lang$/, '')
    const read = readLanguage(context, { ...tag, text: bare })
    return read === null ? null : { language: read }
  }
  if (type === undefined) return {}
  const read = readDatatype(context, type)
  if (read === null) return null
  if (datatype === undefined) reportValueAsDatatype(context, type, read, value)
  return { datatype: read }
}

/** True for rdf:langString, the datatype of every literal with a language. */
function isLangString(context: Context, node: YamlText): boolean {
  const term = readIri(context, node, DATATYPE)
  return term?.type === 'iri' && constantText(term.segments) === RDF.langString
}

/**
 * Reports a value of the records in the place of a datatype: a comma in an unquoted text turns the rest of it into a third
 * element. Mappings with datatypes in a field use the key `datatype`.
 */
function reportValueAsDatatype(
  context: Context,
  node: YamlText,
  datatype: string | readonly Segment[],
  value: string,
): void {
  if (typeof datatype === 'string' || datatype.length > 1) return
  const item = /[\s,:[\]{}#]/.test(value) ? `"${value}"` : value
  context.report(
    'datatype-from-field',
    node,
    `the third element of a statement is a datatype or a language, found ${quoted(node.text)}`,
    `For one text with a comma write it in quotes: "${value}, ${node.text}". For two values write them as a list: ` +
      `[${item}, ${node.text}]. Where the field holds IRIs of datatypes: {value: ${item}, datatype: ${node.text}}.`,
  )
}

function readLanguage(context: Context, node: YamlText): string | readonly Segment[] | null {
  const read = segmentsOf(context, node)
  if (read === null) return null
  const tag = constantText(read.segments)
  if (tag === null) return read.segments
  if (!isLanguageTag(tag)) {
    const hint = /_/.test(tag) ? `Write ${tag.replaceAll('_', '-')}.` : 'Languages are written en, fr, de-CH.'
    return context.report('language-invalid', node, `${quoted(tag)} is no language tag`, hint)
  }
  if (!isLanguageCode(tag.split('-')[0] ?? ''))
    context.report(
      'language-unusual',
      node,
      `${quoted(tag)} begins with no two-letter code of ISO 639-1`,
      'Languages are written with their code: en, fr, de.',
    )
  return tag
}

function readDatatype(context: Context, node: YamlText): string | readonly Segment[] | null {
  const term = readIri(context, node, DATATYPE)
  if (term?.type !== 'iri') return null
  const iri = constantText(term.segments)
  if (iri === null) return term.segments
  if (isUnknownDatatype(iri)) {
    const name = iri.slice(XSD.string.length - 'string'.length)
    const close = nearName(name, XSD_NAMES)
    return context.report(
      'datatype-unknown',
      node,
      `XML Schema has no datatype ${quoted(name)}`,
      close === undefined ? undefined : `Did you mean xsd:${close}?`,
    )
  }
  if (iri === RDF.langString) {
    const found = 'rdf:langString needs a language'
    return context.report('datatype-and-language', node, found, 'Write the language instead: en~lang.')
  }
  return iri
}
