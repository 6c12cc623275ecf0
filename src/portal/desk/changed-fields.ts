import type { DatasetPreview } from '../../publishing/management/dataset-preview.ts'
import type { DeskDataset } from '../../publishing/management/desk-types.ts'
import { note } from '../../site/account-fields.ts'
import { type Html, html } from '../../site/html.ts'
import type { DeskContext } from './pages.ts'

export type Previewed = Omit<DatasetPreview, 'examined'>

/** Names of fields and columns that a note lists, at most. */
const NAMED = 20

/** What the file lacks or has in addition to the fields, and how these differ from the published ones. */
export function changedFields(
  { pageContext }: DeskContext,
  { id, hasDraft, manifest }: DeskDataset,
  { fields, missing, unread }: Previewed,
): Html {
  const { t, href } = pageContext
  const after = fields.map(({ spec }) => spec.name)
  const before =
    hasDraft && fields.length > 0 ? (manifest?.dataset.fields.map(({ name }) => name) ?? after) : after
  const list = (all: readonly string[]) =>
    `${all.slice(0, NAMED).join(', ')}${all.length > NAMED ? ` … (${pageContext.number(all.length)})` : ''}`
  const line = (text: (names: string) => string, names: readonly string[]) =>
    names.length === 0 ? [] : [html`<p>${text(list(names))}</p>`]
  const changes = [
    ...line(
      names => t('Fields that go with these changes: {names}.', { names }),
      before.filter(name => !after.includes(name)),
    ),
    ...line(
      names => t('Fields that come with these changes: {names}.', { names }),
      after.filter(name => !before.includes(name)),
    ),
    ...line(
      names => t('Columns of the file that are no fields: {names}.', { names }),
      hasDraft ? unread : [],
    ),
  ]
  const lacking = line(names => t('The file has no columns for these fields: {names}.', { names }), missing)
  const source = html`<p><a href="${href(`/desk/${id}/source/`)}">${t('Infer the fields again')}</a></p>`
  return html`${lacking.length === 0 ? '' : note('bad', html`${lacking}${source}`)}${changes.length === 0 ? '' : note('good', html`${changes}`)}`
}
