/** An example in the list at `/api/void/{dataset}/queries`. */
interface ListedQuery {
  readonly title: string
  readonly query: string
  readonly federatesWith: readonly string[]
}

interface Place {
  readonly here: string
  /** Ids of the existing datasets. */
  readonly sources: readonly string[]
  readonly texts: { readonly noExamples: string }
}

/**
 * The list of examples: a click inserts one into the page, and the list follows the selected datasets.
 *
 * @param take called with the example, and the datasets that it needs
 */
export function exampleList(
  list: HTMLElement,
  { here, sources, texts }: Place,
  take: (query: string, sources: readonly string[]) => void,
): { show(ids: readonly string[]): void } {
  const known = new Map<string, Promise<readonly ListedQuery[]>>()
  let requested: readonly string[] = []
  list.addEventListener('click', event => {
    const link = (event.target as Element).closest('a')
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    const { searchParams } = new URL(link.href)
    take(searchParams.get('query') ?? '', searchParams.getAll('source'))
    document.getElementById('run')?.focus()
  })
  const examplesOf = (id: string) => {
    const found = known.get(id) ?? listOf(`${here}/api/void/${encodeURIComponent(id)}/queries`)
    known.set(id, found)
    return found
  }
  return {
    show(ids) {
      requested = ids
      Promise.all(ids.map(async id => ({ id, queries: await examplesOf(id) }))).then(found => {
        if (requested !== ids) return
        const items = found.flatMap(({ id, queries }) =>
          queries.flatMap(each =>
            each.federatesWith.every(other => sources.includes(other)) ? [itemOf(id, each)] : [],
          ),
        )
        list.replaceChildren(...(items.length === 0 ? [noItem(texts.noExamples)] : items))
      })
    },
  }
}

async function listOf(address: string): Promise<readonly ListedQuery[]> {
  const answer = await fetch(address).catch(() => null)
  if (answer === null || !answer.ok) return []
  const { queries } = (await answer.json()) as { readonly queries: readonly ListedQuery[] }
  return queries
}

function itemOf(id: string, { title, query, federatesWith }: ListedQuery): HTMLElement {
  const address = new URL(location.pathname, location.origin)
  for (const source of [id, ...federatesWith]) address.searchParams.append('source', source)
  address.searchParams.set('query', query)
  const link = document.createElement('a')
  link.href = address.href
  link.textContent = title
  const item = document.createElement('li')
  item.append(link)
  return item
}

function noItem(text: string): HTMLElement {
  const item = document.createElement('li')
  item.className = 'soft'
  item.textContent = text
  return item
}
