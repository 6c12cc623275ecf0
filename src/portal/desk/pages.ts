import type { Form } from '../../http/form.ts'
import { type Diagnostic, messageText } from '../../mapping/diagnostic.ts'
import { lookup } from '../../model/lookup.ts'
import type { Principal } from '../../model/principal.ts'
import type { Definition } from '../../publishing/definition.ts'
import type { Desk } from '../../publishing/management/desk.ts'
import type { DeskDataset, DeskFinding } from '../../publishing/management/desk-types.ts'
import type { EditedMapping } from '../../publishing/management/edited-mapping.ts'
import type { HistoryEntry } from '../../publishing/management/history.ts'
import type { VersionManifest } from '../../publishing/versions/versions.ts'
import { choiceField, hiddenField, note } from '../../site/account-fields.ts'
import { type Html, html } from '../../site/html.ts'
import { messageKey, type PageContext, type Translator } from '../../site/page-context.ts'
import { languageField } from '../parts/form-fields.ts'
import { METADATA, valueText } from './forms.ts'
import { openedField } from './opened.ts'

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

/** A user at the desk. */
export interface DeskUser {
  readonly desk: Desk
  readonly principal: Principal
  readonly context: DeskContext
}

/** A form of a section: what it is made from, and what a user entered into it before. */
export interface FormState {
  /** Digest of the text that it edits: a change of that text by others is noticed when the form is saved. */
  readonly opened: string
  /** A form that was not saved; null for what is saved. */
  readonly given: Form | null
}

/** The hidden fields of a form of a section. */
export function sectionFields(
  { token }: DeskContext,
  { opened, given }: FormState,
  action: string | null,
): Html {
  return html`${hiddenField('form_token', token)}${openedField(opened, given !== null)}${action === null ? '' : hiddenField('action', action)}`
}

/** The state of a dataset for those who publish it. */
export function publicationBadge(t: Translator, { state, hasDraft }: DeskDataset): Html {
  const names = {
    draft: t('draft'),
    published: t('published'),
    withdrawn: t('withdrawn'),
    unpublished: t('not published'),
  }
  const text = hasDraft && state !== 'draft' ? `${names[state]}, ${t('with changes')}` : names[state]
  return html`<span class="badge">${text}</span>`
}

/** The form for a file upload. */
export function uploadForm({ pageContext, token }: DeskContext, action: string, label: string): Html {
  const { t } = pageContext
  return html`<form class="upload" method="post" enctype="multipart/form-data" action="${pageContext.href(action)}">
${hiddenField('form_token', token)}<div class="field"><label for="file">${label}</label>
<input id="file" type="file" name="file" required></div>
<progress hidden max="1" value="0" aria-label="${t('Progress')}"></progress><p class="error" role="alert" hidden></p>
<div class="buttons"><button>${t('Upload')}</button> <button type="button" class="plain" hidden>${t('Cancel')}</button></div></form>`
}

/** Heading, sections and the buttons of a dataset, with the content of a section. */
export function datasetBody(
  { pageContext, token }: DeskContext,
  dataset: DeskDataset,
  section: SectionName,
  messages: {
    readonly done: string | null
    readonly problem: Html | null
    readonly running: string | null
    /** True if the form is not that of the text which is saved now. */
    readonly isOutdated: boolean
    /** True if the page of the dataset is there for the user, who may publish a restricted dataset without seeing its records. */
    readonly isVisible: boolean
  },
  content: Html,
): Html {
  const { t } = pageContext
  const home = `/desk/${dataset.id}/`
  const links = SECTIONS.map(({ name, label }) => {
    const here = name === section ? html` aria-current="page"` : ''
    return html`<li><a href="${pageContext.href(`${home}${name}/`)}"${here}>${t(label)}</a></li>`
  })
  const path = pageContext.href(`${home}${section}/`)
  const ask = (action: Question, label: string) =>
    html`<form action="${path}">${languageField(pageContext)}${hiddenField('ask', action)}<button class="plain">${label}</button></form> `
  return html`<div class="dataset-head"><nav class="crumbs" aria-label="${t('Where you are')}"><a href="${pageContext.href('/desk/')}">${t('Desk')}</a></nav>
<h1>${dataset.title}</h1>
<p>${publicationBadge(t, dataset)} ${!messages.isVisible ? '' : html`<a href="${pageContext.href(`/explore/dataset/${dataset.id}/`)}">${t('The page of the dataset')}</a>`}</p>
<div class="buttons"><form method="post" action="${path}">${hiddenField('form_token', token)}${hiddenField('action', 'publish')}<button>${t('Publish')}</button></form> ${dataset.manifest === null ? '' : ask('withdraw', t('Unpublish'))}${dataset.hasDraft ? ask('discard', t('Discard changes')) : ''}</div>
<nav class="tabs" aria-label="${t('Views of the dataset')}"><ul>${links}</ul></nav></div>
${messages.problem === null || content.html.includes(messages.problem.html) ? '' : note('bad', html`${messages.problem}${messages.isOutdated ? html`<p><a href="${path}" target="_blank">${t('Show what is saved now')}</a></p>` : ''}`)}${messages.done === null ? '' : note('good', html`<p>${messages.done}</p>`)}${messages.running === null ? '' : note('good', html`<p>${messages.running} <a href="${path}">${t('Look again')}</a></p>`)}
<div${section === 'fields' ? '' : html` class="reading"`}>${content}</div>`
}

/** An action that is asked about before it is done. */
type Question = 'discard' | 'withdraw'

/** Asks before something is done that cannot be undone; null if there is nothing to ask. */
export function questionBody(
  { pageContext, token }: DeskContext,
  dataset: DeskDataset,
  section: SectionName,
  question: string | undefined,
): Html | null {
  const { t } = pageContext
  const path = pageContext.href(`/desk/${dataset.id}/${section}/`)
  const page = (action: Question, label: string, lost: string) =>
    html`<h2>${label}</h2><p>${lost}</p>
<form method="post" action="${path}">${hiddenField('form_token', token)}${hiddenField('action', action)}<div class="buttons"><button>${label}</button> <a href="${path}">${t('Cancel')}</a></div></form>`
  if (question === 'discard' && dataset.hasDraft)
    return page(
      question,
      t('Discard changes'),
      dataset.state === 'draft'
        ? t('This dataset was never published: it is deleted with its file, and cannot be brought back.')
        : t('All changes that are not published are lost, with the files that were uploaded since.'),
    )
  if (question === 'withdraw' && dataset.manifest !== null)
    return page(
      question,
      t('Unpublish'),
      t(
        'The dataset is taken off this portal, and its earlier versions are deleted: nobody can roll back to them. Its files stay, and it can be published again.',
      ),
    )
  return null
}

/** Metadata and visibility of the dataset. */
export function descriptionBody(
  desk: DeskContext,
  dataset: DeskDataset,
  definition: Definition | null,
  state: FormState,
): Html {
  const { pageContext } = desk
  const { t } = pageContext
  const { given } = state
  const inputs = METADATA.map(({ template, name, label, isLong, options, kind }) => {
    const id = `${template}.${name}`
    const saved = valueText(lookup(lookup(definition?.metas ?? {}, template) ?? {}, name))
    const value = given?.get(id) ?? saved
    const list = options.length === 0 ? '' : html` list="${id}-list"`
    const field = isLong
      ? html`<textarea id="${id}" name="${id}" rows="4" dir="auto">
${value}</textarea>`
      : html`<input id="${id}" name="${id}" value="${value}" dir="auto"${list}>`
    return html`<div class="field"><label for="${id}">${t(label)}${kind === 'list' ? html` <span class="soft">(${t('several with semicolons between')})</span>` : ''}</label>${field}${options.length === 0 ? '' : html`<datalist id="${id}-list">${options.map(option => html`<option value="${option}">`)}</datalist>`}</div>
`
  })
  const isRestricted = (given?.get('visibility') ?? dataset.visibility) === 'restricted'
  return html`<h2>${t('Description')}</h2>
<form method="post" action="${pageContext.href(`/desk/${dataset.id}/description/`)}">${sectionFields(desk, state, 'description')}
${inputs}<fieldset class="field"><legend>${t('Who may see it')}</legend>${choiceField('radio', 'visibility', t('Everybody'), !isRestricted, 'public')}${choiceField('radio', 'visibility', t('Those to whom it is granted'), isRestricted, 'restricted')}</fieldset>
<div class="buttons"><button>${t('Save')}</button></div></form>`
}

export function mappingBody(
  desk: DeskContext,
  dataset: DeskDataset,
  { text, isProposal, diagnostics }: EditedMapping,
  state: FormState,
): Html {
  const { pageContext } = desk
  const { t } = pageContext
  const findings = diagnostics.map(diagnostic => {
    const { severity, place, hint } = diagnostic
    const lines = [`${place.line}:${place.column}: ${messageText(diagnostic)}`, hint].filter(line => line)
    return { severity, message: lines.join('\n') }
  })
  return html`<h2>${t('Mapping')}</h2><p>${t('A mapping is written in YARRRML or RML and defines the triples of each record.')}</p>
${isProposal ? html`<p>${t('The dataset has no mapping of its own. This is a proposal based on its fields; save it to use it.')}</p>` : ''}${findingList(pageContext, findings)}
<form method="post" action="${pageContext.href(`/desk/${dataset.id}/mapping/`)}">${sectionFields(desk, state, 'mapping')}
<div class="field"><label for="mapping">YARRRML / RML</label><textarea id="mapping" name="text" rows="24" spellcheck="false" dir="ltr">
${state.given?.get('text') ?? text}</textarea></div><div class="buttons"><button>${t('Save')}</button></div></form>`
}

export function reportBody({ pageContext }: DeskContext, findings: readonly DeskFinding[]): Html {
  const { t } = pageContext
  if (findings.length === 0)
    return html`<h2>${t('Report')}</h2><p class="empty">${t('No errors: ready to publish.')}</p>`
  return html`<h2>${t('Report')}</h2>${findingList(pageContext, findings)}`
}

/** Errors and warnings, the texts of which are in English. */
function findingList(
  { t }: DeskContext['pageContext'],
  findings: readonly { readonly severity: Diagnostic['severity']; readonly message: string }[],
): Html {
  const items = findings
    .filter(({ severity }) => severity !== 'info')
    .map(
      ({
        severity,
        message,
      }) => html`<li><strong>${severity === 'error' ? t('Error') : t('Warning')}</strong> <span class="lines" lang="en" dir="ltr">${message}</span></li>
`,
    )
  return items.length === 0 ? html`` : html`<ul>${items}</ul>`
}

export function historyBody(
  { pageContext, token }: DeskContext,
  dataset: DeskDataset,
  cached: readonly VersionManifest[],
  entries: readonly HistoryEntry[],
): Html {
  const { t } = pageContext
  const versions = cached.map(({ version, published, statistics }, at) => {
    const back = html`<form method="post" action="${pageContext.href(`/desk/${dataset.id}/history/`)}">${hiddenField('form_token', token)}${hiddenField('action', 'restore')}${hiddenField('version', version)}<button class="plain small" aria-label="${t('Roll back')}: ${version}">${t('Roll back')}</button></form>`
    return html`<tr><th scope="row"><time datetime="${published}">${pageContext.date(published, 'zoned')}</time></th><td class="number">${pageContext.number(statistics.records)}</td><td><code>${version}</code></td><td>${at === 0 ? t('in force') : back}</td></tr>
`
  })
  const done = entries.map(
    ({
      at,
      by,
      action,
      version,
      changed,
    }) => html`<tr><th scope="row"><time datetime="${at}">${pageContext.date(at, 'zoned')}</time></th><td>${by ?? ''}</td><td>${t(ACTION_NAMES[action])}</td><td>${[...changed, ...(version === null ? [] : [version])].join(', ')}</td></tr>
`,
  )
  return html`${
    versions.length === 0
      ? ''
      : html`<h2 id="versions">${t('Versions')}</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="versions"><table><thead><tr><th scope="col">${t('Published')}</th><th scope="col" class="number">${t('Records')}</th><th scope="col">${t('Version')}</th><th scope="col">${t('State')}</th></tr></thead><tbody>${versions}</tbody></table></div>`
  }${
    done.length === 0
      ? ''
      : html`<h2 id="history">${t('History')}</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="history"><table><thead><tr><th scope="col">${t('Date and time')}</th><th scope="col">${t('User name')}</th><th scope="col">${t('What was done')}</th><th scope="col">${t('Changes')}</th></tr></thead><tbody>${done}</tbody></table></div>`
  }`
}

const ACTION_NAMES: Readonly<Record<HistoryEntry['action'], string>> = {
  create: messageKey('begun'),
  update: messageKey('changed'),
  upload: messageKey('file uploaded'),
  publish: messageKey('published'),
  'publish failed': messageKey('publishing failed'),
  withdraw: messageKey('withdrawn'),
  'roll back': messageKey('rolled back'),
  delete: messageKey('removed'),
}
