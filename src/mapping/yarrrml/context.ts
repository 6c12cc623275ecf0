import type { LineCounter } from 'yaml'
import {
  type Diagnostic,
  type DiagnosticCode,
  diagnosticOf,
  isOneTooMany,
  severityOf,
} from '../diagnostic.ts'
import type { LogicalSource, MappingPlace } from '../ir.ts'
import type { YamlNode, YamlPart, YamlText } from './node.ts'

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
  readonly condition: YamlNode
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

/** Collects the diagnostics of a reader. */
export interface Diagnostics {
  /** Adds a diagnostic; null, for what cannot be read. */
  readonly report: (code: DiagnosticCode, part: YamlPart, message: string, hint?: string) => null
  readonly reportAt: (code: DiagnosticCode, place: MappingPlace, message: string, hint?: string) => null
  readonly place: (part: YamlPart) => MappingPlace
  readonly count: () => number
  /** In document order. */
  readonly diagnostics: () => readonly Diagnostic[]
}

/** A collector of diagnostics, without duplicates at the same position. */
export function createDiagnostics(lines: LineCounter): Diagnostics {
  const found: Diagnostic[] = []
  const reported = new Set<string>()
  const place = ({ span: { start, end }, path }: YamlPart): MappingPlace => {
    const first = lines.linePos(start)
    const last = lines.linePos(Math.max(start, end))
    return {
      line: Math.max(1, first.line),
      column: Math.max(1, first.col),
      endLine: Math.max(1, last.line),
      endColumn: Math.max(1, last.col),
      path,
    }
  }
  const reportAt: Diagnostics['reportAt'] = (code, where, message, hint) => {
    const key = `${code} ${where.line} ${where.column} ${message}`
    if (reported.has(key) || isOneTooMany(code, found)) return null
    reported.add(key)
    found.push(diagnosticOf(code, where, message, hint))
    return null
  }
  return {
    place,
    count: () => found.length,
    reportAt,
    report: (code, part, message, hint) => reportAt(code, place(part), message, hint),
    diagnostics: () => inOrder(found),
  }
}

/** A collector for the sources of a mapping that does not use them: their errors are informational. */
export function ignoringSources(diagnostics: Diagnostics): Diagnostics {
  const codeOf = (code: DiagnosticCode) => (severityOf(code) === 'error' ? 'sources-ignored' : code)
  return {
    ...diagnostics,
    reportAt: (code, place, message) => diagnostics.reportAt(codeOf(code), place, message),
    report: (code, part, message) => diagnostics.report(codeOf(code), part, message),
  }
}

function inOrder(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...diagnostics].sort(
    ({ place: a }, { place: b }) => a.line - b.line || a.column - b.column || a.endColumn - b.endColumn,
  )
}
