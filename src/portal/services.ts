import type { Accounts } from '../accounts/accounts.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { UsageStatistics } from '../catalog/catalog-dataset.ts'
import type { ServedDataset } from '../catalog/served.ts'
import type { StatisticsFiles } from '../catalog/statistics-files.ts'
import { languageOf } from '../catalog/void.ts'
import { lookup } from '../model/lookup.ts'
import { textValue, titleOf } from '../model/metadata.ts'
import type { Publications } from '../publishing/publication-state.ts'
import type { VersionChanges } from '../publishing/versions/changes.ts'
import { type Html, html } from '../site/html.ts'
import type { PageContext, SiteOptions } from '../site/page-context.ts'
import type { Store } from '../store/store.ts'

/** The services of the pages of the site. */
export interface SiteServices extends SiteOptions {
  readonly catalog: Catalog
  readonly store: Store
  readonly accounts: Accounts
  readonly statisticsFiles: Pick<StatisticsFiles, 'of'>
  readonly changes: VersionChanges
  readonly publications: Pick<Publications, 'of' | 'forget'>
  /** The portal folder: example queries, mappings. */
  readonly portal: string
  readonly usage: UsageStatistics
  /** A clock in milliseconds, for the times that are reported. */
  readonly clock: () => number
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Maximum characters, as JSON, of cached data for pages. */
  readonly cachedCharacters: number
  /** Maximum calls a day, of the whole portal and of each client. */
  readonly limits: {
    readonly domain: number
    readonly anonymous: number | null
    readonly user: number | null
  }
  /** Addresses of map tiles with {z}, {x} and {y}, and their attribution; without them maps show coastlines. */
  readonly tiles?: { readonly url: string; readonly attribution: string }
}

/** The title of a dataset. */
export function datasetTitle({ dataset }: Pick<ServedDataset, 'dataset'>): string {
  return titleOf(dataset) || dataset.id
}

/** The attribute `lang` of texts of a dataset, which are in the language of its metadata; none where the page is in it. */
export function languageMark(
  { language }: Pick<PageContext, 'language'>,
  entry: Pick<ServedDataset, 'dataset'>,
): Html {
  const own = languageOf(entry)
  const [code = ''] = own.toLowerCase().split('-')
  return /^[a-z]{2,3}$/.test(code) && code !== language ? html` lang="${own}"` : html``
}

/** A text of the metadata of a dataset; null if there is none. */
export function metaText({ dataset }: Pick<ServedDataset, 'dataset'>, name: string): string | null {
  return textValue(lookup(dataset.metas.default ?? {}, name)) || null
}

/** The texts of a list in the metadata of a dataset. */
export function metaTexts(
  { dataset }: Pick<ServedDataset, 'dataset'>,
  name: string,
  template = 'default',
): readonly string[] {
  const value = lookup(lookup(dataset.metas, template) ?? {}, name)
  if (Array.isArray(value)) return value.map(String)
  return typeof value === 'string' && value !== '' ? [value] : []
}
