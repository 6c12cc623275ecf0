import { html } from '../../http/html.ts'
import { metaText, plainText } from '../services.ts'
import type { Tab } from './tab.ts'

/** What a dataset is: what its publisher says of it, its fields, its attachments. */
export const informationTab: Tab = {
  name: 'information',
  label: 'Information',
  isFiltered: false,
  isShown: () => true,
  render: async ({ entry }) => ({
    body: html`<p>${plainText(metaText(entry, 'description') ?? '')}</p>`,
  }),
}
