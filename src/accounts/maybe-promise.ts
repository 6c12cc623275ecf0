/** What is there at once where it is known in memory, and comes later where a database on the network is asked. */
export type MaybePromise<T> = T | Promise<T>

/** Goes on with what is there, at once where it is: a promise would cost more than many an answer. */
export function thenMaybe<T, U>(
  maybe: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return maybe instanceof Promise ? maybe.then(next) : next(maybe)
}
