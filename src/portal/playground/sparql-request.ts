import { type ExampleQuery, exampleQueries } from '../../catalog/example-queries.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import { many, one } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Principal } from '../../model/principal.ts'
import type { LinkParameters } from '../../site/page-context.ts'
import type { SiteServices } from '../services.ts'

/** How the playground queries datasets: by whole queries or parts of them, by triple patterns, or by these with bindings. */
export const ACCESS_PATHS = ['endpoint', 'fragments', 'brtpf'] as const
export type AccessPath = (typeof ACCESS_PATHS)[number]
const DEFAULTS: AccessPath = 'endpoint'

/** The state of the playground, all of which is in its address. */
export interface PlaygroundState {
  /** The queried datasets. */
  readonly chosen: readonly ServedDataset[]
  readonly accessPath: AccessPath
  readonly query: string
  /** The examples of the chosen datasets. */
  readonly examples: readonly Example[]
}

/** An example and the existing datasets that it needs. */
export interface Example {
  readonly example: ExampleQuery
  readonly sources: readonly string[]
}

const MAX_SOURCES = 20

const ANY_QUERY = `SELECT * WHERE {
  ?subject ?predicate ?object
}
LIMIT 20
`

type Services = Pick<SiteServices, 'catalog' | 'portal' | 'base'>

/**
 * Reads the state of the playground from its address: `query`, `source` for each dataset, `via`. Without `source`
 * it selects the datasets that the query names, else the first that has an example. Faults: NotFoundResource, Unauthorised,
 * ForbiddenAccess, InvalidRESTParameterError.
 */
export async function readPlayground(
  query: QueryParameters,
  services: Services,
  principal: Principal,
): Promise<PlaygroundState> {
  const visible = services.catalog.visibleTo(principal)
  const { entries } = visible.current()
  const text = one(query, 'query') ?? ''
  const named = [...new Set(many(query, 'source').filter(id => id !== ''))].slice(0, MAX_SOURCES)
  const mentioned = entries.filter(({ dataset: { id } }) => mentions(text, id, services.base))
  const given = named.length > 0 ? named.map(id => visible.dataset(id)) : mentioned
  const chosen = given.length > 0 ? given : await firstWithExample(entries, services)
  const via = one(query, 'via')
  const ids = new Set(entries.map(({ dataset }) => dataset.id))
  const lists = await Promise.all(
    chosen.map(async ({ dataset: { id } }) =>
      (await exampleQueries(services.portal, id, services.base)).flatMap(example =>
        example.federatesWith.every(other => ids.has(other))
          ? [{ example, sources: [id, ...example.federatesWith] }]
          : [],
      ),
    ),
  )
  const examples = lists.flat()
  const first = examples.find(({ example }) => example.federatesWith.length === 0) ?? examples[0]
  return {
    chosen,
    accessPath: ACCESS_PATHS.find(accessPath => accessPath === via) ?? DEFAULTS,
    query: text.trim() === '' ? (first?.example.query ?? ANY_QUERY) : text,
    examples,
  }
}

/** The parameters of a state in the address of the playground. */
export function playgroundParameters(
  query: string,
  sources: readonly string[],
  accessPath: AccessPath = DEFAULTS,
): LinkParameters {
  return { source: sources, via: accessPath === DEFAULTS ? undefined : accessPath, query }
}

function mentions(text: string, id: string, base: string): boolean {
  const name = encodeURIComponent(id)
  return ['ontologies', 'resources'].some(kind => text.includes(`<${base}/ld/${kind}/${name}/`))
}

async function firstWithExample(
  entries: readonly ServedDataset[],
  { portal, base }: Services,
): Promise<readonly ServedDataset[]> {
  for (const entry of entries) {
    const examples = await exampleQueries(portal, entry.dataset.id, base)
    if (examples.some(({ federatesWith }) => federatesWith.length === 0)) return [entry]
  }
  return entries.slice(0, 1)
}
