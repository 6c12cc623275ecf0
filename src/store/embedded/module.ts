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
  for (let at = HEAD; at < binary.length; ) {
    const id = binary[at] as number
    const size = readNumber(binary, at + 1)
    const end = size.next + size.value
    if (id === MEMORY_SECTION) {
      const count = readNumber(binary, size.next)
      const minimum = readNumber(binary, count.next + 1)
      const pages = Math.min(MAX_PAGES, Math.max(minimum.value, Math.floor(bytes / PAGE)))
      const section = [...number(1), HAS_MAXIMUM, ...number(minimum.value), ...number(pages)]
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

/** Reads an unsigned LEB128 number. */
function readNumber(bytes: Uint8Array, from: number): { readonly value: number; readonly next: number } {
  let value = 0
  for (let [at, unit] = [from, 1]; ; at++, unit *= 128) {
    const byte = bytes[at] as number
    value += (byte & 127) * unit
    if (byte < 128) return { value, next: at + 1 }
  }
}

function number(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...number(Math.floor(value / 128))]
}
