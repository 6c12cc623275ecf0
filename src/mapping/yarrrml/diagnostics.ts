import type { LineCounter, YAMLError } from 'yaml'
import { type Diagnostic, type DiagnosticCode, severityOf } from '../diagnostic.ts'
import type { MappingPlace } from '../ir.ts'
import { layoutProblems } from './layout.ts'
import type { YamlSpan } from './node.ts'

/** Collects the diagnostics of a reader. */
export interface Diagnostics {
  /** Adds a diagnostic; null, for what cannot be read. */
  readonly report: (
    code: DiagnosticCode,
    span: YamlSpan,
    path: string,
    message: string,
    hint?: string,
  ) => null
  readonly reportAt: (code: DiagnosticCode, place: MappingPlace, message: string, hint?: string) => null
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
    if (reported.has(key) || found.length >= MAX) return null
    reported.add(key)
    const severity = severityOf(code)
    found.push({ code, severity, message, place: where, ...(hint === undefined ? {} : { hint }) })
    return null
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
