import { nearest } from '../model/did-you-mean.ts'

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

/** Maximum datasets that a suggestion lists. */
const MAX_LISTED = 10
