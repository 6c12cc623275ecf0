import type { Diagnostic } from './diagnostic.ts'
import type { Mapping } from './ir.ts'
import { readRml } from './rml/read.ts'
import { type ReadOptions, readYarrrml } from './yarrrml/read.ts'

/**
 * Reads a mapping of a dataset in either language, determined by the file name, else by the text. Its sources are not used. It
 * never throws.
 *
 * @param file name of the document: `.ttl` and `.rml` are RML, `.yml` and `.yaml` are YARRRML
 */
export function readMapping(
  text: string,
  file: string,
  options: ReadOptions & { readonly base?: string } = {},
): {
  readonly mapping: Mapping | null
  readonly diagnostics: readonly Diagnostic[]
  readonly kind: MappingKind
} {
  const kind = mappingKind(text, file)
  const own = { ...options, ignoreSources: true }
  return { ...(kind === 'rml' ? readRml(text, own) : readYarrrml(text, own)), kind }
}

type MappingKind = 'yarrrml' | 'rml'

/** The language of a mapping: according to its text, because a text can be pasted into any file; else according to its file name. */
export function mappingKind(text: string, file: string): MappingKind {
  return textKind(text) ?? (/\.(ttl|rml|n3|turtle)$/i.test(file) ? 'rml' : 'yarrrml')
}

/** The beginning of a Turtle document: a directive, or a subject and what follows it. */
const TURTLE =
  /^(?:@(?:prefix|base)\s|(?:prefix|base)\s+[^\s:]*:?\s*<|<[^>\s]*>\s|_:\S+\s|\[\s*(?:\]|a\s|[\w-]+:[\w-]))/i
/** The beginning of a YAML map: a key and a colon. */
const YAML = /^(?:---|%YAML\b|\{|(?:[\w-]+|"[^"\n]*"|'[^'\n]*')\s*:(?:\s|$))/

/** The language according to the first line that is no comment; null if it matches neither. */
function textKind(text: string): MappingKind | null {
  const begin = text.slice(0, MAX_COMMENT).replace(/^(?:\ufeff|\s+|#.*(?:\n|$))+/, '')
  if (TURTLE.test(begin)) return 'rml'
  return YAML.test(begin) ? 'yarrrml' : null
}

/** Maximum characters of comments that are skipped. */
const MAX_COMMENT = 20_000
