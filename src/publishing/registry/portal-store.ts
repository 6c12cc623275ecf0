import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isFault } from '../../errors/errors.ts'
import { storeMemory } from '../../runtime/memory.ts'
import { createEmbeddedStore } from '../../store/embedded/embedded.ts'
import { STORE_UNAVAILABLE } from '../../store/faults.ts'
import type { EngineSettings } from '../../store/remote/addresses.ts'
import { createRemoteStore, type SharedStore } from '../../store/remote/remote.ts'
import type { Store } from '../../store/store.ts'
import { type Versions, versionsOf } from '../versions/versions.ts'
import { localRegistry } from './local-registry.ts'
import type { Registry } from './registry.ts'
import { SharedRegistry } from './shared-registry.ts'

/** What of the configuration says where records are stored. */
export interface StoreSettings {
  readonly portal: string
  readonly base: string
  readonly workers: number
  /** Bytes that the process may use. */
  readonly memory: number
  /** Seconds. */
  readonly deadline: number
  /** The engine; absent, the records are in the memory of this process. */
  readonly store?: EngineSettings & { readonly concurrency: number }
}

/** Something about a store that an operator should know. */
export interface PortalStoreEvent {
  readonly event: string
  readonly reason: string
  /** The graph that is lost, where one is. */
  readonly graph?: string
}

/** The store of a portal and which versions in it are in force. */
export interface PortalStore {
  readonly store: Store
  readonly registry: Registry
  /** Null where no other process shares the store. */
  readonly shared: { readonly store: SharedStore; readonly registry: SharedRegistry } | null
}

/**
 * Opens the store that a portal is configured with. Faults: those of {@link createRemoteStore}.
 *
 * @param timeout milliseconds that an engine is waited for, which may be started at the same time as this process
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

/** Retries for some time what needs an engine that does not answer yet. */
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
