import { BAD_REQUEST, Fault, faultText } from '../../errors/errors.ts'
import type { Form } from '../../http/form.ts'
import { lookup } from '../../model/lookup.ts'
import type { Definition } from '../../publishing/definition.ts'
import type { FieldEdit } from '../../publishing/edit-definition.ts'
import { isSchedule, SCHEDULE_EXPECTED } from '../../runtime/cron.ts'
import { choiceField } from '../../site/account-fields.ts'
import { type Html, html } from '../../site/html.ts'
import type { Translator } from '../../site/page-context.ts'
import { RDF_FORMATS, SOURCE_FORMATS } from '../../sources/formats.ts'
import type { Inspection } from '../../sources/inspect.ts'
import { type EntryMember, memberFields, memberText, readMembers, textsIn } from './entries.ts'
import { type DeskUser, type FormState, sectionFields } from './pages.ts'
import { uploadMessage } from './upload-messages.ts'

const ADDRESS: readonly EntryMember[] = [
  { name: 'url', kind: 'text' },
  { name: 'refresh', kind: 'text' },
  { name: 'authorization', kind: 'text' },
]

const READING: readonly EntryMember[] = [
  { name: 'format', kind: 'choice', choices: [...SOURCE_FORMATS, ...RDF_FORMATS] },
  { name: 'encoding', kind: 'text' },
  { name: 'delimiter', kind: 'raw' },
  { name: 'quote', kind: 'text' },
  { name: 'widths', kind: 'text' },
  { name: 'header', kind: 'number' },
  { name: 'footer', kind: 'number' },
  { name: 'sheet', kind: 'text' },
  { name: 'range', kind: 'text' },
  { name: 'records', kind: 'text' },
  { name: 'file', kind: 'text' },
]

function readForm(form: Form, t: Translator) {
  const address = readMembers(ADDRESS, form, '', t)
  const reading = readMembers(READING, form, '', t)
  const { format, ...options } = reading.values
  const { refresh } = address.values
  if (typeof refresh === 'string' && !isSchedule(refresh)) address.problems.set('refresh', SCHEDULE_EXPECTED)
  return {
    address: address.values,
    format: typeof format === 'string' ? format : null,
    options,
    problems: new Map([...address.problems, ...reading.problems]),
  }
}

/** Saves the source address and the reading options; infers the fields again if the form requests it. Faults: BadRequest. */
export async function saveSource(
  { desk, principal, context }: DeskUser,
  id: string,
  form: Form,
): Promise<void> {
  const { t } = context.pageContext
  const { address, format, options, problems } = readForm(form, t)
  if (problems.size > 0) throw new Fault(BAD_REQUEST, { reason: 'Nothing was saved.' })
  const { refresh, ...source } = address
  const inferred = form.has('infer') ? await desk.inspect(principal, id, { format, options }) : null
  const isRemote = source.url !== undefined
  const change = {
    ...(isRemote ? { source: source as Readonly<Record<string, string>> } : {}),
    refresh: isRemote && typeof refresh === 'string' ? refresh : null,
    format,
    options: Object.keys(options).length === 0 ? null : options,
    ...(inferred === null ? {} : { fields: inferred.fields as unknown as readonly FieldEdit[] }),
  }
  await desk.change(principal, id, change, form.get('opened'))
}

function textsOf(definition: Definition | null): Readonly<Record<string, string>> {
  const { format, options = {} } = definition?.source ?? {}
  const values: Readonly<Record<string, unknown>> = {
    ...options,
    format,
    url: definition?.remote?.url,
    refresh: definition?.remote?.schedule,
    authorization: definition?.remote?.authorization,
  }
  return Object.fromEntries(
    [...ADDRESS, ...READING].map(member => [member.name, memberText(member, lookup(values, member.name))]),
  )
}

function fileOf({ path, package: inPackage, module }: Definition['source']): string | null {
  return path ?? inPackage ?? module ?? null
}

/** The form of the source, with the fields that are inferred with its options. */
export async function sourceContent(user: DeskUser, id: string, state: FormState): Promise<Html> {
  const { desk, principal, context } = user
  const { pageContext } = context
  const { given } = state
  const { t } = pageContext
  const definition = desk.definition(principal, id)
  const saved = textsOf(definition)
  const texts = given === null ? saved : textsIn([...ADDRESS, ...READING], given, '')
  const read = readForm(given ?? new Map(Object.entries(saved)), t)
  const found = await inferredBody(user, id, read)
  const path = pageContext.href(`/desk/${id}/source/`)
  const file = definition?.remote === null ? fileOf(definition.source) : null
  return html`<h2>${t('Source')}</h2>${file === null ? '' : html`<p><code>${file}</code></p>`}
<form class="source" method="post" action="${path}">${sectionFields(context, state, null)}
<fieldset class="field"><legend>${t('Address')}</legend>${memberFields(ADDRESS, '', texts, read.problems)}</fieldset>
<fieldset class="field"><legend>${t('How the file is read')}</legend>${memberFields(READING, '', texts, read.problems)}</fieldset>
${choiceField('checkbox', 'infer', t('Infer the fields again'), given?.has('infer') === true)}
<div class="buttons"><button name="action" value="source">${t('Save')}</button> <button class="plain" name="action" value="try">${t('Try without saving')}</button></div></form>
<div id="inferred" aria-live="polite">${found}</div>`
}

async function inferredBody(
  { desk, principal, context }: DeskUser,
  id: string,
  { format, options, problems }: ReturnType<typeof readForm>,
): Promise<Html> {
  const { t } = context.pageContext
  if (problems.size > 0) return html``
  let inspection: Inspection
  try {
    inspection = await desk.inspect(principal, id, { format, options })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return html`<div class="error" role="alert">${uploadMessage(faultText(error), t)}</div>`
  }
  const rows = inspection.columns.map(
    each => html`<tr><th scope="row">${each.column}</th><td><code>${each.type}${each.format === undefined ? '' : ` ${each.format}`}</code></td><td>${each.examples.map((example, at) => html`${at === 0 ? '' : ' · '}<bdi>${example}</bdi>`)}</td><td lang="en" dir="ltr">${each.suggestion ?? each.why}</td></tr>
`,
  )
  const heads = [t('Name'), t('Type'), t('Examples'), t('Why')]
  return html`<h2 id="inferred-fields">${t('Fields as they are inferred')}</h2>
<p>${t.many('{n} record', '{n} records', inspection.rows)}</p>${inspection.diagnostics.length === 0 ? '' : html`<ul>${inspection.diagnostics.map(note => html`<li lang="en" dir="ltr">${note}</li>`)}</ul>`}
<div class="scroll" tabindex="0" role="region" aria-labelledby="inferred-fields"><table><thead><tr>${heads.map(head => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`
}
