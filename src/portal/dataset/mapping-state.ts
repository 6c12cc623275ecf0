import path from 'node:path'
import type { ServedDataset } from '../../catalog/served.ts'
import type { OpenedMapping } from '../../publishing/mapping/mapping-file.ts'
import type { PublicationState } from '../../publishing/publication-state.ts'
import type { Manifest } from '../../publishing/versions/versions.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'

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

/** True for a transient state. */
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
  manifest: Pick<Manifest, 'mapping'>,
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
    default:
      return publication satisfies never
  }
}

/** The state in words. */
function stateText(
  { t, number }: PageContext,
  state: MappingState,
  { file }: Pick<OpenedMapping, 'file'>,
): Html {
  const name = { file: `mappings/${path.basename(file)}` }
  switch (state.type) {
    case 'proposal':
      return html`<p>${t(
        'The dataset has no mapping of its own. This is a proposal based on its fields; save it to use it.',
      )}</p>`
    case 'in-force':
      return html`<p>${t('This is the mapping {file}. It is in force.', name)} ${t.many('It makes {n} triple.', 'It makes {n} triples.', state.triples)}</p>`
    case 'loading':
      return html`<p>${t('The mapping {file} is published. Its triples are being loaded.', name)}</p>`
    case 'publishing':
      return html`<p>${t('The mapping {file} is saved and is being published. Records so far: {records}.', { ...name, records: number(state.records) })}</p>`
    case 'waiting':
      return html`<p>${t('The mapping {file} is saved. The portal publishes it within a few seconds; until then the previous mapping remains in force.', name)}</p>`
    case 'refused':
      return html`<p>${t('The mapping {file} was refused when it was published. The previous mapping remains in force.', name)}</p>`
    case 'failed':
      return html`<p>${t('The mapping {file} could not be published. The previous mapping remains in force.', name)} <span dir="auto">${state.reason}</span></p>`
    default:
      return state satisfies never
  }
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
