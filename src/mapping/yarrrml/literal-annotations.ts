import { nearName } from '../../model/did-you-mean.ts'
import { isLanguageTag, isUnknownDatatype } from '../../rdf/literals.ts'
import { RDF, XSD } from '../../rdf/vocab.ts'
import type { Segment } from '../ir.ts'
import { constantText, isLanguageCode, XSD_NAMES } from '../vocabulary.ts'
import type { Context } from './context.ts'
import { DATATYPE, readIri } from './iris.ts'
import { quoted, type YamlText } from './node.ts'
import { segmentsOf } from './template.ts'

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

export interface LiteralAnnotations {
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
  path: string,
  { mark, datatype, language }: ObjectWish,
  value: string,
): LiteralAnnotations | null {
  const tagged = mark === undefined ? null : /^(.*)~lang$/s.exec(mark.text)
  const tag = language ?? (tagged === null ? undefined : mark)
  const type = datatype ?? (tagged === null ? mark : undefined)
  if (tag !== undefined && type !== undefined && !isLangString(context, type, path)) {
    const found = 'a literal has either a datatype or a language'
    context.diagnostics.report(
      'datatype-and-language',
      (language ?? tag).span,
      path,
      found,
      'Take one of them away.',
    )
    return null
  }
  if (tag !== undefined) {
    const bare = tag.text.replace(/~lang$/, '')
    const read = readLanguage(context, { ...tag, text: bare }, path)
    return read === null ? null : { language: read }
  }
  if (type === undefined) return {}
  const read = readDatatype(context, type, path)
  if (read === null) return null
  if (datatype === undefined) reportValueAsDatatype(context, type, path, read, value)
  return { datatype: read }
}

/** True for rdf:langString, the datatype of every literal with a language. */
function isLangString(context: Context, node: YamlText, path: string): boolean {
  const term = readIri(context, node, path, DATATYPE)
  return term?.type === 'iri' && constantText(term.segments) === RDF.langString
}

/**
 * Reports a value of the records in the place of a datatype: a comma in an unquoted text turns the rest of it into a third
 * element. Mappings with datatypes in a field use the key `datatype`.
 */
function reportValueAsDatatype(
  context: Context,
  node: YamlText,
  path: string,
  datatype: string | readonly Segment[],
  value: string,
): void {
  if (typeof datatype === 'string' || datatype.length > 1) return
  const item = /[\s,:[\]{}#]/.test(value) ? `"${value}"` : value
  context.diagnostics.report(
    'datatype-from-field',
    node.span,
    path,
    `the third element of a statement is a datatype or a language, found ${quoted(node.text)}`,
    `For one text with a comma write it in quotes: "${value}, ${node.text}". For two values write them as a list: ` +
      `[${item}, ${node.text}]. Where the field holds IRIs of datatypes: {value: ${item}, datatype: ${node.text}}.`,
  )
}

function readLanguage(context: Context, node: YamlText, path: string): string | readonly Segment[] | null {
  const read = segmentsOf(context, node, path)
  if (read === null) return null
  const tag = constantText(read.segments)
  if (tag === null) return read.segments
  if (!isLanguageTag(tag)) {
    const hint = /_/.test(tag) ? `Write ${tag.replaceAll('_', '-')}.` : 'Languages are written en, fr, de-CH.'
    context.diagnostics.report('language-invalid', node.span, path, `${quoted(tag)} is no language tag`, hint)
    return null
  }
  if (!isLanguageCode(tag.split('-')[0] ?? ''))
    context.diagnostics.report(
      'language-unusual',
      node.span,
      path,
      `${quoted(tag)} begins with no two-letter code of ISO 639-1`,
      'Languages are written with their code: en, fr, de.',
    )
  return tag
}

function readDatatype(context: Context, node: YamlText, path: string): string | readonly Segment[] | null {
  const term = readIri(context, node, path, DATATYPE)
  if (term?.type !== 'iri') return null
  const iri = constantText(term.segments)
  if (iri === null) return term.segments
  if (isUnknownDatatype(iri)) {
    const name = iri.slice(XSD.string.length - 'string'.length)
    const close = nearName(name, XSD_NAMES)
    context.diagnostics.report(
      'datatype-unknown',
      node.span,
      path,
      `XML Schema has no datatype ${quoted(name)}`,
      close === undefined ? undefined : `Did you mean xsd:${close}?`,
    )
    return null
  }
  if (iri === RDF.langString) {
    const found = 'rdf:langString needs a language'
    context.diagnostics.report(
      'datatype-and-language',
      node.span,
      path,
      found,
      'Write the language instead: en~lang.',
    )
    return null
  }
  return iri
}
