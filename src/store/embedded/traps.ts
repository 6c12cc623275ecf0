import { QueryError } from '../store.ts'

/**
 * True for an error after which the engine must not be used. A trap (`WebAssembly.RuntimeError`: unreachable, memory access out
 * of bounds), a stack overflow (`RangeError`) and an exception of the runtime that unwound its frames leave it in an inconsistent
 * state; only the plain `Error` with which it reports what it cannot parse or evaluate is harmless.
 */
export function isTrap(error: unknown): boolean {
  return !(error instanceof Error) || error.constructor !== Error || 'code' in error
}

/** True for an answer that exceeds the maximum string length of V8 (512 MiB): the engine's copy of it is never freed. */
export function isOversize(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STRING_TOO_LONG'
}

/**
 * The engine's message about a query that it cannot parse or evaluate. Its parser reports the location as `error at 3:6: expected
 * one of …`; the list of expected tokens also contains the rules that the query breaks, as sentences.
 */
export function queryError(message: string): QueryError {
  const place = /^error at (\d+):(\d+): /.exec(message)
  if (place === null) return new QueryError(message)
  const rule = /\b(?:The|A|An) [A-Z\w][^,[\]]{10,200}/.exec(message.slice(place[0].length))?.[0]
  return new QueryError(rule ?? '', Number(place[1]), Number(place[2]))
}
