import type { Diagnostic } from './diagnostic.ts'
import type { Mapping } from './ir.ts'
import { readRml } from './rml/read.ts'
import { type ReadOptions, readYarrrml } from './yarrrml/read.ts'

/**
 * Reads a mapping in either language, told apart by the name of its file, else by its text. Whatever the text is, it
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
  readonly kind: 'yarrrml' | 'rml'
} {
  const kind = kindOf(text, file)
  return { ...(kind === 'rml' ? readRml(text, options) : readYarrrml(text, options)), kind }
}

function kindOf(text: string, file: string): 'yarrrml' | 'rml' {
  if (/\.(ttl|rml|n3|turtle)$/i.test(file)) return 'rml'
  if (/\.(ya?ml|yarrrml)$/i.test(file)) return 'yarrrml'
  return /^\s*(@prefix|@base|PREFIX|BASE|<[^>\s]*>|_:)/m.test(text.slice(0, 10_000)) ? 'rml' : 'yarrrml'
}
