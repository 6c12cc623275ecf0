/**
 * Reusable memory for the intermediate results of successive queries. Large arrays that the engine allocates are new pages each
 * time, and the operating system takes longer to provide them than a scan takes to fill them.
 */

const CHUNK = 2 ** 22
/** Maximum number of chunks of a thread; larger requests are allocated. */
const MAX_CHUNKS = 16
/** Shorter arrays are allocated. */
const LEAST_BYTES = 2 ** 14
/** Maximum bytes of the blocks of a thread: an array that is larger than a chunk, of some million rows, has its own block. */
const BLOCK_BYTES = 2 ** 26

let chunks: ArrayBuffer[] = []
let blocks: ArrayBuffer[] = []
let current = 0
let used = 0
let usedBlocks = 0
let isActive = false
let isReused = false

/** The memory of work that continues later. */
export interface RetainedScratch {
  /** Called when the work is done: then other work may write to its memory. */
  giveBack(): void
}

/**
 * Runs work whose intermediate results are unreferenced when it is done. Nested work allocates as usual.
 *
 * @param retainer takes the memory where the work continues later: the work owns it until it is given back
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
      const [ownChunks, ownBlocks] = [chunks.splice(0), blocks.splice(0, usedBlocks)]
      retain({
        giveBack: () => {
          if (isActive) return
          if (ownChunks.length > chunks.length) chunks = ownChunks
          if (bytesOf(ownBlocks) > bytesOf(blocks)) blocks = ownBlocks
        },
      })
    }
    return result
  } finally {
    isActive = false
    current = 0
    used = 0
    usedBlocks = 0
  }
}

/**
 * Runs work within that of {@link withScratch}. If nothing refers to the memory that it wrote, the next work reuses it. Nested
 * work keeps its memory.
 */
export function reusingScratch<Result>(work: () => Result, isDropped: (result: Result) => boolean): Result {
  if (!isActive || isReused) return work()
  const [chunk, place, block] = [current, used, usedBlocks]
  isReused = true
  try {
    const result = work()
    if (isDropped(result)) {
      current = chunk
      used = place
      usedBlocks = block
    }
    return result
  } finally {
    isReused = false
  }
}

/** Creates data that survives the reuse of the memory around it ({@link reusingScratch}). */
export function outlivingReuse<Result>(make: () => Result): Result {
  if (!isReused || !isActive) return make()
  isActive = false
  try {
    return make()
  } finally {
    isActive = true
  }
}

/** True where memory may be overwritten within the same query: it must not be cached. */
export function isScratchReused(): boolean {
  return isActive && isReused
}

/** An array with arbitrary contents: all numbers must be written before they are read. */
export function scratchUint32(length: number): Uint32Array {
  const place = placeFor(4 * length)
  return place === null ? new Uint32Array(length) : new Uint32Array(place.buffer, place.at, length)
}

/** See {@link scratchUint32}. */
export function scratchFloat64(length: number): Float64Array {
  const place = placeFor(8 * length)
  return place === null ? new Float64Array(length) : new Float64Array(place.buffer, place.at, length)
}

/** See {@link scratchUint32}. */
export function scratchUint8(length: number): Uint8Array {
  const place = placeFor(length)
  return place === null ? new Uint8Array(length) : new Uint8Array(place.buffer, place.at, length)
}

interface Place {
  readonly buffer: ArrayBuffer
  readonly at: number
}

/** A place with a number of free bytes; null where there is none. */
function placeFor(bytes: number): Place | null {
  if (!isActive || bytes < LEAST_BYTES) return null
  if (bytes > CHUNK) return blockFor(bytes)
  if (used + bytes > CHUNK) {
    if (current + 1 >= MAX_CHUNKS) return null
    current += 1
    used = 0
  }
  chunks[current] ??= new ArrayBuffer(CHUNK)
  const at = used
  used += (bytes + 7) & ~7
  return { buffer: chunks[current] as ArrayBuffer, at }
}

/** The next block, created, or replaced if it is too small; null where blocks would exceed their limit. */
function blockFor(bytes: number): Place | null {
  const known = blocks[usedBlocks]
  if (known === undefined || known.byteLength < bytes) {
    const size = 2 ** Math.ceil(Math.log2(bytes))
    if (bytesOf(blocks) - (known?.byteLength ?? 0) + size > BLOCK_BYTES) return null
    blocks[usedBlocks] = new ArrayBuffer(size)
  }
  return { buffer: blocks[usedBlocks++] as ArrayBuffer, at: 0 }
}

function bytesOf(buffers: readonly ArrayBuffer[]): number {
  return buffers.reduce((sum, { byteLength }) => sum + byteLength, 0)
}
