import { FIELD_TYPES } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import type { Definition } from '../../publishing/definition.ts'
import type { PreviewedField } from '../../publishing/management/dataset-preview.ts'
import type { HistoryEntry } from '../../publishing/management/history.ts'
import type { DeskDataset, DeskFinding } from '../../publishing/management/management.ts'
import type { Manifest } from '../../publishing/versions/versions.ts'
import { EXPLORE_V21 } from '../../query/dialect.ts'
import { valueJson } from '../../query/execute/json.ts'
import { hiddenField, note } from '../../site/account-fields.ts'
import { type Html, html } from '../../site/html.ts'
import type { Visit } from '../../site/page-context.ts'
import { type Translator, toSay } from '../../site/translator.ts'
import { valueCell } from '../parts/value.ts'
import { METADATA, valueText } from './metadata.ts'

const STYLE = { dialect: EXPLORE_V21, timezone: 'UTC' } as const

/** The sections of a dataset at the desk, in the order of the work. */
export const SECTIONS = [
  { name: 'fields', label: toSay('Data and fields') },
  { name: 'description', label: toSay('Description') },
  { name: 'mapping', label: toSay('Mapping') },
  { name: 'report', label: toSay('Report') },
  { name: 'history', label: toSay('History') },
] as const
export type SectionName = (typeof SECTIONS)[number]['name']

/** What all pages of the desk are made of. */
export interface DeskVisit {
  readonly visit: Visit
  readonly token: string
}

export function stateText(say: Translator, { state, hasDraft }: DeskDataset): string {
  const names = {
    draft: say('draft'),
    published: say('published'),
    withdrawn: say('withdrawn'),
    unpublished: say('not published'),
  }
  return hasDraft && state !== 'draft' ? `${names[state]}, ${say('with changes')}` : names[state]
}

/** The form that takes a file. */
function uploadForm({ visit, token }: DeskVisit, action: string, label: string): Html {
  const { say } = visit
  return html`<form class="upload" method="post" enctype="multipart/form-data" action="${visit.href(action)}">
${hiddenField('form_token', token)}<div class="field"><label for="file">${label}</label>
<input id="file" type="file" name="file" required></div>
<progress hidden max="1" value="0" aria-label="${say('Progress')}"></progress><p class="error" role="alert" hidden></p>
<div class="buttons"><button>${say('Upload')}</button></div></form>`
}

export function listBody(desk: DeskVisit, datasets: readonly DeskDataset[], isForNew: boolean): Html {
  const { visit } = desk
  const { say } = visit
  const rows = datasets.map(
    each => html`<tr><th scope="row"><a href="${visit.href(`/desk/${each.id}/`)}">${each.title}</a></th><td><code>${each.id}</code></td>
<td>${stateText(say, each)}</td><td class="number">${each.manifest === null ? '' : visit.number(each.manifest.statistics.records)}</td></tr>
`,
  )
  return html`<h1>${say('Desk')}</h1>
${isForNew ? html`<h2>${say('New dataset')}</h2>${uploadForm(desk, '/desk/', say('File'))}` : ''}
<h2>${say('Datasets')}</h2>
${
  datasets.length === 0
    ? html`<p class="empty">${say('There is no dataset yet. Upload a file.')}</p>`
    : html`<div class="scroll" tabindex="0" role="region" aria-label="${say('Datasets')}"><table><thead><tr><th scope="col">${say('Title')}</th><th scope="col">${say('Identifier')}</th><th scope="col">${say('State')}</th><th scope="col">${say('Records')}</th></tr></thead><tbody>${rows}</tbody></table></div>`
}`
}

/** Heading, sections and the buttons of a dataset, with what a section shows. */
export function datasetBody(
  { visit, token }: DeskVisit,
  dataset: DeskDataset,
  section: SectionName,
  notes: { readonly done: string | null; readonly problem: string | null; readonly running: string | null },
  content: Html,
): Html {
  const { say } = visit
  const home = `/desk/${dataset.id}/`
  const links = SECTIONS.map(({ name, label }) => {
    const here = name === section ? html` aria-current="page"` : ''
    return html`<li><a href="${visit.href(`${home}${name}/`)}"${here}>${say(label)}</a></li>`
  })
  const button = (action: string, label: string, kind = 'plain') =>
    html`<form method="post" action="${visit.href(`${home}${section}/`)}">${hiddenField('form_token', token)}${hiddenField('action', action)}<button class="${kind}">${label}</button></form> `
  return html`<div class="dataset-head"><nav class="crumbs" aria-label="${say('Where you are')}"><a href="${visit.href('/desk/')}">${say('Desk')}</a></nav>
<h1>${dataset.title}</h1>
<p>${stateText(say, dataset)} ${dataset.manifest === null ? '' : html`<a href="${visit.href(`/explore/dataset/${dataset.id}/`)}">${say('The page of the dataset')}</a>`}</p>
<div class="buttons">${button('publish', say('Publish'), '')}${dataset.manifest === null ? '' : button('withdraw', say('Withdraw'))}${dataset.hasDraft ? button('discard', say('Discard changes')) : ''}</div>
<nav class="tabs" aria-label="${say('Views of the dataset')}"><ul>${links}</ul></nav></div>
${notes.problem === null ? '' : note('bad', html`<p class="lines">${notes.problem}</p>`)}${notes.done === null ? '' : note('good', html`<p>${notes.done}</p>`)}${notes.running === null ? '' : note('good', html`<p>${notes.running} <a href="${visit.href(`${home}${section}/`)}">${say('Look again')}</a></p>`)}
<div class="reading">${content}</div>`
}

/** The fields with their examples, to be changed, and the first records. */
export function fieldsBody(
  desk: DeskVisit,
  dataset: DeskDataset,
  fields: readonly PreviewedField[],
  records: readonly (readonly Parameters<typeof valueJson>[0][])[],
): Html {
  const { visit, token } = desk
  const { say } = visit
  const path = `/desk/${dataset.id}/fields/`
  const rows = fields.map(({ spec, field, examples, misfits }, at) => {
    const input = (name: string, label: string, value: string) =>
      html`<input name="${name}.${at}" value="${value}" aria-label="${label}: ${spec.name}">`
    const options = FIELD_TYPES.map(
      type => html`<option${type === field.type ? html` selected` : ''}>${type}</option>`,
    )
    const shown = examples.map(
      (example, index) =>
        html`${index === 0 ? '' : ', '}${valueCell(visit, valueJson(example, field.type, STYLE), field)}`,
    )
    return html`<tr><th scope="row">${hiddenField(`name.${at}`, spec.name)}<code>${spec.name}</code></th>
<td><select name="type.${at}" aria-label="${say('Type')}: ${spec.name}">${options}</select></td>
<td>${input('label', say('Label'), field.label)}</td><td>${input('description', say('Description'), field.description ?? '')}</td>
<td><input type="checkbox" name="facet.${at}" value="1" aria-label="${say('Facet')}: ${spec.name}"${field.annotations.facet === undefined ? '' : html` checked`}></td>
<td>${shown}${misfits === null ? '' : html`<br><span class="error">${say('Values that do not fit')} (${visit.number(misfits.count)}): ${misfits.examples.map(({ found }) => String(found)).join(', ')}</span>`}</td></tr>
`
  })
  const heads = [say('Name'), say('Type'), say('Label'), say('Description'), say('Facet'), say('Examples')]
  return html`<h2>${say('Data')}</h2>
${uploadForm(desk, path, say('Another file as source'))}
${
  fields.length === 0
    ? ''
    : html`<h2 id="fields">${say('Fields')}</h2>
<form method="post" action="${visit.href(path)}">${hiddenField('form_token', token)}${hiddenField('action', 'fields')}
<div class="scroll" tabindex="0" role="region" aria-labelledby="fields"><table><thead><tr>${heads.map(head => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>
<div class="buttons"><button>${say('Save')}</button></div></form>
<h2 id="preview">${say('Preview')}</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="preview"><table><thead><tr>${fields.map(({ field }) => html`<th scope="col">${field.label}</th>`)}</tr></thead><tbody>${records.map(
        values => html`<tr>${fields.map(({ field }, at) => html`<td>${valueCell(visit, valueJson(values[at] ?? null, field.type, STYLE), field)}</td>`)}</tr>
`,
      )}</tbody></table></div>`
}`
}

/** Metadata and who may see the dataset. */
export function descriptionBody(
  { visit, token }: DeskVisit,
  dataset: DeskDataset,
  definition: Definition | null,
): Html {
  const { say } = visit
  const inputs = METADATA.map(({ template, name, label, isLong, options, kind }) => {
    const id = `${template}.${name}`
    const value = valueText(lookup(lookup(definition?.metas ?? {}, template) ?? {}, name))
    const list = options.length === 0 ? '' : html` list="${id}-list"`
    const field = isLong
      ? html`<textarea id="${id}" name="${id}" rows="4">
${value}</textarea>`
      : html`<input id="${id}" name="${id}" value="${value}"${list}>`
    return html`<div class="field"><label for="${id}">${say(label)}${kind === 'list' ? html` <span class="soft">(${say('several with semicolons between')})</span>` : ''}</label>${field}${options.length === 0 ? '' : html`<datalist id="${id}-list">${options.map(option => html`<option value="${option}">`)}</datalist>`}</div>
`
  })
  const isRestricted = dataset.visibility === 'restricted'
  const radio = (value: string, label: string, isChosen: boolean) =>
    html`<div class="choice"><input type="radio" id="visibility-${value}" name="visibility" value="${value}"${isChosen ? html` checked` : ''}><label for="visibility-${value}">${label}</label></div>`
  return html`<h2>${say('Description')}</h2>
<form method="post" action="${visit.href(`/desk/${dataset.id}/description/`)}">${hiddenField('form_token', token)}${hiddenField('action', 'description')}
${inputs}<fieldset class="field"><legend>${say('Who may see it')}</legend>${radio('public', say('Everybody'), !isRestricted)}${radio('restricted', say('Those to whom it is granted'), isRestricted)}</fieldset>
<div class="buttons"><button>${say('Save')}</button></div></form>`
}

export function mappingBody({ visit, token }: DeskVisit, dataset: DeskDataset, text: string | null): Html {
  const { say } = visit
  return html`<h2>${say('Mapping')}</h2><p>${say('A mapping is written in YARRRML or RML and says which triples each record becomes.')}</p>
<form method="post" action="${visit.href(`/desk/${dataset.id}/mapping/`)}">${hiddenField('form_token', token)}${hiddenField('action', 'mapping')}
<div class="field"><label for="mapping">YARRRML / RML</label><textarea id="mapping" name="text" rows="16" spellcheck="false">
${text ?? ''}</textarea></div><div class="buttons"><button>${say('Save')}</button></div></form>`
}

export function reportBody({ visit }: DeskVisit, findings: readonly DeskFinding[]): Html {
  const { say } = visit
  if (findings.length === 0)
    return html`<h2>${say('Report')}</h2><p class="empty">${say('Nothing stands against publishing.')}</p>`
  const items = findings.map(
    ({
      severity,
      message,
    }) => html`<li><strong>${severity === 'error' ? say('Error') : say('Warning')}</strong> <span class="lines">${message}</span></li>
`,
  )
  return html`<h2>${say('Report')}</h2><ul>${items}</ul>`
}

export function historyBody(
  { visit, token }: DeskVisit,
  dataset: DeskDataset,
  kept: readonly Manifest[],
  entries: readonly HistoryEntry[],
): Html {
  const { say } = visit
  const versions = kept.map(({ version, published, statistics }, at) => {
    const back = html`<form method="post" action="${visit.href(`/desk/${dataset.id}/history/`)}">${hiddenField('form_token', token)}${hiddenField('action', 'restore')}${hiddenField('version', version)}<button class="plain small" aria-label="${say('Roll back')}: ${version}">${say('Roll back')}</button></form>`
    return html`<tr><th scope="row"><time datetime="${published}">${visit.date(published, 'moment')}</time></th><td class="number">${visit.number(statistics.records)}</td><td><code>${version}</code></td><td>${at === 0 ? say('in force') : back}</td></tr>
`
  })
  const done = entries.map(
    ({
      at,
      by,
      action,
      version,
      changed,
    }) => html`<tr><th scope="row"><time datetime="${at}">${visit.date(at, 'moment')}</time></th><td>${by ?? ''}</td><td>${say(ACTION_NAMES[action])}</td><td>${[...changed, ...(version === null ? [] : [version])].join(', ')}</td></tr>
`,
  )
  return html`<h2 id="versions">${say('Versions')}</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="versions"><table><thead><tr><th scope="col">${say('Published')}</th><th scope="col">${say('Records')}</th><th scope="col">${say('Version')}</th><th scope="col">${say('State')}</th></tr></thead><tbody>${versions}</tbody></table></div>
<h2 id="history">${say('History')}</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="history"><table><thead><tr><th scope="col">${say('Date and time')}</th><th scope="col">${say('User name')}</th><th scope="col">${say('What was done')}</th><th scope="col">${say('Changes')}</th></tr></thead><tbody>${done}</tbody></table></div>`
}

const ACTION_NAMES: Readonly<Record<HistoryEntry['action'], string>> = {
  create: toSay('begun'),
  update: toSay('changed'),
  upload: toSay('file uploaded'),
  publish: toSay('published'),
  withdraw: toSay('withdrawn'),
  'roll back': toSay('rolled back'),
  delete: toSay('removed'),
}
