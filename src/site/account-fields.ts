import { type Html, html } from './html.ts'
import type { PageContext } from './page-context.ts'

/** The error of a field of a submitted form. */
export interface FieldProblem {
  readonly field: string
  readonly message: string
}

export interface TextField {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'password'
  readonly autocomplete: string
  readonly hint?: string
  readonly value?: string
  readonly isLong?: boolean
  readonly problem?: FieldProblem | null
  /** Element that describes it in addition to its hint and its problem. */
  readonly describedBy?: string | undefined
}

/** A field with its label, its hint and its error, associated for screen readers. */
export function textField({ name, label, hint, value, isLong = false, problem, ...more }: TextField): Html {
  const wrong = problem?.field === name ? problem.message : null
  const described = [
    ...(hint === undefined ? [] : [`${name}-hint`]),
    ...(wrong === null ? [] : [`${name}-error`]),
    ...(more.describedBy === undefined ? [] : [more.describedBy]),
  ]
  const attributes = html`id="${name}" name="${name}" autocomplete="${more.autocomplete}" autocapitalize="none" spellcheck="false" required${
    described.length === 0 ? '' : html` aria-describedby="${described.join(' ')}"`
  }${wrong === null ? '' : html` aria-invalid="true"`}`
  return html`<div class="field"><label for="${name}">${label}</label>
${hint === undefined ? '' : html`<span class="hint" id="${name}-hint">${hint}</span>`}${
  isLong
    ? html`<textarea ${attributes} rows="3">
${value}</textarea>`
    : html`<input ${attributes} type="${more.type ?? 'text'}" value="${value}">`
}${wrong === null ? '' : html`<span class="error" id="${name}-error" role="alert">${wrong}</span>`}</div>
`
}

/** A hidden field. */
export function hiddenField(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">
`
}

/** A box that is ticked or not, or one of several choices, with its label. */
export function choiceField(
  type: 'checkbox' | 'radio',
  name: string,
  label: string,
  isChosen: boolean,
  value = '1',
): Html {
  const id = type === 'radio' ? `${name}-${value}` : name
  const checked = isChosen ? html` checked` : ''
  return html`<div class="choice"><input type="${type}" id="${id}" name="${name}" value="${value}"${checked}><label for="${id}">${label}</label></div>`
}

/** A notice of a failure or a success, which screen readers announce immediately. */
export function note(kind: 'bad' | 'good', content: Html): Html {
  return html`<div class="note ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${content}</div>
`
}

/** A day, or a date with time, for display; "never" for null. */
export function momentText({ t, date }: Pick<PageContext, 't' | 'date'>, moment: string | null): Html {
  if (moment === null) return html`${t('never')}`
  return html`<time datetime="${moment}">${date(moment, moment.length > 10 ? 'zoned' : 'day')}</time>`
}
