import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { syntaxHighlighting } from '@codemirror/language'
import { lintKeymap } from '@codemirror/lint'
import { EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, keymap } from '@codemirror/view'
import { tokenClasses } from '../../../language/odsql/highlight.ts'
import { make } from './elements.ts'

/** The look of editors: the colours are those of the page. */
const theme = EditorView.theme({
  '&': {
    color: 'var(--ink)',
    backgroundColor: 'var(--paper)',
    border: '1px solid var(--soft)',
    borderRadius: 'var(--radius)',
    fontSize: '0.9rem',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'ui-monospace, SFMono-Regular, Menlo, monospace', lineHeight: '1.5' },
  '.cm-content': { padding: '0.5rem 0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 0.7rem' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground':
    { backgroundColor: 'var(--accent-soft)' },
  '.cm-gutters': { backgroundColor: 'var(--shade)', color: 'var(--soft)', border: 'none' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--accent-soft)', color: 'var(--ink)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--paper)',
    color: 'var(--ink)',
    border: '1px solid var(--soft)',
    borderRadius: 'var(--radius)',
    overflow: 'hidden',
    maxWidth: 'min(36rem, 92vw)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'inherit', maxHeight: '15rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.2rem 0.6rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-completionDetail': { opacity: '0.8', fontStyle: 'normal' },
  '.cm-tooltip.cm-completionInfo': { padding: '0.4rem 0.7rem' },
  '.cm-diagnostic': { padding: '0.3rem 0.6rem', whiteSpace: 'pre-wrap' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--bad)' },
  '.t-comment': { color: 'var(--soft)' },
  '.t-string': { color: 'var(--good)' },
  '.t-key, .t-variable': { color: 'var(--key)' },
  '.t-number, .t-keyword': { color: 'var(--value)' },
  '.t-iri, .t-name': { color: 'var(--accent)' },
})

/**
 * Replaces a field by an editor; the hidden field remains in its form. The editor is in a shadow root, so that its styles are
 * no elements of the page, which the policy of the page would refuse.
 */
export function editorFor(field: HTMLTextAreaElement, extensions: readonly Extension[]): EditorView {
  const host = make('div', { class: 'editor', dir: 'ltr' })
  field.after(host)
  const root = host.attachShadow({ mode: 'open' })
  const label = field.labels?.[0]?.textContent ?? ''
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: field.value,
      selection: { anchor: field.selectionStart, head: field.selectionEnd },
      extensions: [
        ...extensions,
        history(),
        drawSelection(),
        syntaxHighlighting(tokenClasses),
        keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({
          'aria-label': label,
          tabindex: '0',
          spellcheck: 'false',
          autocapitalize: 'off',
        }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (!docChanged) return
          field.value = state.doc.toString()
          field.dispatchEvent(new Event('input', { bubbles: true }))
        }),
        theme,
      ],
    }),
  })
  const hadFocus = document.activeElement === field
  field.hidden = true
  for (const each of field.labels ?? []) each.addEventListener('click', () => view.focus())
  if (hadFocus) view.focus()
  return view
}
