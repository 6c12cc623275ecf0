import { BAD_REQUEST, Fault, faultText } from '../../errors/errors.ts'
import type { Form } from '../../http/form.ts'
import { FIELD_TYPES } from '../../model/field.ts'
import type { FieldEdit } from '../../publishing/edit-definition.ts'
import type { DatasetPreview, PreviewedField } from '../../publishing/management/dataset-preview.ts'
import type { DeskDataset } from '../../publishing/management/desk-types.ts'
import { type EditedMapping, editedMapping } from '../../publishing/management/edited-mapping.ts'
import { retainedVersions } from '../../publishing/versions/versions.ts'
import { hiddenField } from '../../site/account-fields.ts'
import { type Html, html } from '../../site/html.ts'
import { listOptions } from '../parts/form-fields.ts'
import { numberClass, recordCell, TYPE_NAMES } from '../parts/value.ts'
import { changedFields, type Previewed } from './changed-fields.ts'
import { describedBy, type FormField, fieldEdit, formFields } from './forms.ts'
import {
  type DeskContext,
  type DeskUser,
  descriptionBody,
  type FormState,
  historyBody,
  mappingBody,
  reportBody,
  type SectionName,
  sectionFields,
  uploadForm,
} from './pages.ts'
import { saveSource, sourceContent } from './source.ts'
import { saveSteps, stepsContent } from './steps.ts'
import { uploadMessage } from './upload-messages.ts'

const PREVIEWED = 10

const NOTHING_READ: Previewed = { fields: [], records: [], missing: [], unread: [] }

/** Digest of the text that the form of a section edits, as it is now; null for sections without such a form. */
export function editedTextDigest(
  { desk, principal }: DeskUser,
  id: string,
  section: SectionName,
): string | null {
  if (section === 'report' || section === 'history') return null
  return desk.digest(principal, id, section === 'mapping' ? 'mapping' : 'definition')
}

/** The content of a section. @param added type of a step that is added to the form */
export async function sectionContent(
  user: DeskUser,
  section: SectionName,
  dataset: DeskDataset,
  state: FormState,
  added: string | undefined,
): Promise<Html> {
  const { desk, principal, context } = user
  const { id } = dataset
  switch (section) {
    case 'fields':
      try {
        const { identity = [] } = desk.definition(principal, id) ?? {}
        const previewed = await desk.preview(principal, id, PREVIEWED)
        return fieldsBody(context, dataset, previewed, identity, state)
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        const nothing = fieldsBody(context, dataset, NOTHING_READ, [], state)
        return html`<div class="error" role="alert">${uploadMessage(faultText(error), context.pageContext.t)}</div>${nothing}`
      }
    case 'source':
      return sourceContent(user, id, state)
    case 'steps':
      return stepsContent(user, dataset, added, state)
    case 'description':
      return descriptionBody(context, dataset, desk.definition(principal, id), state)
    case 'mapping':
      return mappingBody(context, dataset, await mappingOf(user, dataset), state)
    case 'report':
      return reportBody(context, await desk.check(principal, id))
    case 'history': {
      const retained = retainedVersions(desk.options.versions, id)
      return historyBody(context, dataset, retained, desk.history(principal, id))
    }
  }
}

/** The mapping of a dataset; only its text where its records cannot be read, which other sections report. */
async function mappingOf(
  { desk, principal }: DeskUser,
  { id, manifest }: DeskDataset,
): Promise<EditedMapping> {
  try {
    return await editedMapping(desk.rootOf(id), desk.options.base, id, manifest?.statistics ?? null)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { text: desk.mapping(principal, id) ?? '', isProposal: false, diagnostics: [] }
  }
}

/** Does what a form of a dataset asks for. Faults: BadRequest, Conflict, EditConflict, NotFoundResource, VersionUnknown. */
export async function applyForm(user: DeskUser, id: string, form: Form): Promise<void> {
  const { desk, principal } = user
  const opened = form.get('opened')
  switch (form.get('action')) {
    case 'fields': {
      const fields = formFields(form)
      const identity = identityIn(form, user, id)
      if (identity.id === undefined && (await areAsShown(fields, user, id))) return
      return desk.change(principal, id, { fields, ...identity }, opened)
    }
    case 'description': {
      const saved = desk.definition(principal, id) ?? { metas: {} }
      return desk.change(principal, id, describedBy(form, saved), opened)
    }
    case 'mapping': {
      const text = (form.get('text') ?? '').replaceAll('\r\n', '\n')
      return desk.changeMapping(principal, id, text.trim() === '' ? null : text, opened)
    }
    case 'source':
      return saveSource(user, id, form)
    case 'steps':
      return saveSteps(user, id, form)
    case 'publish':
      return desk.publish(principal, id)
    case 'withdraw':
      return desk.withdraw(principal, id)
    case 'discard':
      return desk.discard(principal, id)
    case 'restore':
      await desk.rollBack(principal, id, form.get('version') ?? null)
      return
    default:
      throw new Fault(BAD_REQUEST, { reason: 'The form lacks its action.' })
  }
}

/** True for fields that are as the form showed them: those that are inferred stay so. */
async function areAsShown(
  fields: readonly FieldEdit[],
  { desk, principal }: DeskUser,
  id: string,
): Promise<boolean> {
  try {
    const shown = savedRows((await desk.preview(principal, id, 1)).fields, []).map(fieldEdit)
    return JSON.stringify(fields) === JSON.stringify(shown)
  } catch (error) {
    if (error instanceof Fault) return false
    throw error
  }
}

/** The identity of the records, if a form has it and changes it; fields that stay are in the same order, on which ids depend. */
function identityIn(
  form: Form,
  { desk, principal }: DeskUser,
  id: string,
): { readonly id?: readonly string[] | null } {
  if (!form.has('identity')) return {}
  const before = desk.definition(principal, id)?.identity ?? []
  const chosen: string[] = []
  for (let at = 0; form.has(`name.${at}`); at++)
    if (form.has(`id.${at}`)) chosen.push(form.get(`name.${at}`) ?? '')
  const after = [
    ...before.filter(name => chosen.includes(name)),
    ...chosen.filter(name => !before.includes(name)),
  ]
  if (after.length === before.length && after.every(name => before.includes(name))) return {}
  return { id: after.length === 0 ? null : after }
}

interface FieldRow extends FormField {
  readonly isIdentity: boolean
  /** null for a field of a form that is not in the data now. */
  readonly previewed: PreviewedField | null
}

function savedRows(fields: readonly PreviewedField[], identity: readonly string[]): readonly FieldRow[] {
  return fields.map(previewed => {
    const { spec, field } = previewed
    const { type, label, description, annotations } = field
    const isFacet = annotations.facet !== undefined
    const isIdentity = identity.includes(spec.name)
    return { name: spec.name, type, label, description: description ?? '', isFacet, isIdentity, previewed }
  })
}

/** The rows of a form that was not saved: what was entered, then fields that it lacks. */
function enteredRows(
  form: Form,
  fields: readonly PreviewedField[],
  identity: readonly string[],
): readonly FieldRow[] {
  const rows: FieldRow[] = []
  const saved = savedRows(fields, identity)
  for (let at = 0; form.has(`name.${at}`); at++) {
    const text = (part: string) => form.get(`${part}.${at}`) ?? ''
    const name = text('name')
    rows.push({
      name,
      type: text('type'),
      label: text('label'),
      description: text('description'),
      isFacet: form.has(`facet.${at}`),
      isIdentity: form.has(`id.${at}`),
      previewed: saved.find(row => row.name === name)?.previewed ?? null,
    })
  }
  return [...rows, ...saved.filter(({ name }) => rows.every(row => row.name !== name))]
}

function fieldsBody(
  desk: DeskContext,
  dataset: DeskDataset,
  preview: Previewed,
  identity: readonly string[],
  state: FormState,
): Html {
  const { pageContext } = desk
  const { t } = pageContext
  const { fields, records } = preview
  const path = `/desk/${dataset.id}/fields/`
  const rows = state.given === null ? savedRows(fields, identity) : enteredRows(state.given, fields, identity)
  const heads = [
    t('Name'),
    t('Type'),
    t('Label'),
    t('Description'),
    t('Facet'),
    t('Identifier'),
    t('Examples'),
  ]
  return html`${changedFields(desk, dataset, preview)}<h2>${t('Data')}</h2>
${uploadForm(desk, path, t('Another file as source'))}
${
  rows.length === 0
    ? ''
    : html`<h2 id="fields">${t('Fields')}</h2>
<form method="post" action="${pageContext.href(path)}">${sectionFields(desk, state, 'fields')}${hiddenField('identity', '1')}
<div class="scroll" tabindex="0" role="region" aria-labelledby="fields"><table><thead><tr>${heads.map(head => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows.map((row, at) => fieldRow(desk, row, at))}</tbody></table></div>
<div class="buttons"><button>${t('Save')}</button></div></form>`
}${fields.length === 0 ? '' : previewTable(desk, fields, records)}`
}

function fieldRow(
  { pageContext }: DeskContext,
  { name, type, label, description, isFacet, isIdentity, previewed }: FieldRow,
  at: number,
): Html {
  const { t } = pageContext
  const input = (part: string, described: string, value: string) =>
    html`<input name="${part}.${at}" value="${value}" aria-label="${described}: ${name}" dir="auto">`
  const types = FIELD_TYPES.map(each => [each, t(TYPE_NAMES[each])] as const)
  return html`<tr><th scope="row">${hiddenField(`name.${at}`, name)}<code>${name}</code></th>
<td><select name="type.${at}" aria-label="${t('Type')}: ${name}">${listOptions(types, type)}</select></td>
<td>${input('label', t('Label'), label)}</td><td>${input('description', t('Description'), description)}</td>
<td><input type="checkbox" name="facet.${at}" value="1" aria-label="${t('Facet')}: ${name}"${isFacet ? html` checked` : ''}></td>
<td><input type="checkbox" name="id.${at}" value="1" aria-label="${t('Identifier')}: ${name}"${isIdentity ? html` checked` : ''}></td>
<td>${previewed === null ? '' : examplesCell(pageContext, previewed)}</td></tr>
`
}

function examplesCell(
  pageContext: DeskContext['pageContext'],
  { field, examples, conversionErrors }: PreviewedField,
): Html {
  const { t } = pageContext
  const shown = examples.map(
    (example, index) => html`${index === 0 ? '' : ', '}<bdi>${recordCell(pageContext, example, field)}</bdi>`,
  )
  return html`${shown}${conversionErrors === null ? '' : html`<span class="error">${t('Values that do not fit')} (${pageContext.number(conversionErrors.count)}): ${conversionErrors.examples.map(({ found }) => String(found)).join(', ')}</span>`}`
}

function previewTable(
  { pageContext }: DeskContext,
  fields: readonly PreviewedField[],
  records: DatasetPreview['records'],
): Html {
  const { t } = pageContext
  const rows = records.map(
    values => html`<tr>${fields.map(({ field }, at) => html`<td${numberClass(field)}>${recordCell(pageContext, values[at] ?? null, field)}</td>`)}</tr>
`,
  )
  return html`
<h2 id="preview">${t('Preview')}</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="preview"><table class="records"><thead><tr>${fields.map(({ field }) => html`<th scope="col"${numberClass(field)}>${field.label}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`
}
