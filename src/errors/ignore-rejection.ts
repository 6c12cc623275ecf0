/**
 * Waits for something whose failure is nobody's concern here.
 *
 * @param _reason why not, for the reader: who gets the failure instead, or why nothing is lost by it
 * @returns the value, or undefined where it was rejected
 */
export function ignoreRejection<T>(promise: Promise<T>, _reason: string): Promise<T | undefined> {
  return promise.catch(() => undefined)
}
