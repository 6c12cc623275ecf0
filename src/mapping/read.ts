import { datasetIri, fieldIri } from '../rdf/minted-iris.ts'
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

/**
 * The prefixes that a dataset's own mapping may use in addition to those of RDFa: `portal:` is the namespace of the portal's
 * resources, `field:` that of the dataset's fields as predicates.
 *
 * @param base the portal's public address without a trailing slash
 */
export function portalPrefixes(base: string, datasetId: string): Readonly<Record<string, string>> {
  return { portal: datasetIri(base, ''), field: fieldIri(base, datasetId, '') }
}
