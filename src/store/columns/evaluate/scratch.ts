/**
 * Memory that the intermediate results of one query after another are written to. Large arrays that the engine allocates are
 * fresh pages each time, and the system takes longer to give them than a scan takes to fill them.
 */

const CHUNK = 2 ** 22
/** Chunks that a thread keeps; what does not fit is allocated. */
const MAX_CHUNKS = 6
/** Shorter arrays are allocated. */
const LEAST_BYTES = 2 ** 14

const chunks: ArrayBuffer[] = []
let current = 0
let used = 0
let isActive = false
let isReused = false

/** The memory of work that goes on later. */
export interface RetainedScratch {
  /** Called when the work is done: other work may write to its memory. */
  giveBack(): void
}

/**
 * Runs work whose intermediate results nothing refers to once it is done. Nested work allocates as usual.
 *
 * @param retainer takes the memory where the work goes on later: what it has written to is its own until it is given back
 */
export function withScratch<Result>(
  work: () => Result,
  retainer: () => ((scratch: RetainedScratch) => void) | null = () => null,
): Result {
  if (isActive) return work()
  isActive = true
  try {
    const result = work()
    const retain = retainer()
    if (retain !== null) {
      const own = chunks.splice(0)
      retain({
        giveBack: () => {
          if (!isActive && own.length > chunks.length) chunks.splice(0, chunks.length, ...own)
        },
      })
    }
    return result
  } finally {
    isActive = false
    current = 0
    used = 0
  }
}

/**
 * Runs work within that of {@link withScratch}. Where nothing refers to what it wrote to, the next work writes to the same
 * memory. Nested work keeps what it has.
 */
export function reusingScratch<Result>(work: () => Result, isDropped: (result: Result) => boolean): Result {
  if (!isActive || isReused) return work()
  const [chunk, place] = [current, used]
  isReused = true
  try {
    const result = work()
    if (isDropped(result)) {
      current = chunk
      used = place
    }
    return result
  } finally {
    isReused = false
  }
}

/** Makes what stays when the memory around it is used again ({@link reusingScratch}). */
export function outlivingReuse<Result>(make: () => Result): Result {
  if (!isReused || !isActive) return make()
  isActive = false
  try {
    return make()
  } finally {
    isActive = true
  }
}

/** An array whose numbers are any: all that are read have to be written before. */
export function scratchUint32(length: number): Uint32Array {
  const at = placeFor(4 * length)
  return at < 0 ? new Uint32Array(length) : new Uint32Array(chunks[current] as ArrayBuffer, at, length)
}

/** See {@link scratchUint32}. */
export function scratchFloat64(length: number): Float64Array {
  const at = placeFor(8 * length)
  return at < 0 ? new Float64Array(length) : new Float64Array(chunks[current] as ArrayBuffer, at, length)
}

/** See {@link scratchUint32}. */
export function scratchUint8(length: number): Uint8Array {
  const at = placeFor(length)
  return at < 0 ? new Uint8Array(length) : new Uint8Array(chunks[current] as ArrayBuffer, at, length)
}

/** The place of so many bytes in the current chunk; -1 where there is none. */
function placeFor(bytes: number): number {
  if (!isActive || bytes < LEAST_BYTES || bytes > CHUNK) return -1
  if (used + bytes > CHUNK) {
    if (current + 1 >= MAX_CHUNKS) return -1
    current += 1
    used = 0
  }
  chunks[current] ??= new ArrayBuffer(CHUNK)
  const at = used
  used += (bytes + 7) & ~7
  return at
}
