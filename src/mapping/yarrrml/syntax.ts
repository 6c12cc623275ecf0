import type { YAMLError } from 'yaml'
import type { Diagnostics } from './diagnostics.ts'
import { layoutProblems } from './layout.ts'

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
