import { Catalog } from '../../src/catalog/catalog.ts'
import { localRegistry } from '../../src/catalog/local-registry.ts'
import { currentManifest, versionsOf } from '../../src/catalog/versions.ts'
import { createEmbeddedStore } from '../../src/store/embedded/embedded.ts'
import { BASE, type BenchPortal } from './support.ts'
import { atLeast, type Row, whole } from './table.ts'

/** Loading of the published files into each worker, all workers at once. */
export async function benchStore({ folder }: BenchPortal): Promise<readonly Row[]> {
  const rows: Row[] = []
  const versions = versionsOf(folder)
  const cities =
    currentManifest(versions, 'cities')?.graphs.reduce((sum, { triples }) => sum + triples, 0) ?? 0
  for (const workers of [1, 2]) {
    const store = await createEmbeddedStore({ workers })
    const catalog = new Catalog({ base: BASE, store, versions, registry: localRegistry(versions), grace: 0 })
    const begun = performance.now()
    await catalog.refresh()
    const seconds = (performance.now() - begun) / 1000
    const { quads, memory } = await store.statistics()
    rows.push(
      atLeast(
        `store load, ${workers} worker${workers > 1 ? 's, each' : ''}`,
        quads / seconds,
        250_000,
        'quads/s',
      ),
    )
    rows.push({
      what: `memory of a worker (${whole(quads)} quads, cities ${whole(cities)})`,
      value: `${whole((memory[0] ?? 0) / 1e6)} MB`,
    })
    catalog.close()
    await store.close()
  }
  return rows
}
