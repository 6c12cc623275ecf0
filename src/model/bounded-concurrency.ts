/** Questions that are asked of the store at a time: a portal may have more graphs than the store has room for waiting. */
const CONCURRENCY = 16

/** Does something for each of some items, a few at a time, and gives the results in the order of the items. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += CONCURRENCY)
    results.push(...(await Promise.all(items.slice(at, at + CONCURRENCY).map(work))))
  return results
}
