import { FIELD_TYPES } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import type { Definition } from '../../publishing/definition.ts'
import type { PreviewedField } from '../../publishing/management/dataset-preview.ts'
import type { DeskDataset, DeskFinding } from '../../publishing/management/desk-types.ts'
import type { HistoryEntry } from '../../publishing/management/history.ts'
import type { Manifest } from '../../publishing/versions/versions.ts'
import { EXPLORE_V21 } from '../../query/dialect.ts'
import { valueJson } from '../../query/execute/json.ts'
import { hiddenField, note } from '../../site/account-fields.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { messageKey, type Translator } from '../../site/translator.ts'
import { valueCell } from '../parts/value.ts'
import { METADATA, valueText } from './metadata.ts'

const STYLE = { dialect: EXPLORE_V21, timezone: 'UTC' } as const

/** The sections of a dataset at the desk, in the order of the work. */
export const SECTIONS = [
  { name: 'fields', label: messageKey('Data and fields') },
  { name: 'source', label: messageKey('Source') },
  { name: 'steps', label: messageKey('Steps') },
  { name: 'description', label: messageKey('Description') },
  { name: 'mapping', label: messageKey('Mapping') },
  { name: 'report', label: messageKey('Report') },
  { name: 'history', label: messageKey('History') },
] as const
export type SectionName = (typeof SECTIONS)[number]['name']

/** The input of all pages of the desk. */
export interface DeskContext {
  readonly pageContext: PageContext
  readonly token: string
}

function publicationText(t: Translator, { state, hasDraft }: DeskDataset): string {
  const names = {
    draft: t('draft'),
    published: t('published'),
    withdrawn: t('withdrawn'),
    unpublished: t('not published'),
  }
  return hasDraft && state !== 'draft' ? `${names[state]}, ${t('with changes')}` : names[state]
}

/** The form for a file upload. */
function uploadForm({ pageContext, token }: DeskContext, action: string, label: string): Html {
  const { t } = pageContext
  return html`<form class="upload" method="post" enctype="multipart/form-data" action="${pageContext.href(action)}">
${hiddenField('form_token', token)}<div class="field"><label for="file">${label}</label>
<input id="file" type="file" name="file" required></div>
<progress hidden max="1" value="0" aria-label="${t('Progress')}"></progress><p class="error" role="alert" hidden></p>
<div class="buttons"><button>${t('Upload')}</button></div></form>`
}

/** The form for an address and its schedule. */
function addressForm({ pageContext, token }: DeskContext): Html {
  const { t } = pageContext
  return html`<form method="post" action="${pageContext.href('/desk/')}">${hiddenField('form_token', token)}<div class="field"><label for="url">${t('Address of a file')}</label>
<input id="url" name="url" type="url" required></div><div class="field"><label for="refresh">${t('Schedule')} <code>hourly, daily, weekly, monthly, 30 3 * * *</code></label>
<input id="refresh" name="refresh"></div><div class="buttons"><button>${t('Add')}</button></div></form>`
}

export function listBody(desk: DeskContext, datasets: readonly DeskDataset[], isForNew: boolean): Html {
  const { pageContext } = desk
  const { t } = pageContext
  const rows = datasets.map(
    each => html`<tr><th scope="row"><a href="${pageContext.href(`/desk/${each.id}/`)}">${each.title}</a></th><td><code>${each.id}</code></td>
<td>${publicationText(t, each)}</td><td class="number">${each.manifest === null ? '' : pageContext.number(each.manifest.statistics.records)}</td></tr>
`,
  )
  return html`<h1>${t('Desk')}</h1>
${isForNew ? html`<h2>${t('New dataset')}</h2>${uploadForm(desk, '/desk/', t('File'))}${addressForm(desk)}<p><a href="${pageContext.href('/desk/~harvest/')}">${t('Harvested catalogs')}</a></p>` : ''}
<h2>${t('Datasets')}</h2>
${
  datasets.length === 0
    ? html`<p class="empty">${t('There is no dataset yet. Upload a file.')}</p>`
    : html`<div class="scroll" tabindex="0" role="region" aria-label="${t('Datasets')}"><table><thead><tr><th scope="col">${t('Title')}</th><th scope="col">${t('Identifier')}</th><th scope="col">${t('State')}</th><th scope="col">${t('Records')}</th></tr></thead><tbody>${rows}</tbody></table></div>`
}`
}

/** Heading, sections and the buttons of a dataset, with the content of a section. */
export function datasetBody(
  { pageContext, token }: DeskContext,
  dataset: DeskDataset,
  section: SectionName,
  messages: {
    readonly done: string | null
    readonly problem: string | null
    readonly running: string | null
  },
  content: Html,
): Html {
  const { t } = pageContext
  const home = `/desk/${dataset.id}/`
  const links = SECTIONS.map(({ name, label }) => {
    const here = name === section ? html` aria-current="page"` : ''
    return html`<li><a href="${pageContext.href(`${home}${name}/`)}"${here}>${t(label)}</a></li>`
  })
  const button = (action: string, label: string, kind = 'plain') =>
    html`<form method="post" action="${pageContext.href(`${home}${section}/`)}">${hiddenField('form_token', token)}${hiddenField('action', action)}<button class="${kind}">${label}</button></form> `
  return html`<div class="dataset-head"><nav class="crumbs" aria-label="${t('Where you are')}"><a href="${pageContext.href('/desk/')}">${t('Desk')}</a></nav>
<h1>${dataset.title}</h1>
<p>${publicationText(t, dataset)} ${dataset.manifest === null ? '' : html`<a href="${pageContext.href(`/explore/dataset/${dataset.id}/`)}">${t('The page of the dataset')}</a>`}</p>
<div class="buttons">${button('publish', t('Publish'), '')}${dataset.manifest === null ? '' : button('withdraw', t('Unpublish'))}${dataset.hasDraft ? button('discard', t('Discard changes')) : ''}</div>
<nav class="tabs" aria-label="${t('Views of the dataset')}"><ul>${links}</ul></nav></div>
${messages.problem === null ? '' : note('bad', html`<p class="lines">${messages.problem}</p>`)}${messages.done === null ? '' : note('good', html`<p>${messages.done}</p>`)}${messages.running === null ? '' : note('good', html`<p>${messages.running} <a href="${pageContext.href(`${home}${section}/`)}">${t('Look again')}</a></p>`)}
<div class="reading">${content}</div>`
}

/** The fields with their examples, to be changed, and the first records. */
export function fieldsBody(
  desk: DeskContext,
  dataset: DeskDataset,
  fields: readonly PreviewedField[],
  records: readonly (readonly Parameters<typeof valueJson>[0][])[],
): Html {
  const { pageContext, token } = desk
  const { t } = pageContext
  const path = `/desk/${dataset.id}/fields/`
  const rows = fields.map(({ spec, field, examples, conversionErrors }, at) => {
    const input = (name: string, label: string, value: string) =>
      html`<input name="${name}.${at}" value="${value}" aria-label="${label}: ${spec.name}">`
    const options = FIELD_TYPES.map(
      type => html`<option${type === field.type ? html` selected` : ''}>${type}</option>`,
    )
    const shown = examples.map(
      (example, index) =>
        html`${index === 0 ? '' : ', '}${valueCell(pageContext, valueJson(example, field.type, STYLE), field)}`,
    )
    return html`<tr><th scope="row">${hiddenField(`name.${at}`, spec.name)}<code>${spec.name}</code></th>
<td><select name="type.${at}" aria-label="${t('Type')}: ${spec.name}">${options}</select></td>
<td>${input('label', t('Label'), field.label)}</td><td>${input('description', t('Description'), field.description ?? '')}</td>
<td><input type="checkbox" name="facet.${at}" value="1" aria-label="${t('Facet')}: ${spec.name}"${field.annotations.facet === undefined ? '' : html` checked`}></td>
<td>${shown}${conversionErrors === null ? '' : html`<br><span class="error">${t('Values that do not fit')} (${pageContext.number(conversionErrors.count)}): ${conversionErrors.examples.map(({ found }) => String(found)).join(', ')}</span>`}</td></tr>
`
  })
  const heads = [t('Name'), t('Type'), t('Label'), t('Description'), t('Facet'), t('Examples')]
  return html`<h2>${t('Data')}</h2>
${uploadForm(desk, path, t('Another file as source'))}
${
  fields.length === 0
    ? ''
    : html`<h2 id="fields">${t('Fields')}</h2>
<form method="post" action="${pageContext.href(path)}">${hiddenField('form_token', token)}${hiddenField('action', 'fields')}
<div class="scroll" tabindex="0" role="region" aria-labelledby="fields"><table><thead><tr>${heads.map(head => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>
<div class="buttons"><button>${t('Save')}</button></div></form>
<h2 id="preview">${t('Preview')}</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="preview"><table><thead><tr>${fields.map(({ field }) => html`<th scope="col">${field.label}</th>`)}</tr></thead><tbody>${records.map(
        values => html`<tr>${fields.map(({ field }, at) => html`<td>${valueCell(pageContext, valueJson(values[at] ?? null, field.type, STYLE), field)}</td>`)}</tr>
`,
      )}</tbody></table></div>`
}`
}

/** Metadata and visibility of the dataset. */
export function descriptionBody(
  { pageContext, token }: DeskContext,
  dataset: DeskDataset,
  definition: Definition | null,
): Html {
  const { t } = pageContext
  const inputs = METADATA.map(({ template, name, label, isLong, options, kind }) => {
    const id = `${template}.${name}`
    const value = valueText(lookup(lookup(definition?.metas ?? {}, template) ?? {}, name))
    const list = options.length === 0 ? '' : html` list="${id}-list"`
    const field = isLong
      ? html`<textarea id="${id}" name="${id}" rows="4">
${value}</textarea>`
      : html`<input id="${id}" name="${id}" value="${value}"${list}>`
    return html`<div class="field"><label for="${id}">${t(label)}${kind === 'list' ? html` <span class="soft">(${t('several with semicolons between')})</span>` : ''}</label>${field}${options.length === 0 ? '' : html`<datalist id="${id}-list">${options.map(option => html`<option value="${option}">`)}</datalist>`}</div>
`
  })
  const isRestricted = dataset.visibility === 'restricted'
  const radio = (value: string, label: string, isChosen: boolean) =>
    html`<div class="choice"><input type="radio" id="visibility-${value}" name="visibility" value="${value}"${isChosen ? html` checked` : ''}><label for="visibility-${value}">${label}</label></div>`
  return html`<h2>${t('Description')}</h2>
<form method="post" action="${pageContext.href(`/desk/${dataset.id}/description/`)}">${hiddenField('form_token', token)}${hiddenField('action', 'description')}
${inputs}<fieldset class="field"><legend>${t('Who may see it')}</legend>${radio('public', t('Everybody'), !isRestricted)}${radio('restricted', t('Those to whom it is granted'), isRestricted)}</fieldset>
<div class="buttons"><button>${t('Save')}</button></div></form>`
}

export function mappingBody(
  { pageContext, token }: DeskContext,
  dataset: DeskDataset,
  text: string | null,
): Html {
  const { t } = pageContext
  return html`<h2>${t('Mapping')}</h2><p>${t('A mapping is written in YARRRML or RML and defines the triples of each record.')}</p>
<form method="post" action="${pageContext.href(`/desk/${dataset.id}/mapping/`)}">${hiddenField('form_token', token)}${hiddenField('action', 'mapping')}
<div class="field"><label for="mapping">YARRRML / RML</label><textarea id="mapping" name="text" rows="16" spellcheck="false">
${text ?? ''}</textarea></div><div class="buttons"><button>${t('Save')}</button></div></form>`
}

export function reportBody({ pageContext }: DeskContext, findings: readonly DeskFinding[]): Html {
  const { t } = pageContext
  if (findings.length === 0)
    return html`<h2>${t('Report')}</h2><p class="empty">${t('No errors: ready to publish.')}</p>`
  const items = findings.map(
    ({
      severity,
      message,
    }) => html`<li><strong>${severity === 'error' ? t('Error') : t('Warning')}</strong> <span class="lines">${message}</span></li>
`,
  )
  return html`<h2>${t('Report')}</h2><ul>${items}</ul>`
}

export function historyBody(
  { pageContext, token }: DeskContext,
  dataset: DeskDataset,
  cached: readonly Manifest[],
  entries: readonly HistoryEntry[],
): Html {
  const { t } = pageContext
  const versions = cached.map(({ version, published, statistics }, at) => {
    const back = html`<form method="post" action="${pageContext.href(`/desk/${dataset.id}/history/`)}">${hiddenField('form_token', token)}${hiddenField('action', 'restore')}${hiddenField('version', version)}<button class="plain small" aria-label="${t('Roll back')}: ${version}">${t('Roll back')}</button></form>`
    return html`<tr><th scope="row"><time datetime="${published}">${pageContext.date(published, 'moment')}</time></th><td class="number">${pageContext.number(statistics.records)}</td><td><code>${version}</code></td><td>${at === 0 ? t('in force') : back}</td></tr>
`
  })
  const done = entries.map(
    ({
      at,
      by,
      action,
      version,
      changed,
    }) => html`<tr><th scope="row"><time datetime="${at}">${pageContext.date(at, 'moment')}</time></th><td>${by ?? ''}</td><td>${t(ACTION_NAMES[action])}</td><td>${[...changed, ...(version === null ? [] : [version])].join(', ')}</td></tr>
`,
  )
  return html`<h2 id="versions">${t('Versions')}</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="versions"><table><thead><tr><th scope="col">${t('Published')}</th><th scope="col">${t('Records')}</th><th scope="col">${t('Version')}</th><th scope="col">${t('State')}</th></tr></thead><tbody>${versions}</tbody></table></div>
<h2 id="history">${t('History')}</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="history"><table><thead><tr><th scope="col">${t('Date and time')}</th><th scope="col">${t('User name')}</th><th scope="col">${t('What was done')}</th><th scope="col">${t('Changes')}</th></tr></thead><tbody>${done}</tbody></table></div>`
}

const ACTION_NAMES: Readonly<Record<HistoryEntry['action'], string>> = {
  create: messageKey('begun'),
  update: messageKey('changed'),
  upload: messageKey('file uploaded'),
  publish: messageKey('published'),
  withdraw: messageKey('withdrawn'),
  'roll back': messageKey('rolled back'),
  delete: messageKey('removed'),
}
