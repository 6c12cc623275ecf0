import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../config/config.ts'
import { isFault } from '../../errors/errors.ts'
import { storeMemory } from '../../runtime/memory.ts'
import { createEmbeddedStore } from '../../store/embedded/embedded.ts'
import { STORE_UNAVAILABLE } from '../../store/faults.ts'
import type { EngineSettings } from '../../store/remote/addresses.ts'
import { createRemoteStore, type SharedStore } from '../../store/remote/remote.ts'
import type { Store } from '../../store/store.ts'
import { type Versions, versionsOf } from '../versions/versions.ts'
import { localRegistry, type Registry } from './registry.ts'
import { SharedRegistry } from './shared-registry.ts'

/** The part of the configuration that selects the store. */
export interface StoreSettings extends Pick<Config, 'portal' | 'base' | 'workers' | 'memory' | 'deadline'> {
  /** The engine; if absent, the records are in the memory of this process. */
  readonly store?: EngineSettings & { readonly concurrency: number }
}

/** An event of a store for the operator. */
export interface PortalStoreEvent {
  readonly event: string
  readonly reason: string
  /** The lost graph, if there is one. */
  readonly graph?: string
}

/** The store of a portal and which versions in it are in force. */
export interface PortalStore {
  readonly store: Store
  readonly registry: Registry
  /** Null if no other process shares the store. */
  readonly shared: { readonly store: SharedStore; readonly registry: SharedRegistry } | null
}

/**
 * Opens the store of a portal according to its configuration. Faults: those of {@link createRemoteStore}.
 *
 * @param timeout milliseconds to wait for an engine, which may be starting at the same time as this process
 */
export async function openPortalStore(
  settings: StoreSettings,
  versions: Versions,
  onEvent: (event: PortalStoreEvent) => void = () => undefined,
  timeout = 0,
): Promise<PortalStore> {
  const { workers } = settings
  const deadline = settings.deadline * 1000
  if (settings.store === undefined) {
    const store = await createEmbeddedStore({
      workers,
      deadline,
      memory: storeMemory(settings.memory),
      useFile: path.join(settings.portal, 'var', 'engine-use.json'),
      onEvent,
    })
    return { store, registry: localRegistry(versions), shared: null }
  }
  const { store } = settings
  const shared = await persistently(() => openSharedStore({ ...settings, store }, onEvent), timeout, onEvent)
  return { store: shared.store, registry: shared.registry, shared }
}

/** Retries an operation for some time while the engine does not respond yet. */
async function persistently<T>(
  work: () => Promise<T>,
  timeout: number,
  onEvent: (event: PortalStoreEvent) => void,
): Promise<T> {
  const end = Date.now() + timeout
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      const isAway = isFault(error, STORE_UNAVAILABLE)
      if (!isAway || Date.now() > end) throw error
      if (tries === 0) onEvent({ event: 'waiting for the engine', reason: error.message })
      await sleep(500)
    }
  }
}

/** The same for a portal that is known to have an engine. */
export async function openSharedStore(
  {
    portal,
    base,
    workers,
    memory,
    deadline,
    store: settings,
  }: StoreSettings & Required<Pick<StoreSettings, 'store'>>,
  onEvent: (event: PortalStoreEvent) => void = () => undefined,
): Promise<{ readonly store: SharedStore; readonly registry: SharedRegistry }> {
  const store = await createRemoteStore({
    settings,
    workers,
    memory: storeMemory(memory),
    deadline: deadline * 1000,
    concurrency: settings.concurrency,
    onEvent,
  })
  const folder = path.join(portal, 'var', 'columns')
  const now = () => Date.now()
  return {
    store,
    registry: new SharedRegistry({ store, base, versions: versionsOf(portal), folder, now, onEvent }),
  }
}
