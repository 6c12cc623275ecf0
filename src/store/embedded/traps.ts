/**
 * True for an error after which the engine must not be used. A trap (`WebAssembly.RuntimeError`: unreachable, memory
 * access out of bounds), a stack overflow (`RangeError`) and an exception of the runtime that flew through its frames
 * leave it half-way; only the plain `Error` with which it reports what it cannot read or evaluate is harmless.
 */
export function isTrap(error: unknown): boolean {
  return !(error instanceof Error) || error.constructor !== Error || 'code' in error
}

/** True for an answer longer than a string of V8 can be (512 MiB): the engine's copy of it is never freed. */
export function isOversize(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STRING_TOO_LONG'
}
