/**
 * Waits for a promise whose rejection does not matter here.
 *
 * @param _reason why not, for the reader: who handles the rejection instead, or why nothing is lost by it
 * @returns the value, or undefined if it was rejected
 */
export function ignoreRejection<T>(promise: Promise<T>, _reason: string): Promise<T | undefined> {
  return promise.catch(() => undefined)
}
