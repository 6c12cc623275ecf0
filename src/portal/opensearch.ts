import type { ServedDataset } from '../catalog/served.ts'
import { tokens } from '../model/search.ts'
import { XML_DECLARATION, xmlAttribute, xmlText } from '../model/xml.ts'
import type { SiteOptions } from '../site/page-context.ts'
import { datasetTitle, metaTexts } from './services.ts'

const SUGGESTED = 10

/** Describes to browsers how the catalog is searched, so that it can be one of their search engines (OpenSearch 1.1). */
export function openSearchDescription(
  { base, title, description }: SiteOptions,
  language: string,
  text: string,
): string {
  const address = (type: string, path: string, rel = 'results') =>
    `<Url rel="${rel}" type="${type}" template="${xmlAttribute(base + path)}"/>\n`
  return [
    XML_DECLARATION,
    '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">\n',
    // The specification allows sixteen characters.
    `<ShortName>${xmlText(Array.from(title).slice(0, 16).join('').trim())}</ShortName>\n`,
    `<LongName>${xmlText(Array.from(title).slice(0, 48).join('').trim())}</LongName>\n`,
    `<Description>${xmlText(description === '' ? text : description)}</Description>\n`,
    address('text/html', `/explore/?q={searchTerms}`),
    address('application/x-suggestions+json', '/explore/suggestions?q={searchTerms}', 'suggestions'),
    address('application/opensearchdescription+xml', '/opensearch.xml', 'self'),
    `<Language>${xmlText(language)}</Language>\n`,
    '<InputEncoding>UTF-8</InputEncoding>\n',
    '</OpenSearchDescription>\n',
  ].join('')
}

/** The titles of datasets whose words begin with what was written so far, in the format of OpenSearch Suggestions 1.1. */
export function suggestions(
  entries: readonly ServedDataset[],
  written: string,
  { base }: Pick<SiteOptions, 'base'>,
): readonly [string, readonly string[], readonly string[], readonly string[]] {
  const begun = tokens(written.slice(0, 200))
  const found = entries
    .map(entry => ({ entry, title: datasetTitle(entry) }))
    .filter(({ entry, title }) => {
      const words = tokens([title, entry.dataset.id, ...metaTexts(entry, 'keyword')].join(' '))
      return begun.length > 0 && begun.every(part => words.some(word => word.startsWith(part)))
    })
    .slice(0, SUGGESTED)
  return [
    written,
    found.map(({ title }) => title),
    found.map(({ entry }) => metaTexts(entry, 'publisher').join(', ')),
    found.map(({ entry }) => `${base}/explore/dataset/${encodeURIComponent(entry.dataset.id)}/`),
  ]
}
