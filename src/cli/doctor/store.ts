import { openSharedStore } from '../../catalog/portal-store.ts'
import { graphSources } from '../../catalog/served.ts'
import { currentManifest, publishedDatasets, versionsOf } from '../../catalog/versions.ts'
import type { Config } from '../../config.ts'
import { withoutCredentials } from '../../model/credentials.ts'
import { DEFAULT_MEMORY_LIMIT, estimate, megabytes } from '../../store/embedded/memory.ts'
import { type Finding, ok, problem, warning } from './finding.ts'
import { availableMemory } from './machine.ts'

/** What Lodestone needs beside the triples, in bytes: about. */
const BESIDE = 250e6

/** Looks whether the store can hold what is published, and says what it is able to do. */
export async function diagnoseStore(config: Config): Promise<readonly Finding[]> {
  const { store } = config
  return store === undefined
    ? diagnoseEmbedded(config, availableMemory())
    : diagnoseRemote({ ...config, store })
}

/** Milliseconds that an engine nearby needs for a small question, at most. */
const PROMPT = 250

/** Asks the engine who it is, what it answers otherwise than the embedded store does, and how promptly. */
async function diagnoseRemote(config: Config & Required<Pick<Config, 'store'>>): Promise<readonly Finding[]> {
  const { store, registry } = await openSharedStore(config)
  try {
    await store.select('SELECT * WHERE { } LIMIT 1')
    const { kind, version, address } = store.engine
    const begun = performance.now()
    await store.select('SELECT * WHERE { } LIMIT 1')
    const spent = performance.now() - begun
    const told = `${kind} ${version} at ${withoutCredentials(address)} answered in ${spent.toFixed(0)} ms`
    const { inForce, loading, over } = await registry.figures()
    const { probes, deviations } = store.probed
    const alike =
      deviations.size === 0
        ? 'all are answered as by the embedded store'
        : `what it answers otherwise is answered from copies of what is asked: ${byFunction([...deviations.keys()])}`
    return [
      spent > PROMPT
        ? warning(
            'store',
            told,
            'put the engine nearer, or look why it is slow: every page asks it several times',
          )
        : ok('store', told),
      ok('store', `${probes} probes: ${alike}`),
      ok(
        'store',
        `${inForce} datasets in force, ${loading} versions being loaded, ${over} to be cleaned away`,
      ),
    ]
  } finally {
    await store.close()
  }
}

/** Functions with the types of values for which they deviate, by their local names: `AVG (decimal, double), CONCAT (string)`. */
function byFunction(features: readonly string[]): string {
  const types = new Map<string, string[]>()
  for (const feature of features.toSorted()) {
    const at = feature.lastIndexOf(' ')
    const [name, type] = [feature.slice(0, at), feature.slice(at + 1)].map(
      each => /[^/#]*$/.exec(each)?.[0] ?? '',
    )
    if (name === undefined || type === undefined) continue
    types.set(name, [...(types.get(name) ?? []), type])
  }
  return [...types].map(([name, each]) => `${name} (${each.join(', ')})`).join(', ')
}

/** @param available bytes of memory that the process may have */
export function diagnoseEmbedded(
  { portal, workers }: Pick<Config, 'portal' | 'workers'>,
  available: number,
): readonly Finding[] {
  const versions = versionsOf(portal)
  const needed = publishedDatasets(versions)
    .flatMap(id => {
      const manifest = currentManifest(versions, id)
      return manifest === null ? [] : graphSources(versions, manifest)
    })
    .reduce((sum, { triples, bytes }) => sum + estimate(triples, bytes), 0)
  const all = workers * needed + BESIDE
  const told = `embedded: ${megabytes(needed)} in each of ${workers} workers, of at most ${megabytes(DEFAULT_MEMORY_LIMIT)}; ${megabytes(all)} of ${megabytes(available)} in all`
  if (needed > DEFAULT_MEMORY_LIMIT)
    return [problem('store', told, 'keep the records in an engine of their own: the setting store')]
  if (all > available)
    return [
      warning('store', told, 'set workers to less, give the process more memory, or use the setting store'),
    ]
  if (2 * needed > DEFAULT_MEMORY_LIMIT) {
    const advice =
      'a dataset is loaded beside its old version while it is replaced: there may be no room for that'
    return [warning('store', told, advice)]
  }
  return [ok('store', told)]
}
