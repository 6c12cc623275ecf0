import { nearest } from '../model/did-you-mean.ts'
import {
  currentVersion,
  isManifestDamaged,
  publishedDatasets,
  readManifest,
  type Versions,
} from './versions/versions.ts'

/**
 * A sentence that suggests the dataset that was probably meant by an unknown id: a similar one, else a list of all. An empty text
 * if the portal has none.
 */
export function suggestedDataset(id: string, known: readonly string[]): string {
  const others = known.filter(other => other !== id)
  const near = nearest(id, others)
  if (near !== undefined) return `Did you mean ${near}?`
  if (others.length === 0) return ''
  return `There are: ${others.slice(0, MAX_LISTED).join(', ')}${others.length > MAX_LISTED ? ' …' : ''}.`
}

/** {@link suggestedDataset} as the hint of a fault. */
export function suggestionHint(id: string, known: readonly string[]): { readonly hint?: string } {
  const hint = suggestedDataset(id, known)
  return hint === '' ? {} : { hint }
}

/**
 * The hint for a dataset that is not served or listed: that its version is one of another release, or was published for another
 * address; else {@link suggestionHint}.
 *
 * @param base address of the portal, if it matters
 */
export function absenceHint(versions: Versions, id: string, base?: string): { readonly hint?: string } {
  const version = currentVersion(versions, id)
  const manifest = version === null ? null : readManifest(versions, id, version)
  const again = `lodestone publish ${id} makes it anew.`
  if (version !== null && manifest === null && !isManifestDamaged(versions, id))
    return { hint: `It was published by another version of lodestone: ${again}` }
  if (manifest !== null && base !== undefined && manifest.base !== base)
    return { hint: `It was published for ${manifest.base}, and not for ${base}: ${again}` }
  return suggestionHint(id, publishedDatasets(versions))
}

/** Maximum datasets that a suggestion lists. */
const MAX_LISTED = 10
