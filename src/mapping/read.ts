import type { Diagnostic } from './diagnostic.ts'
import type { Mapping } from './ir.ts'
import { type MappingKind, mappingKind } from './kind.ts'
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
