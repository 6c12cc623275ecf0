import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete'
import { LanguageSupport, LRLanguage } from '@codemirror/language'
import { type Diagnostic, linter } from '@codemirror/lint'
import { Prec } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { completions } from '../../../language/odsql/completion.ts'
import { conditionParser } from '../../../language/odsql/highlight.ts'
import { type Field, field as makeField } from '../../../model/field.ts'
import { editorFor } from './editor.ts'
import { make } from './elements.ts'

/** A field, an operator, and the quoted text that is being typed. */
const VALUE =
  /(?:`(?<quoted>[^`]+)`|(?<plain>[A-Za-z_]\w*))\s*(?:=|:|!=|<>|\blike\b|\bin\s*\((?:[^()]*,)?)\s*(?<mark>["'])(?<prefix>(?:\\.|(?!\k<mark>)[^\\])*)$/i

const MILLISECONDS = 500

/** Turns the field of a condition into an editor: completion, colours, and errors while it is typed. */
export function editCondition(field: HTMLTextAreaElement): EditorView {
  const fields = fetchFields(field.dataset.fields ?? '')
  const submit = () => {
    field.form?.requestSubmit()
    return true
  }
  return editorFor(field, [
    new LanguageSupport(LRLanguage.define({ parser: conditionParser })),
    autocompletion({
      icons: false,
      override: [async context => (await valueOffers(context, field)) ?? wordOffers(context, await fields)],
    }),
    linter(view => problemsOf(view, field), { delay: MILLISECONDS }),
    Prec.highest(keymap.of([{ key: 'Mod-Enter', run: submit }])),
    keymap.of(completionKeymap),
    EditorView.lineWrapping,
  ])
}

async function fetchFields(address: string): Promise<readonly Field[]> {
  const answer = await fetch(address).catch(() => null)
  if (answer?.ok !== true) return []
  const { fields } = (await answer.json()) as { readonly fields: readonly Field[] }
  return fields.map(({ name, type, label, description }) => makeField(name, type, { label, description }))
}

function wordOffers(context: CompletionContext, fields: readonly Field[]): CompletionResult | null {
  const text = context.state.doc.toString()
  const offers = completions('where', text, context.pos, fields)
  const [first] = offers
  if (first === undefined || (!context.explicit && first.from === context.pos)) return null
  return {
    from: first.from,
    to: first.to,
    filter: false,
    options: offers.map(({ label, kind, detail, says }) => ({
      label,
      type: kind,
      detail: detail === label ? '' : detail,
      ...(says === '' || says === label ? {} : { info: says }),
      apply: kind === 'function' ? applyCall : kind === 'keyword' || kind === 'field' ? `${label} ` : label,
    })),
  }
}

/** Inserts a function with its parentheses, the cursor between them. */
function applyCall(view: EditorView, { label }: { readonly label: string }, from: number, to: number): void {
  const isOpen = view.state.sliceDoc(to, to + 1) === '('
  view.dispatch({
    changes: { from, to, insert: isOpen ? label : `${label}()` },
    selection: { anchor: from + label.length + 1 },
    userEvent: 'input.complete',
  })
}

async function valueOffers(
  { state, pos }: CompletionContext,
  field: HTMLTextAreaElement,
): Promise<CompletionResult | null> {
  const { quoted, plain = '', mark = '"', prefix = '' } = VALUE.exec(state.sliceDoc(0, pos))?.groups ?? {}
  const name = quoted ?? plain
  if (name === '') return null
  const requested = new URLSearchParams({ field: name, prefix: prefix.replace(/\\(.)/g, '$1') })
  const answer = await fetch(addTo(field.dataset.fields ?? '', requested)).catch(() => null)
  if (answer?.ok !== true) return null
  const { values } = (await answer.json()) as {
    readonly values: readonly { readonly value: string; readonly count: number }[]
  }
  const isClosed = state.sliceDoc(pos, pos + 1) === mark
  const written = (value: string) =>
    value.replace(/[\\"']/g, character =>
      character === mark || character === '\\' ? `\\${character}` : character,
    )
  return {
    from: pos - prefix.length,
    filter: false,
    options: values.map(({ value, count }) => ({
      label: value,
      detail: count.toLocaleString(document.documentElement.lang),
      apply: (view, _, from, to) => {
        const insert = `${written(value)}${mark} `
        const end = isClosed ? to + 1 : to
        view.dispatch({ changes: { from, to: end, insert }, selection: { anchor: from + insert.length } })
      },
    })),
  }
}

interface Answer {
  readonly fault: {
    readonly message: string
    readonly hint?: string
    readonly from?: number
    readonly to?: number
  } | null
}

/** The errors of the text of an editor, which are shown below it as well; none of a text that was changed meanwhile. */
export async function problemsOf(
  view: Pick<EditorView, 'state'>,
  field: HTMLTextAreaElement,
): Promise<readonly Diagnostic[]> {
  const text = view.state.doc.toString()
  const fault = text.trim() === '' ? null : await requestFault(field.dataset.check ?? '', text)
  if (view.state.doc.toString() !== text) return []
  report(field, fault === null ? '' : [fault.message, fault.hint ?? ''].join(' ').trim())
  if (fault === null) return []
  const { message, hint, from = 0, to = text.length } = fault
  const end = Math.min(to, text.length)
  return [
    {
      // A position at the end is shown at the last character.
      from: Math.max(0, Math.min(from, end - 1)),
      to: end,
      severity: 'error',
      message: hint === undefined ? message : `${message}\n${hint}`,
    },
  ]
}

async function requestFault(address: string, where: string): Promise<Answer['fault']> {
  const answer = await fetch(addTo(address, new URLSearchParams({ where }))).catch(() => null)
  return answer?.ok === true ? ((await answer.json()) as Answer).fault : null
}

/** Shows the fault below the editor as well, and removes the one in the loaded page. */
function report(field: HTMLTextAreaElement, message: string): void {
  const { parentElement } = field
  for (const old of parentElement?.querySelectorAll('.fault[role=alert]') ?? []) old.remove()
  let described = parentElement?.querySelector<HTMLElement>('.fault') ?? null
  if (described === null && message !== '') {
    described = make('p', { class: 'fault', role: 'status', lang: 'en', dir: 'auto' })
    field.nextElementSibling?.after(described)
  }
  if (described === null) return
  described.hidden = message === ''
  described.textContent = message
}

function addTo(address: string, parameters: URLSearchParams): string {
  return `${address}${address.includes('?') ? '&' : '?'}${parameters}`
}
