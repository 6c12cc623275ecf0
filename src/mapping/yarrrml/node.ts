import type { LineCounter, YAMLError } from 'yaml'
import { type Diagnostic, type DiagnosticCode, severityOf } from '../diagnostic.ts'
import type { LogicalSource, MappingPlace } from '../ir.ts'
import { layoutProblems } from './layout.ts'

/** A range of a document: offsets of its first character and of the one after its last. */
export interface YamlSpan {
  readonly start: number
  readonly end: number
}

/** The content of a YAML document, each node with its range; every scalar is the author's text. */
export type YamlNode = YamlText | YamlList | YamlMap

export interface YamlText {
  readonly type: 'text'
  readonly text: string
  readonly span: YamlSpan
  /** Offset in the document of the text's first character, if the text occurs there unchanged; else null. */
  readonly verbatim: number | null
  readonly quoted: boolean
}

export interface YamlList {
  readonly type: 'list'
  readonly items: readonly YamlNode[]
  readonly span: YamlSpan
}

export interface YamlMap {
  readonly type: 'map'
  readonly entries: readonly YamlEntry[]
  readonly span: YamlSpan
  /** Its syntax: `{a: b}`, block lines, or a single `a: b` in a flow list. */
  readonly form: 'braces' | 'lines' | 'bare'
}

export interface YamlEntry {
  readonly key: YamlText
  readonly value: YamlNode
}

/** True if nothing is written: no value, `~` or `null`. */
export function isEmpty(node: YamlNode): boolean {
  return node.type === 'text' && !node.quoted && ['', '~', 'null'].includes(node.text)
}

/** Describes a node in a few words, for messages. */
export function described(node: YamlNode): string {
  switch (node.type) {
    case 'text':
      return isEmpty(node) ? 'nothing' : `the text ${quoted(node.text)}`
    case 'list':
      return `a list of ${node.items.length}`
    case 'map':
      return node.entries.length === 0
        ? 'an empty map'
        : `a map with ${node.entries.length === 1 ? 'the key' : 'the keys'} ${node.entries
            .slice(0, 5)
            .map(({ key }) => shortened(key.text))
            .join(', ')}`
  }
}

/** A text of the document as shown in messages. */
export function quoted(text: string): string {
  return `\`${shortened(text)}\``
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 60)}…` : line
}

/** A part of a text as a range of the document; the range of the whole text if it does not occur there unchanged. */
export function within(node: YamlText, from: number, to: number): YamlSpan {
  if (node.verbatim === null) return node.span
  return { start: node.verbatim + from, end: node.verbatim + Math.max(to, from) }
}

/**
 * Reports why a text is no YAML: the layout error, as far as it can be found, and the message of the parser, which often refers
 * to a later line.
 */
export function reportSyntax(text: string, errors: readonly YAMLError[], diagnostics: Diagnostics): void {
  const problems = layoutProblems(text)
  const lines = new Set<number>()
  for (const { start, end, message, hint } of problems) {
    diagnostics.report('yaml-syntax', { start, end }, '', message, hint)
    lines.add(lineStart(text, start))
  }
  for (const { code, pos, message } of errors.slice(0, problems.length === 0 ? 3 : 1)) {
    const start = Math.min(pos[0], Math.max(0, text.length - 1))
    if (lines.has(lineStart(text, start))) continue
    lines.add(lineStart(text, start))
    const span = { start, end: Math.max(pos[1], start + 1) }
    if (code === 'MULTIPLE_DOCS')
      diagnostics.report(
        'yaml-syntax',
        span,
        '',
        'a second document begins here, a mapping is one',
        'Remove the line ---, or what follows it.',
      )
    else diagnostics.report('yaml-syntax', span, '', `this is no YAML: ${message}`)
  }
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1)
}

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
export interface Context {
  readonly diagnostics: Diagnostics
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
  readonly report: (
    code: DiagnosticCode,
    span: YamlSpan,
    path: string,
    message: string,
    hint?: string,
  ) => void
  readonly reportAt: (code: DiagnosticCode, place: MappingPlace, message: string, hint?: string) => void
  readonly place: (span: YamlSpan, path: string) => MappingPlace
  readonly count: () => number
  /** In document order. */
  readonly diagnostics: () => readonly Diagnostic[]
}

/** Maximum number of reported diagnostics: further ones repeat the others. */
const MAX = 500

/** A collector of diagnostics, without duplicates at the same position. */
export function createDiagnostics(lines: LineCounter): Diagnostics {
  const found: Diagnostic[] = []
  const reported = new Set<string>()
  const place = ({ start, end }: YamlSpan, path: string): MappingPlace => {
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
    if (reported.has(key) || found.length >= MAX) return
    reported.add(key)
    const severity = severityOf(code)
    found.push({ code, severity, message, place: where, ...(hint === undefined ? {} : { hint }) })
  }
  return {
    place,
    count: () => found.length,
    reportAt,
    report: (code, span, path, message, hint) => reportAt(code, place(span, path), message, hint),
    diagnostics: () => inOrder(found),
  }
}

/** A collector for the sources of a mapping that does not use them: their errors are informational. */
export function ignoringSources(diagnostics: Diagnostics): Diagnostics {
  const codeOf = (code: DiagnosticCode) => (severityOf(code) === 'error' ? 'sources-ignored' : code)
  return {
    ...diagnostics,
    reportAt: (code, place, message) => diagnostics.reportAt(codeOf(code), place, message),
    report: (code, span, path, message) => diagnostics.report(codeOf(code), span, path, message),
  }
}

function inOrder(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...diagnostics].sort(
    ({ place: a }, { place: b }) => a.line - b.line || a.column - b.column || a.endColumn - b.endColumn,
  )
}
