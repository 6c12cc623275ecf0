import { autocompletion, type CompletionContext, completionKeymap } from '@codemirror/autocomplete'
import { StreamLanguage, type StringStream } from '@codemirror/language'
import { type Diagnostic, setDiagnostics } from '@codemirror/lint'
import { Compartment, type Text } from '@codemirror/state'
import { EditorView, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view'
import { SOURCE_RULES, type SourceLanguage, type TokenKind } from '../../parts/highlight.ts'
import { editorFor } from './editor.ts'

/** A diagnostic from the portal. */
export interface ReportedDiagnostic {
  readonly severity: 'error' | 'warning' | 'info'
  readonly message: string
  readonly hint?: string
  readonly line: number
  readonly column: number
  readonly endLine: number
  readonly endColumn: number
}

/** The kinds of token with their names in the editor. */
const NAMES: Readonly<Record<TokenKind, string | null>> = {
  comment: 'comment',
  string: 'string',
  number: 'number',
  keyword: 'keyword',
  key: 'propertyName',
  iri: 'link',
  name: 'variableName',
  variable: 'variableName',
  plain: null,
}

function nextToken(
  stream: StringStream,
  rules: (typeof SOURCE_RULES)[keyof typeof SOURCE_RULES],
): string | null {
  for (const [kind, pattern] of rules) {
    pattern.lastIndex = stream.pos
    const found = pattern.exec(stream.string)?.[0]
    if (found === undefined || found === '') continue
    stream.pos += found.length
    return NAMES[kind]
  }
  stream.next()
  return null
}

/** Turns the field of a mapping into an editor. */
export function editMapping(field: HTMLTextAreaElement, fieldNames: readonly string[]) {
  const language = new Compartment()
  const streamOf = (name: SourceLanguage) =>
    StreamLanguage.define({ name, token: stream => nextToken(stream, SOURCE_RULES[name]) })
  let current: SourceLanguage = field.dataset.file?.endsWith('.ttl') === true ? 'turtle' : 'yaml'
  const view = editorFor(field, [
    language.of(streamOf(current)),
    lineNumbers(),
    highlightActiveLineGutter(),
    autocompletion({ icons: false, override: [context => referenceOffers(context, fieldNames)] }),
    keymap.of(completionKeymap),
    EditorView.theme({ '&': { maxHeight: '75vh' }, '.cm-scroller': { overflow: 'auto' } }),
  ])
  return {
    goTo: (line: number, column: number) => {
      const anchor = offsetOf(view.state.doc, line, column)
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) })
      view.focus()
    },
    setLanguage: (name: SourceLanguage) => {
      if (name === current) return
      current = name
      view.dispatch({ effects: language.reconfigure(streamOf(name)) })
    },
    mark: (diagnostics: readonly ReportedDiagnostic[]) => {
      view.dispatch(
        setDiagnostics(
          view.state,
          diagnostics.map(described => diagnosticOf(view.state.doc, described)),
        ),
      )
    },
  }
}

function referenceOffers(context: CompletionContext, names: readonly string[]) {
  const begun = context.matchBefore(/\$\([^)\n]*/)
  if (begun === null) return null
  const isClosed = context.state.sliceDoc(context.pos, context.pos + 1) === ')'
  return {
    from: begun.from + 2,
    options: names.map(label => ({ label, apply: isClosed ? label : `${label})` })),
  }
}

function diagnosticOf(doc: Text, described: ReportedDiagnostic): Diagnostic {
  const { severity, message, hint, line, column, endLine, endColumn } = described
  const from = offsetOf(doc, line, column)
  return {
    from,
    to: Math.max(from, offsetOf(doc, endLine, endColumn)),
    severity,
    message: hint === undefined ? message : `${message}\n${hint}`,
  }
}

/** The editor's offset of a line and column from 1; positions beyond the text become its end. */
function offsetOf(doc: Text, line: number, column: number): number {
  const { from, to } = doc.line(Math.max(1, Math.min(line, doc.lines)))
  return Math.min(to, from + Math.max(0, column - 1))
}
