import { NumberReader } from '../columns/bytes.ts'

/** Bytes of a page of WebAssembly memory. */
const PAGE = 2 ** 16
/** Maximum number of pages in a 32-bit address space. */
const MAX_PAGES = 2 ** 16
/** Magic number and version. */
const HEAD = 8
const MEMORY_SECTION = 5
const HAS_MAXIMUM = 1

/**
 * The binary of a module with another maximum for its memory, beyond which the module cannot allocate (WebAssembly Core
 * Specification, section 5.5.8). Throws Error for a module without its own memory.
 */
export function withMemoryLimit(binary: Uint8Array, bytes: number): Uint8Array<ArrayBuffer> {
  const reader = new NumberReader(binary)
  for (let at = HEAD; at < binary.length; ) {
    const id = binary[at] as number
    reader.at = at + 1
    const size = reader.next()
    const end = reader.at + size
    if (id === MEMORY_SECTION) {
      // The number of memories, and whether there is a maximum.
      reader.next()
      reader.at += 1
      const minimum = reader.next()
      const pages = Math.min(MAX_PAGES, Math.max(minimum, Math.floor(bytes / PAGE)))
      const section = [...number(1), HAS_MAXIMUM, ...number(minimum), ...number(pages)]
      return Uint8Array.from(
        Buffer.concat([
          binary.subarray(0, at),
          Buffer.from([MEMORY_SECTION, ...number(section.length), ...section]),
          binary.subarray(end),
        ]),
      )
    }
    at = end
  }
  throw new Error('the module has no memory of its own')
}

/** An unsigned LEB128 number. */
function number(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...number(Math.floor(value / 128))]
}

/**
 * Estimated bytes of memory of a graph of N-Triples in the engine: 350 per triple, and 1.1 per byte of text beyond the first 120
 * bytes of a line. Terms are stored once, so the IRIs that every line repeats cost nothing; anything longer is assumed to be text
 * that occurs once.
 *
 * Measured on Oxigraph 0.5.11 (bytes a line, bytes a triple in memory, by this formula): facts of 135,000 cities 176, 313, 412;
 * their index with the records as JSON 228, 523, 469; closed lists of long values 213, 248, 452; small integers 74, 238, 350;
 * texts of 4 kB 4,065, 4,726, 4,690; a new IRI as every subject and object 110, 575, 350. For the last kind the estimate is too
 * small, so the heap is also measured after each batch (worker.ts).
 */
export function estimate(triples: number, bytes: number): number {
  return Math.ceil(350 * triples + 1.1 * Math.max(0, bytes - 120 * triples))
}

/**
 * Heap to reserve before a batch is loaded: its own memory, the copy of its text, and as much again for the transaction. Without
 * it the engine's memory grows by 64 KiB at a time, each time with a full garbage collection (54,000 to 270,000 quads per second
 * instead of 400,000).
 */
export function reserveFor(triples: number, bytes: number): number {
  return 2 * estimate(triples, bytes) + bytes
}
