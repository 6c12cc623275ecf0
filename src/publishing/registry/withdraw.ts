import { currentManifest, type Versions, withdraw } from '../versions/versions.ts'
import type { SharedRegistry } from './shared-registry.ts'

/**
 * Withdraws a dataset until it is published by name, also from a store that several instances share, where another one may have
 * published it. Resolves to false if it was not published.
 */
export async function withdrawEverywhere(
  versions: Versions,
  shared: Pick<SharedRegistry, 'inForce' | 'withdraw'> | null,
  id: string,
): Promise<boolean> {
  const manifest = currentManifest(versions, id) ?? (await shared?.inForce(id))
  const isShared = await shared?.withdraw(id, manifest?.dataset.visibility === 'public' ? 'open' : 'secret')
  return withdraw(versions, id) || isShared === true
}
