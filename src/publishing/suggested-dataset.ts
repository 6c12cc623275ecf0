import { nearest } from '../model/did-you-mean.ts'

/**
 * The dataset that was probably meant by an id that there is not, as a sentence: a near one, else those that there are. An
 * empty text where the portal has none.
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

/** Datasets that a suggestion lists. */
const MAX_LISTED = 10
