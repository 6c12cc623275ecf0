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
