import type { Form } from '../../http/form.ts'
import { lookup, setMember } from '../../model/lookup.ts'
import { type Html, html } from '../../site/html.ts'
import type { Translator } from '../../site/page-context.ts'

/** A member of a list in a YAML file, as a field of a form. Its name is that in the file, as documented. */
export interface EntryMember {
  readonly name: string
  /** `raw` keeps blanks at its ends, `lines` has one element a line, `pairs` has one `name: value` a line. */
  readonly kind: 'text' | 'raw' | 'long' | 'lines' | 'pairs' | 'number' | 'choice'
  readonly isRequired?: true
  readonly choices?: readonly string[]
}

/** Errors of fields, by their names in the form. */
export type Problems = ReadonlyMap<string, string>

/** The text of a value in a form. */
export function memberText({ kind }: EntryMember, value: unknown): string {
  if (value === undefined || value === null) return ''
  if (kind === 'lines' && Array.isArray(value)) return value.join('\n')
  if (kind === 'pairs' && typeof value === 'object')
    return Object.entries(value)
      .map(([name, text]) => `${name}: ${text}`)
      .join('\n')
  return String(value)
}

/** The value of a text, undefined for none, with its error. */
function memberValue(
  member: EntryMember,
  given: string,
  t: Translator,
): { readonly value?: unknown; readonly problem?: string } {
  const text = given.replaceAll('\r\n', '\n')
  const isEmpty = member.kind === 'raw' ? text === '' : text.trim() === ''
  if (isEmpty) return member.isRequired === true ? { problem: t('This is required.') } : {}
  switch (member.kind) {
    case 'raw':
      return { value: text }
    case 'number': {
      const number = Number(text.trim())
      return Number.isInteger(number) ? { value: number } : { problem: t('A whole number is expected.') }
    }
    case 'lines':
      return { value: linesOf(text) }
    case 'pairs': {
      const pairs = linesOf(text).map(line => /^(.+?):\s+(.+)$/.exec(line))
      if (pairs.includes(null))
        return { problem: t('A name, a colon and a value are expected on each line.') }
      return { value: Object.fromEntries(pairs.map(pair => [pair?.[1]?.trim(), pair?.[2]])) }
    }
    default:
      return { value: text.trim() }
  }
}

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
}

/** The values of members in a form, and their errors. @param prefix of the names of the fields, with a dot */
export function readMembers(members: readonly EntryMember[], form: Form, prefix: string, t: Translator) {
  const values: Record<string, unknown> = {}
  const problems = new Map<string, string>()
  for (const member of members) {
    const { value, problem } = memberValue(member, form.get(prefix + member.name) ?? '', t)
    if (problem !== undefined) problems.set(prefix + member.name, problem)
    else if (value !== undefined) setMember(values, member.name, value)
  }
  return { values, problems }
}

/** The texts of members in a form. */
export function textsIn(members: readonly EntryMember[], form: Form, prefix: string) {
  return Object.fromEntries(members.map(({ name }) => [name, form.get(prefix + name) ?? '']))
}

/** The fields of members with their texts and errors. */
export function memberFields(
  members: readonly EntryMember[],
  prefix: string,
  texts: Readonly<Record<string, string>>,
  problems: Problems,
): Html {
  return html`${members.map(member => {
    const id = prefix + member.name
    const text = lookup(texts, member.name) ?? ''
    const problem = problems.get(id)
    const wrong = problem === undefined ? '' : html` aria-invalid="true" aria-describedby="${id}-error"`
    return html`<div class="field"><label for="${id}"><code>${member.name}</code></label>${inputOf(member, id, text, wrong)}${
      problem === undefined
        ? ''
        : html`<span class="error lines" id="${id}-error" role="alert">${problem}</span>`
    }</div>
`
  })}`
}

function inputOf({ kind, choices = [] }: EntryMember, id: string, text: string, more: Html | string): Html {
  switch (kind) {
    case 'long':
    case 'lines':
    case 'pairs':
      return html`<textarea id="${id}" name="${id}" rows="2" spellcheck="false" dir="auto"${more}>
${text}</textarea>`
    case 'choice':
      return html`<select id="${id}" name="${id}"${more}><option value="">–</option>${choices.map(choice => html`<option${choice === text ? html` selected` : ''}>${choice}</option>`)}</select>`
    default:
      return html`<input id="${id}" name="${id}" value="${text}" autocapitalize="none" spellcheck="false" dir="auto"${more}>`
  }
}
