/** A value if it is in memory, or a promise if a database on the network is queried. */
export type MaybePromise<T> = T | Promise<T>

/** Continues synchronously with an available value: a promise would cost more than many answers. */
export function thenMaybe<T, U>(
  maybe: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return maybe instanceof Promise ? maybe.then(next) : next(maybe)
}
