/** What is there at once where it is known in memory, and comes later where a database on the network is asked. */
export type Soon<T> = T | Promise<T>

/** Goes on with what is there, at once where it is: a promise would cost more than many an answer. */
export function soonThen<T, U>(soon: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return soon instanceof Promise ? soon.then(next) : next(soon)
}
