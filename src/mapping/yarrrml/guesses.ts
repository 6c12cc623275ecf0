import { nearName } from '../../model/did-you-mean.ts'
import { isLanguageCode, XSD_NAMES } from '../vocabulary.ts'
import type { Context } from './context.ts'
import { quoted, within, type YamlText } from './node.ts'

const MAX_GUESSES = 300

/** Reports constants and templates that are literals and were probably meant to be something else. */
export function reportGuesses(context: Context, node: YamlText, path: string, constant: string | null): void {
  const { diagnostics, prefixes } = context
  const prefix = /^([\w-]+):[^\s/]/.exec(node.text)?.[1]
  if (prefix !== undefined && prefixes.has(prefix)) {
    const found = `${quoted(node.text)} is taken as text, and looks like a name with the prefix ${quoted(`${prefix}:`)}`
    diagnostics.report(
      'looks-like-curie',
      node.span,
      path,
      found,
      'Write ~iri behind it if a resource is meant.',
    )
    return
  }
  if (
    /^(www\.|https?\/\/|https?:\/?[^/\s]|https?:\/ ?\/|h?t{0,2}ps?:\/{1,2}|[a-z]{3,6}:\/\/|\/\/)[^\s]/i.test(
      node.text,
    )
  ) {
    const found = `${quoted(node.text)} is taken as text, and looks like an IRI that is not whole`
    diagnostics.report(
      'looks-like-iri-without-scheme',
      node.span,
      path,
      found,
      'IRIs begin with http:// or https://',
    )
    return
  }
  if (constant === null || context.mappingKeys.has(constant)) return
  if (!node.quoted && /^(?:value|mapping|type|datatype|language|function)[\s:]/.test(constant)) {
    const found = `${quoted(constant)} is taken as text, and looks like a key`
    diagnostics.report('looks-like-key', node.span, path, found, 'After a key comes a colon and a space.')
    return
  }
  context.guesses += 1
  if (context.guesses > MAX_GUESSES) return
  const close = constant.length < 3 ? undefined : nearName(constant, context.mappingKeys.keys())
  if (close === undefined) return
  reportNearKey(context, 'looks-like-link', close, constant)
  diagnostics.report(
    'looks-like-link',
    node.span,
    path,
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
  context.diagnostics.report(code, key.span, `mappings.${key.text}`, found)
}

/**
 * Reports a suffix that has no meaning for a value; true if it cannot be text either.
 *
 * @param value the text before the `~`
 */
export function reportSuffix(
  context: Context,
  node: YamlText,
  path: string,
  value: string,
  suffix: string,
): boolean {
  const { diagnostics } = context
  const at = within(node, node.text.length - suffix.length - 1, node.text.length)
  if (suffix === 'lang') {
    const hint = 'Write [predicate, value, en~lang], or objects: [[value, en~lang]].'
    diagnostics.report('value-shape', at, path, 'a language was found where a value is expected', hint)
    return true
  }
  const meant = intendedAnnotation(context, value, suffix)
  if (meant !== null) {
    const found = `${quoted(node.text)} is taken as text: ~${suffix} is no suffix that a value can have`
    diagnostics.report('suffix-unknown', at, path, found, meant)
    return false
  }
  const near = nearName(suffix, ['iri', 'lang'])
  if (near === undefined) return false
  diagnostics.report('value-shape', at, path, `the suffix ~${suffix} is not known`, `Did you mean ~${near}?`)
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
