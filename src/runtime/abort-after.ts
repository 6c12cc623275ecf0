/**
 * A signal that is aborted after some milliseconds (TimeoutError), or together with one of the others. It does not keep the
 * process alive.
 *
 * `AbortSignal.any` does not retain an `AbortSignal.timeout` that is passed to it: after a garbage collection, Node 20 never
 * aborts it.
 */
export function abortAfter(milliseconds: number, ...others: readonly AbortSignal[]): AbortSignal {
  const late = new AbortController()
  const reason = () => new DOMException(`not done within ${milliseconds} ms`, 'TimeoutError')
  setTimeout(() => late.abort(reason()), milliseconds).unref()
  return others.length === 0 ? late.signal : AbortSignal.any([...others, late.signal])
}
