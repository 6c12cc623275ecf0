import { BAD_REQUEST, Fault, faultText } from '../../errors/errors.ts'
import type { Form } from '../../http/form.ts'
import type { Principal } from '../../model/principal.ts'
import type { Desk } from '../../publishing/management/desk.ts'
import type { DeskDataset } from '../../publishing/management/desk-types.ts'
import { retainedVersions } from '../../publishing/versions/versions.ts'
import { type Html, html } from '../../site/html.ts'
import { fieldsBody } from './fields.ts'
import { describedBy, formFields } from './forms.ts'
import {
  type DeskContext,
  descriptionBody,
  type FormState,
  historyBody,
  mappingBody,
  reportBody,
  type SectionName,
} from './pages.ts'
import { saveSource, sourceContent } from './source.ts'
import { saveSteps, stepsContent } from './steps.ts'
import { uploadMessage } from './upload-messages.ts'

/** Records of a preview. */
const PREVIEWED = 10

/** A user at the desk. */
export interface DeskUser {
  readonly desk: Desk
  readonly principal: Principal
  readonly context: DeskContext
}

/**
 * The state of the form of a section.
 *
 * @param given a form that was not saved
 * @param isOutdated true if that form was made from a text that was changed since: the next submit replaces it
 */
export function formState(
  { desk, principal }: DeskUser,
  id: string,
  section: SectionName,
  given: Form | null,
  isOutdated: boolean,
): FormState {
  const current = desk.digest(principal, id, section === 'mapping' ? 'mapping' : 'definition')
  return { given, opened: (isOutdated ? undefined : given?.get('opened')) ?? current }
}

/** The content of a section. @param added type of a step that is added to the form */
export async function sectionContent(
  { desk, principal, context }: DeskUser,
  section: SectionName,
  dataset: DeskDataset,
  state: FormState,
  added: string | undefined,
): Promise<Html> {
  const { id } = dataset
  switch (section) {
    case 'fields':
      try {
        return fieldsBody(context, dataset, await desk.preview(principal, id, PREVIEWED), state)
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        const nothing = fieldsBody(context, dataset, { fields: [], records: [] }, state)
        return html`<div class="error" role="alert">${uploadMessage(faultText(error), context.pageContext.t)}</div>${nothing}`
      }
    case 'source':
      return sourceContent(desk, principal, id, context, state)
    case 'steps':
      return stepsContent({ desk, principal, context, dataset }, added, state)
    case 'description':
      return descriptionBody(context, dataset, desk.definition(principal, id), state)
    case 'mapping':
      return mappingBody(context, dataset, desk.mapping(principal, id), state)
    case 'report':
      return reportBody(context, await desk.check(principal, id))
    case 'history': {
      const retained = retainedVersions(desk.options.versions, id)
      return historyBody(context, dataset, retained, desk.history(principal, id))
    }
    default:
      return section satisfies never
  }
}

/** Does what a form of a dataset asks for. Faults: BadRequest, Conflict, EditConflict, NotFoundResource, VersionUnknown. */
export async function applyForm(
  { desk, principal, context }: DeskUser,
  id: string,
  form: Form,
): Promise<void> {
  const { t } = context.pageContext
  const opened = form.get('opened')
  switch (form.get('action')) {
    case 'fields':
      return desk.change(principal, id, { fields: formFields(form) }, opened)
    case 'description':
      return desk.change(principal, id, describedBy(form), opened)
    case 'mapping': {
      const text = (form.get('text') ?? '').replaceAll('\r\n', '\n')
      return desk.changeMapping(principal, id, text.trim() === '' ? null : text, opened)
    }
    case 'source':
      return saveSource(desk, principal, id, form, t)
    case 'steps':
      return saveSteps(desk, principal, id, form, t)
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
