import { Fault } from '../errors.ts'
import { QueryError, type Store } from '../store/store.ts'

export type StoreOperation = 'select' | 'construct' | 'query' | 'match' | 'count' | 'load' | 'drop'

/** What became of an operation; `refused` is a query that the engine cannot read, or whose answer is too long. */
export type StoreOutcome = 'ok' | 'deadline' | 'busy' | 'unavailable' | 'refused' | 'failed'

/**
 * Is told of an operation when it begins, and by what it returns, when it ends.
 *
 * @param text of the query as it was given; null where it is not at hand
 */
export type StoreObserver = (
  operation: StoreOperation,
  text: string | null,
) => (outcome: StoreOutcome) => void

/** A store that tells what is asked of it; without observers, the store itself. */
export function watchedStore<S extends Store>(store: S, observers: readonly StoreObserver[]): S {
  if (observers.length === 0) return store
  const watch = async <T>(operation: StoreOperation, asked: unknown, work: () => Promise<T>): Promise<T> => {
    const text = typeof asked === 'string' ? asked : null
    const tell = observers.map(observe => observe(operation, text))
    let outcome: StoreOutcome = 'ok'
    try {
      return await work()
    } catch (error) {
      outcome = outcomeOf(error)
      throw error
    } finally {
      for (const told of tell) told(outcome)
    }
  }
  const watched: Partial<Store> = {
    select: (...given) => watch('select', given[0], () => store.select(...given)),
    construct: (...given) => watch('construct', given[0], () => store.construct(...given)),
    query: (...given) => watch('query', given[0], () => store.query(...given)),
    match: (...given) => watch('match', null, () => store.match(...given)),
    count: (...given) => watch('count', null, () => store.count(...given)),
    load: (...given) => watch('load', null, () => store.load(...given)),
    drop: (...given) => watch('drop', null, () => store.drop(...given)),
  }
  // What a store has beyond the interface stays, and finds itself as `this`.
  return new Proxy(store, {
    get: (_, name) => {
      if (Object.hasOwn(watched, name)) return Reflect.get(watched, name)
      const value: unknown = Reflect.get(store, name, store)
      return typeof value === 'function' ? value.bind(store) : value
    },
  })
}

function outcomeOf(error: unknown): StoreOutcome {
  if (error instanceof QueryError) return 'refused'
  if (!(error instanceof Fault)) return 'failed'
  switch (error.code) {
    case 'DeadlineExceeded':
      return 'deadline'
    case 'StoreBusy':
      return 'busy'
    case 'StoreUnavailable':
      return 'unavailable'
    case 'UnprocessableEntity':
    case 'StoreFull':
    case 'LoadRefused':
      return 'refused'
    default:
      return 'failed'
  }
}
