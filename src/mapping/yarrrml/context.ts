import type { LogicalSource } from '../ir.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { YamlSpan, YamlText } from './node.ts'

/** A source that is declared under a name; null if it could not be read, which was reported. */
export interface NamedSource {
  readonly key: YamlText
  readonly source: LogicalSource | null
}

/** The condition of a link, which is checked once the subjects of all mappings are known. */
interface JoinCondition {
  readonly target: string
  /** The reference that both sides have. */
  readonly field: string
  readonly span: YamlSpan
  readonly path: string
}

/** The state of the whole document that the parts of the reader share. */
export interface Context extends Diagnostics {
  /** The collector for problems of sources. */
  readonly sourceDiagnostics: Diagnostics
  /** Every prefix with its namespace: predefined, of RDFa, declared. */
  readonly prefixes: ReadonlyMap<string, string>
  readonly declared: ReadonlySet<string>
  /** Prefixes that were used, collected during reading. */
  readonly usedPrefixes: Set<string>
  readonly base: string | undefined
  /** Values of `external`. */
  readonly external: ReadonlyMap<string, string>
  readonly mappingKeys: ReadonlyMap<string, YamlText>
  /** Named sources, at the root. */
  readonly sources: ReadonlyMap<string, NamedSource>
  /** Conditions of links, collected during reading. */
  readonly joins: JoinCondition[]
  rules: number
  /** Number of constants that were compared with names of mappings so far. */
  guesses: number
}
