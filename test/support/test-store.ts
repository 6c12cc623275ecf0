import type { Test } from 'tap'
import { createEmbeddedStore } from '../../src/store/embedded/embedded.ts'
import type { GraphSource, Store } from '../../src/store/store.ts'

/** A store with some graphs of text, for tests of what stands on a store; it is closed after the test. */
export async function testStore(
  t: Pick<Test, 'teardown'>,
  graphs: Readonly<Record<string, string>>,
): Promise<Store> {
  const store = await createEmbeddedStore({ workers: 1 })
  t.teardown(() => store.close())
  await store.load(Object.entries(graphs).map(([graph, text]) => graphOf(graph, text)))
  return store
}

/** A graph of N-Triples at hand. */
export function graphOf(graph: string, text: string, isSearched = false): GraphSource {
  return { graph, text, subjects: [], predicates: [], isSearched }
}

/** The same store, with the names of the operations that were asked for. */
export function watched(store: Store): Store & { readonly calls: readonly string[] } {
  const calls: string[] = []
  return new Proxy(Object.assign(Object.create(store) as Store, { calls }), {
    get: (target, name, receiver) => {
      const found: unknown = Reflect.get(target, name, receiver)
      if (typeof found !== 'function') return found
      return (...given: unknown[]) => {
        calls.push(String(name))
        return (found as (...given: unknown[]) => unknown).apply(store, given)
      }
    },
  })
}
