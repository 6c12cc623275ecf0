import { isFault, UNPROCESSABLE_ENTITY } from '../errors/errors.ts'
import type { WordOf } from '../model/words.ts'
import { STORE_BUSY } from '../runtime/fair-queue.ts'
import type { QueryOperation } from '../sparql/algebra.ts'
import { generate } from '../sparql/generate.ts'
import { DEADLINE_EXCEEDED, LOAD_REFUSED, STORE_UNAVAILABLE } from '../store/faults.ts'
import { QueryError, type Store } from '../store/store.ts'

export type StoreOperation = WordOf<'select page export contents construct query match count load drop'>

/** The result of an operation; `refused` is a query that the engine cannot parse, or whose answer is too long. */
export type StoreOutcome = 'ok' | 'deadline' | 'busy' | 'unavailable' | 'refused' | 'failed'

/**
 * Is called with an operation when it begins; the function that it returns is called when the operation ends.
 *
 * @param text writes the query; null if there is none
 */
export type StoreObserver = (
  operation: StoreOperation,
  text: (() => string) | null,
) => (outcome: StoreOutcome) => void

/** A store that reports its operations to observers; without observers, the store itself. */
export function watchedStore<S extends Store>(store: S, observers: readonly StoreObserver[]): S {
  if (observers.length === 0) return store
  const begin = (operation: StoreOperation, text: (() => string) | null) => {
    const report = observers.map(observe => observe(operation, text))
    return (outcome: StoreOutcome) => {
      for (const described of report) described(outcome)
    }
  }
  const watch = async <T>(operation: StoreOperation, text: (() => string) | null, work: () => Promise<T>) => {
    const end = begin(operation, text)
    try {
      const found = await work()
      end('ok')
      return found
    } catch (error) {
      end(outcomeOf(error))
      throw error
    }
  }
  const watchQueries = <T>(
    operation: StoreOperation,
    queries: readonly QueryOperation[],
    work: () => Promise<T>,
  ) => watch(operation, () => queries.map(generate).join('\n'), work)
  const watched: Partial<Store> = {
    select: (...given) => watchQueries('select', [given[0]], () => store.select(...given)),
    page: (...given) => watchQueries('page', [given[0]], () => store.page(...given)),
    together: queries => watchQueries('page', queries, () => store.together(queries)),
    pages: (...given) =>
      watchPieces(
        store.pages(...given),
        begin('export', () => generate(given[0])),
      ),
    contents: (...given) => watch('contents', null, () => store.contents(...given)),
    lines: (...given) => watchPieces(store.lines(...given), begin('export', null)),
    construct: (...given) => watchQueries('construct', [given[0]], () => store.construct(...given)),
    query: async query => {
      const end = begin('query', query.engineText)
      try {
        const answer = await store.query(query)
        return { ...answer, pieces: watchPieces(answer.pieces, end) }
      } catch (error) {
        end(outcomeOf(error))
        throw error
      }
    },
    match: (...given) => watch('match', null, () => store.match(...given)),
    count: (...given) => watch('count', null, () => store.count(...given)),
    load: (...given) => watch('load', null, () => store.load(...given)),
    drop: (...given) => watch('drop', null, () => store.drop(...given)),
  }
  // Methods of a store beyond the interface remain available, with the store itself as `this`.
  return new Proxy(store, {
    get: (_, name) => {
      if (Object.hasOwn(watched, name)) return Reflect.get(watched, name)
      const value: unknown = Reflect.get(store, name, store)
      return typeof value === 'function' ? value.bind(store) : value
    },
  })
}

/** Passes pieces on and reports the outcome; pieces that the consumer abandons count as ok. */
async function* watchPieces<T>(
  pieces: AsyncIterable<T>,
  end: (outcome: StoreOutcome) => void,
): AsyncGenerator<T> {
  let outcome: StoreOutcome = 'ok'
  try {
    yield* pieces
  } catch (error) {
    outcome = outcomeOf(error)
    throw error
  } finally {
    end(outcome)
  }
}

/** A query whose client left before its answer counts as ok, as pieces do that are abandoned. */
function outcomeOf(error: unknown): StoreOutcome {
  if (error instanceof Error && error.name === 'AbortError') return 'ok'
  if (error instanceof QueryError) return 'refused'
  if (isFault(error, DEADLINE_EXCEEDED)) return 'deadline'
  if (isFault(error, STORE_BUSY)) return 'busy'
  if (isFault(error, STORE_UNAVAILABLE)) return 'unavailable'
  return isFault(error, UNPROCESSABLE_ENTITY, LOAD_REFUSED) ? 'refused' : 'failed'
}
