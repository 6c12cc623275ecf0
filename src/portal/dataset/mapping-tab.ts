import path from 'node:path'
import { mayEdit } from '../../accounts/authorisation.ts'
import { readDefinition } from '../../publishing/definition.ts'
import { openMapping, proposedMapping } from '../../publishing/mapping/mapping-file.ts'
import type { Manifest } from '../../publishing/versions/versions.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { highlight } from '../parts/highlight.ts'
import type { DraftChecker } from './mapping-draft.ts'
import { draftResults } from './mapping-results.ts'
import { mappingState, stateRegion } from './mapping-state.ts'
import type { Tab, TabContext } from './tab.ts'

/** The action before the tab is shown, and the text that was sent with it. */
export interface MappingEdit {
  readonly checker: DraftChecker
  readonly formToken: string
  /** null for the mapping in the portal folder. */
  readonly text: string | null
  readonly outcome:
    | { readonly type: 'opened' }
    | { readonly type: 'saved' }
    | { readonly type: 'checked' }
    /** It has errors. */
    | { readonly type: 'refused' }
    | { readonly type: 'conflict' }
    | { readonly type: 'unwritable'; readonly code: string }
}

const STATUS = {
  opened: 200,
  saved: 200,
  checked: 200,
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
    isFiltered: false,
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
  { checker, formToken, text, outcome }: MappingEdit,
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
  return html`${described(pageContext, outcome, opened.text)}
${stateRegion(pageContext, state, opened, where)}
<p>${t('A mapping is written in YARRRML or RML and defines the triples of each record.')}</p>
<form class="mapping" method="post" action="${target}" data-check="${pageContext.href(`${context.path('mapping')}check/`)}" data-failed="${t('The portal did not respond. Your text is not lost; try again.')}" data-leaving="${text === null ? '' : 'changed'}">
<input type="hidden" name="form_token" value="${formToken}"><input type="hidden" name="opened" value="${opened.digest}">
<div class="mapping-text"><label for="text">${t('Mapping')}</label>
<textarea id="text" name="text" rows="30" spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off" dir="ltr" data-file="${path.basename(opened.file)}">
${shown}</textarea>
<div class="buttons"><button name="action" value="save">${t('Save')}</button> <button class="plain" name="action" value="check">${t('Check and preview')}</button></div></div>
<div class="mapping-results" aria-live="polite" aria-busy="false">${draftResults(pageContext, checked, opened.file)}</div>
</form>
<script type="application/json" id="mapping-fields">${fieldList(entry.dataset.fields.map(field => field.name))}</script>`
}

/** Names as JSON that is safe in a script element: no `<` ends it. */
function fieldList(names: readonly string[]): Html {
  return { html: JSON.stringify(names).replaceAll('<', '\\u003c') }
}

function proposalOf(portal: string, { dataset, statistics }: Manifest): string {
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
    case 'refused':
      return html`<div class="fault" role="alert"><p>${t('The mapping has errors. It was not saved.')}</p></div>`
    case 'unwritable':
      return html`<div class="fault" role="alert"><p>${t('The mapping cannot be written to the portal folder ({code}). It was not saved.', { code: outcome.code })}</p></div>`
    case 'conflict':
      return html`<div class="fault" role="alert"><p>${t('Another user has changed the mapping since you opened it. Your version was not saved; it is below. Saving again replaces the other version.')}</p>
<details><summary>${t('The mapping as it is now')}</summary><pre dir="ltr" tabindex="0" role="region" aria-label="${t('The mapping as it is now')}"><code>${highlight(current ?? '', 'yaml')}</code></pre></details></div>`
    default:
      return outcome satisfies never
  }
}
