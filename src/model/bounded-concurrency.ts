/** Maximum number of concurrent queries of the store: a portal may have more graphs than the queue of the store holds. */
const CONCURRENCY = 16

/** Maps items with an asynchronous function, a few at a time, and returns the results in the order of the items. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += CONCURRENCY)
    results.push(...(await Promise.all(items.slice(at, at + CONCURRENCY).map(work))))
  return results
}
