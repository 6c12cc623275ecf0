import path from 'node:path'
import { mayEdit } from '../../accounts/authorisation.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import { readDefinition } from '../../publishing/definition.ts'
import { type OpenedMapping, openMapping, proposedMapping } from '../../publishing/mapping/mapping-file.ts'
import type { PublicationState } from '../../publishing/publication-state.ts'
import type { VersionManifest } from '../../publishing/versions/versions.ts'
import { type Html, html, jsonBlock } from '../../site/html.ts'
import { messageKey, type PageContext } from '../../site/page-context.ts'
import { highlight } from '../parts/highlight.ts'
import { type DraftChecker, draftResults } from './mapping-draft.ts'
import type { Tab, TabContext } from './tab.ts'

/** The action before the tab is shown, and the text that was sent with it. */
export interface MappingEdit {
  readonly checker: DraftChecker
  readonly formToken: string
  /** null for the mapping in the portal folder. */
  readonly text: string | null
  /** Digest of the mapping that the sent text was made from; null for the mapping in the portal folder. */
  readonly opened: string | null
  readonly outcome:
    | { readonly type: 'opened' }
    | { readonly type: 'saved' }
    | { readonly type: 'checked' }
    /** The form is of a session that was replaced since. */
    | { readonly type: 'outdated' }
    /** It has errors. */
    | { readonly type: 'refused' }
    | { readonly type: 'conflict' }
    | { readonly type: 'unwritable'; readonly code: string }
}

const STATUS = {
  opened: 200,
  saved: 200,
  checked: 200,
  outdated: 403,
  refused: 400,
  conflict: 409,
  unwritable: 500,
} as const

/**
 * The editor of a dataset's mapping, for those who may edit it.
 *
 * @param edit null if only the name of the tab is needed: its own routes build the tab of each request
 */
export function mappingTab(edit: MappingEdit | null): Tab {
  return {
    name: 'mapping',
    label: 'Mapping',
    isWide: true,
    isShown: ({ entry, pageContext }) =>
      entry.content === 'records' && mayEdit(pageContext.principal, entry.dataset.id),
    render: async context =>
      edit === null
        ? { body: html`` }
        : {
            body: await editor(context, edit),
            islands: ['mapping.js'],
            status: STATUS[edit.outcome.type],
          },
  }
}

async function editor(
  context: TabContext,
  { checker, formToken, text, opened: given, outcome }: MappingEdit,
): Promise<Html> {
  const { pageContext, services, entry } = context
  const { t } = pageContext
  const { id } = entry.dataset
  const manifest = checker.published(id)
  const opened = openMapping(services.portal, id)
  const shown = text ?? opened.text ?? proposalOf(services.portal, manifest)
  const checked = await checker.check({ text: shown, file: opened.file }, manifest)
  const target = pageContext.href(context.path('mapping'))
  const state = mappingState(opened, manifest, entry, services.publications.of(id))
  const where = {
    address: pageContext.href(`${context.path('mapping')}state/`),
    isSaved: outcome.type === 'saved',
  }
  // Whoever was shown the mapping of another user may replace it.
  const digest = outcome.type === 'conflict' ? opened.digest : (given ?? opened.digest)
  const names = JSON.stringify(entry.dataset.fields.map(field => field.name))
  return html`${described(pageContext, outcome, opened.text)}
${stateRegion(pageContext, state, opened, where)}
<p>${t('A mapping is written in YARRRML or RML and defines the triples of each record.')}</p>
<form class="mapping" method="post" action="${target}" data-check="${pageContext.href(`${context.path('mapping')}check/`)}" data-failed="${t('The portal did not respond. Your text is not lost; try again.')}" data-leaving="${text === null ? '' : 'changed'}">
<input type="hidden" name="form_token" value="${formToken}"><input type="hidden" name="opened" value="${digest}">
<div class="mapping-text"><label for="text">${t('Mapping')}</label>
<textarea id="text" name="text" rows="30" spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off" dir="ltr" data-file="${path.basename(opened.file)}">
${shown}</textarea>
<div class="buttons"><button name="action" value="save">${t('Save')}</button> <button class="plain" name="action" value="check">${t('Check and preview')}</button></div></div>
<div class="mapping-results" aria-live="polite" aria-busy="false">${draftResults(pageContext, checked, opened.file)}</div>
</form>
${jsonBlock(names, 'application/json', 'mapping-fields')}`
}

function proposalOf(portal: string, { dataset, statistics }: VersionManifest): string {
  const { definition } = readDefinition(portal, dataset.id)
  const known = definition ?? { id: dataset.id, identity: [], metas: dataset.metas }
  return proposedMapping(known, dataset.fields, statistics)
}

/** The outcome of the submitted form. */
function described(pageContext: PageContext, outcome: MappingEdit['outcome'], current: string | null): Html {
  const { t } = pageContext
  switch (outcome.type) {
    case 'opened':
    case 'checked':
    case 'saved':
      return html``
    case 'outdated':
      return html`<div class="fault" role="alert"><p>${t('This form is out of date. Nothing was saved. Check your input, and save again.')}</p></div>`
    case 'refused':
      return html`<div class="fault" role="alert"><p>${t('The mapping has errors. It was not saved.')}</p></div>`
    case 'unwritable':
      return html`<div class="fault" role="alert"><p>${t('The mapping cannot be written to the portal folder ({code}). It was not saved.', { code: outcome.code })}</p></div>`
    case 'conflict':
      return html`<div class="fault" role="alert"><p>${t('Another user has changed the mapping since you opened it. Your version was not saved; it is below. Saving again replaces the other version.')}</p>
<details><summary>${t('The mapping as it is now')}</summary><pre dir="ltr" tabindex="0" role="region" aria-label="${t('The mapping as it is now')}"><code>${highlight(current ?? '', 'yaml')}</code></pre></details></div>`
  }
}

/** The state of the mapping in the portal folder. */
export type MappingState =
  /** The dataset has no mapping of its own. */
  | { readonly type: 'proposal' }
  | { readonly type: 'in-force'; readonly triples: number }
  /** Its version is made and not served yet. */
  | { readonly type: 'loading' }
  | { readonly type: 'publishing'; readonly records: number }
  | { readonly type: 'waiting' }
  | { readonly type: 'refused' }
  | { readonly type: 'failed'; readonly reason: string }

/** Transient states. */
const PASSING: ReadonlySet<MappingState['type']> = new Set(['loading', 'publishing', 'waiting'])

function isMappingPassing({ type }: MappingState): boolean {
  return PASSING.has(type)
}

/**
 * Compares the mapping in the portal folder with the published and with the served one.
 *
 * @param publication the latest one of this process; null if none is known
 */
export function mappingState(
  { text }: OpenedMapping,
  manifest: Pick<VersionManifest, 'mapping'>,
  { mapping, triples }: Pick<ServedDataset, 'mapping' | 'triples'>,
  publication: PublicationState | null,
): MappingState {
  if (text === null) return { type: 'proposal' }
  if (mapping?.text === text) return { type: 'in-force', triples }
  if (manifest.mapping?.text === text) return { type: 'loading' }
  switch (publication?.type) {
    case 'running':
      return { type: 'publishing', records: publication.records }
    case 'refused':
      return { type: 'refused' }
    case 'failed':
      return { type: 'failed', reason: publication.reason.split('\n')[0] ?? '' }
    case 'done':
    case undefined:
      return { type: 'waiting' }
  }
}

function stateText(
  { t, number }: PageContext,
  state: MappingState,
  { file }: Pick<OpenedMapping, 'file'>,
): Html {
  const name = { file: `mappings/${path.basename(file)}` }
  const records = state.type === 'publishing' ? number(state.records) : ''
  const more =
    state.type === 'in-force'
      ? html` ${t.many('It makes {n} triple.', 'It makes {n} triples.', state.triples)}`
      : state.type === 'failed'
        ? html` <span dir="auto">${state.reason}</span>`
        : ''
  return html`<p>${t(STATE_TEXTS[state.type], { ...name, records })}${more}</p>`
}

const STATE_TEXTS: Readonly<Record<MappingState['type'], string>> = {
  proposal: messageKey(
    'The dataset has no mapping of its own. This is a proposal based on its fields; save it to use it.',
  ),
  'in-force': messageKey('This is the mapping {file}. It is in force.'),
  loading: messageKey('The mapping {file} is published. Its triples are being loaded.'),
  publishing: messageKey('The mapping {file} is saved and is being published. Records so far: {records}.'),
  waiting: messageKey(
    'The mapping {file} is saved. The portal publishes it within a few seconds; until then the previous mapping remains in force.',
  ),
  refused: messageKey(
    'The mapping {file} was refused when it was published. The previous mapping remains in force.',
  ),
  failed: messageKey('The mapping {file} could not be published. The previous mapping remains in force.'),
}

/** The region of the page with the state, and the address at which its script polls it. */
export function stateRegion(
  pageContext: PageContext,
  state: MappingState,
  opened: Pick<OpenedMapping, 'file'>,
  { address, isSaved }: { readonly address: string; readonly isSaved: boolean },
): Html {
  const tone = state.type === 'refused' || state.type === 'failed' ? 'fault' : isSaved ? 'note good' : ''
  const again = isMappingPassing(state)
    ? html`<noscript><p><a href="">${pageContext.t('Look again')}</a></p></noscript>`
    : ''
  return html`<div class="mapping-state ${tone}" role="status" data-state="${state.type}"${isMappingPassing(state) ? html` data-next="${address}"` : ''}>${stateText(pageContext, state, opened)}${again}</div>`
}
