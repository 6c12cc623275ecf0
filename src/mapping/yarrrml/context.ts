import type { LogicalSource } from '../ir.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { YamlText } from './node.ts'

/** A source that is declared under a name; null where it could not be read, which was reported. */
export interface NamedSource {
  readonly key: YamlText
  readonly source: LogicalSource | null
}

/** What the parts of the reader know of the whole document. */
export interface Context {
  readonly diagnostics: Diagnostics
  /** Every prefix with its namespace: given, of RDFa, declared. */
  readonly prefixes: ReadonlyMap<string, string>
  /** Prefixes that the document declares. */
  readonly declared: ReadonlySet<string>
  /** Prefixes that something was written with, filled in reading. */
  readonly usedPrefixes: Set<string>
  readonly base: string | undefined
  /** Values of `external`. */
  readonly external: ReadonlyMap<string, string>
  readonly mappingKeys: ReadonlyMap<string, YamlText>
  /** Sources with a name, at the root. */
  readonly sources: ReadonlyMap<string, NamedSource>
  /** Rules that were made so far. */
  rules: number
  /** Constants that were compared with names of mappings so far. */
  guesses: number
}
