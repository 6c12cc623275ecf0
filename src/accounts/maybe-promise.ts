/** A value at once where it is in memory, or a promise where a database on the network is queried. */
export type MaybePromise<T> = T | Promise<T>

/** Continues synchronously with a value that is there: a promise would cost more than many an answer. */
export function thenMaybe<T, U>(
  maybe: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return maybe instanceof Promise ? maybe.then(next) : next(maybe)
}
